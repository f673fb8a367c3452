import { useInfiniteQuery } from '@tanstack/react-query'
import {
  auditQuery,
  grantEventsQuery,
  madeByQuery,
  paymentsQuery,
  policiesMadeByQuery,
  refusalsQuery,
} from '../../api/queries.ts'
import { type Moment, type Part, timelineOf } from '../../lib/agent-moments.ts'
import { changesInAudit, changesInEvents, type GrantChange } from '../../lib/grant-changes.ts'
import { useSession } from '../../shell/session.tsx'

/** A list that is read page by page, as the timeline's part of it. */
type Source = Part & { readMore: () => void; isPending: boolean; error: unknown }
type Query<Item> = {
  data: { pages: { data: Item[] }[] } | undefined
  hasNextPage: boolean
  fetchNextPage: () => unknown
  isLoading: boolean
  error: unknown
}

const sourceOf = <Item extends { created_at: string }>(query: Query<Item>, toMoments: (items: Item[]) => Moment[]): Source => {
  const items = query.data?.pages.flatMap((page) => page.data) ?? []
  return {
    moments: toMoments(items),
    readTo: query.hasNextPage ? (items.at(-1)?.created_at ?? null) : null,
    readMore: () => void query.fetchNextPage(),
    isPending: query.isLoading,
    error: query.error,
  }
}

const momentsOfChanges = (changes: readonly GrantChange[]): Moment[] =>
  changes.map((change) => ({ key: change.id, at: change.at, kind: 'change', change }))

const useChanges = (grantId: string): Source => {
  const { can } = useSession()
  const manages = can('workspace.manage')
  const audit = useInfiniteQuery({ ...auditQuery({ subject_id: grantId }), enabled: manages })
  const events = useInfiniteQuery({ ...grantEventsQuery, enabled: !manages })
  return manages
    ? sourceOf(audit, (entries) => momentsOfChanges(changesInAudit(entries)))
    : sourceOf(events, (all) => momentsOfChanges(changesInEvents(all, grantId)))
}

const pageSize = 20

/** Everything that a key or an agent did here, and what was done to it, newest first. */
export const useAgentTimeline = ({ id: grantId, created_at: createdAt }: { id: string; created_at: string }) => {
  const { can } = useSession()
  const pays = can('payment.read')
  const sources = [
    sourceOf(useInfiniteQuery({ ...paymentsQuery({ grant_id: grantId }, pageSize), enabled: pays }), (payments) =>
      payments.map((payment) => ({ key: payment.id, at: payment.created_at, kind: 'payment', payment })),
    ),
    sourceOf(useInfiniteQuery({ ...refusalsQuery({ grant_id: grantId }, pageSize), enabled: pays }), (refusals) =>
      refusals.map((refusal) => ({ key: refusal.id, at: refusal.created_at, kind: 'refusal', refusal })),
    ),
    sourceOf(useInfiniteQuery({ ...madeByQuery(grantId), enabled: can('beneficiary.read') }), (beneficiaries) =>
      beneficiaries.map((beneficiary) => {
        const created = beneficiary.created_by.grant_id === grantId
        return {
          key: beneficiary.id,
          at: created ? beneficiary.created_at : beneficiary.updated_at,
          kind: 'beneficiary',
          beneficiary,
          created,
        }
      }),
    ),
    sourceOf(useInfiniteQuery({ ...policiesMadeByQuery(grantId), enabled: can('policy.read') }), (policies) =>
      policies.map((policy) => {
        const created = policy.created_by.grant_id === grantId
        return { key: policy.id, at: created ? policy.created_at : policy.updated_at, kind: 'policy', policy, created }
      }),
    ),
    useChanges(grantId),
  ]
  const created: Part = { moments: [{ key: 'created', at: createdAt, kind: 'created' }], readTo: null }
  return {
    moments: timelineOf([...sources, created]),
    isPending: sources.some(({ isPending }) => isPending),
    error: sources.map(({ error }) => error).find((error) => error !== null) ?? null,
    more: sources.some(({ readTo }) => readTo !== null),
    readMore: () => {
      for (const { readTo, readMore } of sources) if (readTo !== null) readMore()
    },
  }
}
