import { useInfiniteQuery } from '@tanstack/react-query'
import { grantsQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { usePeople } from '../../api/use-people.ts'
import { requesterWords } from '../../lib/requester.ts'

type InitiatedBy = Schemas['Payment']['initiated_by']

/** Who started it: a person, or an agent by name where this person may see it. */
export const useInitiator = (): ((by: InitiatedBy) => string) => {
  const people = usePeople()
  const { data } = useInfiniteQuery(grantsQuery)
  const grants = data?.pages.flatMap((page) => page.data) ?? []
  return ({ account_id: account, grant_id: id }) => {
    if (id === null) return people(account)
    const grant = grants.find((candidate) => candidate.id === id)
    const person = people(account)
    if (!grant) return person === 'you' ? 'your agent' : `${person}’s agent`
    return requesterWords({ account_id: account, grant_id: id, label: grant.label }, people)
  }
}
