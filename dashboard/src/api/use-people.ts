import { useInfiniteQuery } from '@tanstack/react-query'
import { shortAddress } from '../lib/mask.ts'
import { useSession } from '../shell/session.tsx'
import { membersQuery } from './queries.ts'

/** Account ids as the people of the workspace know them. */
export const usePeople = (): ((accountId: string) => string) => {
  const { account } = useSession()
  const { data } = useInfiniteQuery(membersQuery)
  const members = data?.pages.flatMap((page) => page.data) ?? []
  return (id) => {
    if (id === account.id) return 'you'
    const member = members.find((candidate) => candidate.account_id === id)
    return (
      member?.display_name ?? member?.email ?? (member?.wallet_address ? shortAddress(member.wallet_address) : 'somebody else')
    )
  }
}
