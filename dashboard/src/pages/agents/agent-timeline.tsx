import { useInfiniteQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { usePeople } from '../../api/names.ts'
import {
  auditQuery,
  grantEventsQuery,
  madeByQuery,
  paymentsQuery,
  policiesMadeByQuery,
  refusalsQuery,
  rowsOf,
  type Schemas,
} from '../../api/queries.ts'
import { readableMessage } from '../../lib/field-words.ts'
import { t } from '../../lib/language.ts'
import { capitalized, listWords, moneyText, sumMinor } from '../../lib/words.ts'
import { useSession } from '../../shell/session.tsx'
import { Button } from '../../ui/button.tsx'
import { type Step, Steps } from '../../ui/listing.tsx'
import { Badge, Card, ExactTime, Failure, SkeletonRows, StatusBadge } from '../../ui/page.tsx'
import { RaiseLimitLink } from '../payments/raise.tsx'
import { type Moment, type Part, timelineOf } from './agent-moments.ts'
import { changesInAudit, changesInEvents, changeWords, type GrantChange } from './grant-changes.ts'
import { richAgent, tAgent } from './texts.ts'

/** One paged list of the timeline. */
type Source = Part & { readMore: () => void; isPending: boolean; error: unknown }
type Query<Item> = {
  data: { pages: { data: Item[] }[] } | undefined
  hasNextPage: boolean
  fetchNextPage: () => unknown
  isLoading: boolean
  error: unknown
}

const sourceOf = <Item extends { created_at: string }>(query: Query<Item>, toMoments: (items: Item[]) => Moment[]): Source => {
  const items = rowsOf(query)
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

/** Everything that a key or an agent did in this workspace, and all changes to it, newest first. */
const useAgentTimeline = ({ id: grantId, created_at: createdAt }: { id: string; created_at: string }) => {
  const { can } = useSession()
  const pays = can('payment.read')
  const sources = [
    sourceOf(useInfiniteQuery({ ...paymentsQuery({ grant_id: grantId }, pageSize), enabled: pays }), (payments) =>
      payments.map((payment) => ({ key: payment.id, at: payment.created_at, kind: 'payment', payment })),
    ),
    sourceOf(useInfiniteQuery({ ...refusalsQuery({ grant_id: grantId }, pageSize), enabled: pays }), (refusals) =>
      refusals.map((refusal) => ({ key: refusal.id, at: refusal.created_at, kind: 'refusal', refusal })),
    ),
    sourceOf(useInfiniteQuery({ ...madeByQuery(grantId, 'all'), enabled: can('beneficiary.read') }), (beneficiaries) =>
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
    sourceOf(useInfiniteQuery({ ...policiesMadeByQuery(grantId, 'all'), enabled: can('policy.read') }), (policies) =>
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

type Line = Omit<Step, 'key'>
type Payment = Schemas['Payment']

const linkTo = (href: string, text: string): ReactNode => (
  <Link className="in-text" href={href}>
    {text}
  </Link>
)

const paymentTitle = ({ id, status, amount_minor: amount, currency, beneficiary }: Payment): ReactNode =>
  richAgent(status === 'succeeded' ? 'paid_to' : 'requested_for', {
    link: linkTo(`/payments/${id}`, moneyText(amount, currency)),
    name: beneficiary.display_name,
  })

const ofPayment = (payment: Payment): Line => {
  const { status, narrative } = payment
  const paid = status === 'succeeded'
  return {
    tone: paid ? 'good' : status === 'failed' || status === 'rejected' ? 'bad' : 'warn',
    icon: paid ? 'check' : 'payments',
    title: paymentTitle(payment),
    note: narrative,
    ...(!paid && { side: <StatusBadge status={status} /> }),
  }
}

const ofPayments = (payments: readonly [Payment, ...Payment[]]): Line => {
  const [{ currency }] = payments
  const names = [...new Set(payments.map(({ beneficiary }) => beneficiary.display_name))]
  const others = names.length - 3
  return {
    tone: 'good',
    icon: 'check',
    title: tAgent('paid_times', {
      length: payments.length,
      amount: moneyText(sumMinor(payments.map(({ amount_minor: amount }) => amount)), currency),
    }),
    note: tAgent('to_names', {
      names: listWords(others > 0 ? [...names.slice(0, 3), tAgent('others_more', { others })] : names),
    }),
  }
}

type Context = { people: (id: string) => string; currency: string; kind: Schemas['Grant']['kind'] }

const lineOf = (moment: Moment, { people, currency, kind }: Context): Line | null => {
  switch (moment.kind) {
    case 'payment':
      return ofPayment(moment.payment)
    case 'payments':
      return ofPayments(moment.payments)
    case 'refusal': {
      const { refusal } = moment
      const payee = refusal.beneficiary
        ? tAgent('to_payee', { display_name: refusal.beneficiary.display_name })
        : tAgent('in_a_list')
      return {
        tone: 'bad',
        icon: 'cross',
        title: tAgent('refused', { amount: moneyText(refusal.amount_minor, refusal.currency), payee }),
        note: readableMessage(refusal.message),
        side: <RaiseLimitLink refusal={refusal} />,
      }
    }
    case 'beneficiary': {
      const { id, display_name: name, confirmation } = moment.beneficiary
      return {
        tone: 'now',
        icon: 'people',
        title: richAgent(moment.created ? 'added_payee' : 'renamed_payee', { link: linkTo(`/beneficiaries/${id}`, name) }),
        ...(confirmation === 'proposed' && { side: <Badge tone="warn">{tAgent('not_confirmed')}</Badge> }),
      }
    }
    case 'policy':
      return {
        tone: 'now',
        icon: 'policy',
        title: richAgent(moment.created ? 'created_policy' : 'changed_policy', {
          link: linkTo(`/policies/${moment.policy.id}`, moment.policy.name),
        }),
      }
    case 'change': {
      const { change } = moment
      const words = changeWords(change, currency)
      if (words.length === 0) return null
      const halts = [tAgent('change.frozen'), tAgent('change.unfrozen')]
      const freezes = change.after === null || words.some((word) => halts.includes(word))
      return {
        tone: freezes ? 'warn' : 'now',
        icon: freezes ? 'freeze' : 'policy',
        title: `${capitalized(listWords(words))}${change.by === null ? '' : tAgent('by', { people: people(change.by) })}`,
      }
    }
    case 'created':
      return { tone: 'later', icon: 'plus', title: kind === 'oauth' ? tAgent('connected') : tAgent('made') }
  }
}

type Grant = Pick<Schemas['Grant'], 'id' | 'kind' | 'created_at' | 'workspace_id'>

/** Actions of a key or an agent, its refusals with their remedies, and changes to it. Shown only in its own workspace. */
export const AgentTimeline = ({ grant }: { grant: Grant }) => {
  const { workspace } = useSession()
  return grant.workspace_id === workspace.id ? <Moments grant={grant} /> : null
}

const Moments = ({ grant }: { grant: Grant }) => {
  const { currency } = useSession()
  const people = usePeople()
  const { moments, isPending, error, more, readMore } = useAgentTimeline(grant)
  const steps = moments.flatMap((moment): Step[] => {
    const line = lineOf(moment, { people, currency, kind: grant.kind })
    return line ? [{ key: moment.key, ...line, below: <ExactTime at={moment.at} /> }] : []
  })
  return (
    <Card title={tAgent('did')} note={tAgent('did.note')}>
      <Failure error={error} />
      {isPending ? <SkeletonRows rows={4} /> : <Steps label={tAgent('did')} steps={steps} />}
      {more && !isPending && (
        <div className="row">
          <Button variant="ghost" onClick={readMore}>
            {t('show_more')}
          </Button>
        </div>
      )}
    </Card>
  )
}
