import { useInfiniteQuery } from '@tanstack/react-query'
import {
  auditQuery,
  grantEventsQuery,
  madeByQuery,
  paymentsQuery,
  policiesMadeByQuery,
  refusalsQuery,
} from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { changesInAudit, changesInEvents, type GrantChange } from '../../lib/grant-changes.ts'
import { localDate } from '../../lib/time.ts'
import { useSession } from '../../shell/session.tsx'

type Payment = Schemas['Payment']

export type Moment = { key: string; at: string } & (
  | { kind: 'payment'; payment: Payment }
  /** Several that went through, one after the other and on one day. */
  | { kind: 'payments'; payments: readonly [Payment, ...Payment[]] }
  | { kind: 'refusal'; refusal: Schemas['RefusedPayment'] }
  | { kind: 'beneficiary'; beneficiary: Schemas['Beneficiary']; created: boolean }
  | { kind: 'policy'; policy: Schemas['SpendingPolicy']; created: boolean }
  | { kind: 'change'; change: GrantChange }
  | { kind: 'created' }
)

/** A list that is read page by page, as the timeline's part of it. */
type Source = { moments: Moment[]; more: boolean; readMore: () => void; isPending: boolean; error: unknown }
type Query<Item> = {
  data: { pages: { data: Item[] }[] } | undefined
  hasNextPage: boolean
  fetchNextPage: () => unknown
  isLoading: boolean
  error: unknown
}

const sourceOf = <Item>(query: Query<Item>, toMoments: (items: Item[]) => Moment[]): Source => ({
  moments: toMoments(query.data?.pages.flatMap((page) => page.data) ?? []),
  more: query.hasNextPage,
  readMore: () => void query.fetchNextPage(),
  isPending: query.isLoading,
  error: query.error,
})

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

/** From where on every list is known: what is older may have gaps until more is read. */
const knownFrom = (sources: readonly Source[]): number =>
  Math.max(
    Number.NEGATIVE_INFINITY,
    ...sources.filter(({ more }) => more).map(({ moments }) => Math.min(...moments.map(({ at }) => Date.parse(at)))),
  )

const mostApart = 3

const sameDay = (a: string, b: string): boolean => localDate(Date.parse(a)) === localDate(Date.parse(b))

/** Many payments that went through, one after the other, are one line. */
const gathered = (moments: readonly Moment[]): Moment[] => {
  const lines: Moment[] = []
  for (let at = 0; at < moments.length; ) {
    const first = moments[at]
    if (!first) break
    const run = moments.slice(at).findIndex((moment) => !(isPaid(moment) && sameDay(moment.at, first.at)))
    const length = run === -1 ? moments.length - at : run
    const [payment, ...others] = moments
      .slice(at, at + length)
      .flatMap((moment) => (moment.kind === 'payment' ? [moment.payment] : []))
    if (payment && length >= mostApart)
      lines.push({ key: `run ${first.key}`, at: first.at, kind: 'payments', payments: [payment, ...others] })
    else lines.push(...moments.slice(at, at + Math.max(1, length)))
    at += Math.max(1, length)
  }
  return lines
}

const isPaid = (moment: Moment): boolean => moment.kind === 'payment' && moment.payment.status === 'succeeded'

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
  const from = knownFrom(sources)
  const known = [...sources.flatMap(({ moments }) => moments), { key: 'created', at: createdAt, kind: 'created' } as const]
    .filter(({ at }) => Date.parse(at) >= from)
    .sort((a, b) => Date.parse(b.at) - Date.parse(a.at))
  return {
    moments: gathered(known),
    isPending: sources.some(({ isPending }) => isPending),
    error: sources.map(({ error }) => error).find((error) => error !== null) ?? null,
    more: sources.some(({ more }) => more),
    readMore: () => {
      for (const { more, readMore } of sources) if (more) readMore()
    },
  }
}
