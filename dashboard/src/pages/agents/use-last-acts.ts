import { useInfiniteQuery, useQueries } from '@tanstack/react-query'
import { lastPaymentQuery, paymentsQuery, refusalsQuery } from '../../api/queries.ts'
import { now } from '../../lib/clock.ts'
import { type LastAct, lastActOf } from '../../lib/last-act.ts'
import { useSession } from '../../shell/session.tsx'
import type { Agent } from './use-agents.ts'

const dayMs = 86_400_000

type Acts = {
  lastAct: LastAct | undefined
  /** "3 refused in 24 hours"; undefined where none was. */
  refusedWords: string | undefined
}

/** What each agent did last and how often it was refused in the last 24 hours: from two lists, and an own look at who is in neither. */
export const useLastActs = (agents: readonly Agent[]): ((id: string) => Acts) => {
  const { can } = useSession()
  const enabled = can('payment.read')
  const payments = useInfiniteQuery({ ...paymentsQuery({}, 100), enabled })
  const refusals = useInfiniteQuery({ ...refusalsQuery({}, 100), enabled })
  const paid = payments.data?.pages.flatMap(({ data }) => data) ?? []
  const refused = refusals.data?.pages.flatMap(({ data }) => data) ?? []
  const unseen = payments.hasNextPage
    ? agents.filter(({ id, last_used_at: used }) => used !== null && !paid.some(({ initiated_by: by }) => by.grant_id === id))
    : []
  const older = useQueries({
    queries: unseen.map(({ id }) => lastPaymentQuery(id)),
    combine: (results) => results.flatMap(({ data }) => data?.data ?? []),
  })
  const since = now() - dayMs
  const isRecent = ({ created_at: at }: { created_at: string }) => Date.parse(at) > since
  const oldest = refused.at(-1)
  const more = refusals.hasNextPage && oldest && isRecent(oldest) ? 'at least ' : ''
  return (id) => {
    const count = refused.filter((refusal) => refusal.initiated_by.grant_id === id && isRecent(refusal)).length
    return {
      lastAct: lastActOf(id, [...paid, ...older], refused),
      refusedWords: count === 0 ? undefined : `${more}${count} refused in 24 hours`,
    }
  }
}
