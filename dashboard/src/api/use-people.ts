import { useQueries } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { shortAddress } from '../lib/mask.ts'
import { useSession } from '../shell/session.tsx'
import { api, inWorkspace } from './client.ts'
import type { Schemas } from './queries.ts'

type Member = Pick<Schemas['Member'], 'account_id' | 'display_name' | 'email' | 'wallet_address'>

export const memberName = (member: Omit<Member, 'account_id'>): string =>
  member.display_name ?? member.email ?? (member.wallet_address ? shortAddress(member.wallet_address) : 'Member')

const nameAmong = (members: readonly Member[], own: string, id: string): string => {
  if (id === own) return 'you'
  const member = members.find((candidate) => candidate.account_id === id)
  return member ? memberName(member) : 'a former member'
}

/**
 * Account ids as the people of these workspaces know them; without any, of this one. The members are read once a name is asked for that is
 * not the reader's own.
 */
export const usePeople = (workspaceIds?: readonly string[]): ((accountId: string) => string) => {
  const { account, workspace } = useSession()
  const wanted = useRef(false)
  const [asked, setAsked] = useState(false)
  useEffect(() => {
    if (wanted.current) setAsked(true)
  })
  return useQueries({
    queries: (workspaceIds ?? [workspace.id]).map((id) => ({
      queryKey: ['members', id],
      queryFn: () => api.GET('/v1/workspaces/current/members', { query: { limit: 100 }, ...inWorkspace(id) }),
      enabled: asked,
    })),
    combine: (results) => {
      const members = results.flatMap(({ data }) => data?.data ?? [])
      return (id: string) => {
        if (id !== account.id) wanted.current = true
        return nameAmong(members, account.id, id)
      }
    },
  })
}
