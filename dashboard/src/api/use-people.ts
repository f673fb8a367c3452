import { useInfiniteQuery, useQueries } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { shortAddress } from '../lib/mask.ts'
import { useSession } from '../shell/session.tsx'
import { api, call, inWorkspace } from './client.ts'
import { membersQuery } from './queries.ts'
import type { Schemas } from './types.ts'

type Member = Pick<Schemas['Member'], 'account_id' | 'display_name' | 'email' | 'wallet_address'>

const nameAmong = (members: readonly Member[], own: string, id: string): string => {
  if (id === own) return 'you'
  const member = members.find((candidate) => candidate.account_id === id)
  return (
    member?.display_name ?? member?.email ?? (member?.wallet_address ? shortAddress(member.wallet_address) : 'a former member')
  )
}

/** Account ids as the people of the workspace know them. The members are read once a name is asked for that is not the reader's own. */
export const usePeople = (): ((accountId: string) => string) => {
  const { account } = useSession()
  const wanted = useRef(false)
  const [asked, setAsked] = useState(false)
  const { data } = useInfiniteQuery({ ...membersQuery, enabled: asked })
  useEffect(() => {
    if (wanted.current) setAsked(true)
  })
  const members = data?.pages.flatMap((page) => page.data) ?? []
  return (id) => {
    if (id !== account.id) wanted.current = true
    return nameAmong(members, account.id, id)
  }
}

/** The same over several workspaces. */
export const usePeopleOf = (workspaceIds: readonly string[]): ((accountId: string) => string) => {
  const { account } = useSession()
  return useQueries({
    queries: workspaceIds.map((id) => ({
      queryKey: ['members', id],
      queryFn: () => call(api.GET('/v1/workspaces/current/members', { params: { query: { limit: 100 } }, ...inWorkspace(id) })),
    })),
    combine: (results) => {
      const members = results.flatMap(({ data }) => data?.data ?? [])
      return (id: string) => nameAmong(members, account.id, id)
    },
  })
}
