import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { api, type Body, type Schemas } from '../../api/queries.ts'
import { useDebounced } from '../../lib/drafts.ts'
import { countWords } from '../../lib/words.ts'
import { useSession } from '../../shell/session.tsx'
import { Amount, Badge, Card, Failure, SkeletonText, Time } from '../../ui/page.tsx'

type Terms = NonNullable<Body<'/v1/spending-policies/simulate', 'post'>['policy']>

const days = 30
const maxRows = 6

const outcomes = {
  allow: { tone: 'good', text: 'Goes through' },
  require_approval: { tone: 'warn', text: 'Needs approval' },
  deny: { tone: 'bad', text: 'Refused' },
} as const

/** What the policy would have done to what was asked for in the last 30 days, made or refused. */
export const Replay = ({ terms }: { terms: Terms | null }) => {
  const settled = useDebounced(terms, 400)
  const replay = useQuery({
    queryKey: ['policies', 'replay', settled],
    queryFn: async () =>
      settled
        ? ((await api.POST('/v1/spending-policies/simulate', { body: { policy: settled, replay_days: days } })).replay ?? null)
        : null,
    enabled: settled !== null,
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  })
  return (
    <Card title="Try it on the last 30 days">
      <div aria-live="polite" style={{ minHeight: '96px' }}>
        {replay.isPending && <SkeletonText width="80%" />}
        {replay.isError && <Failure error={replay.error} />}
        {replay.data && <Result replay={replay.data} />}
      </div>
    </Card>
  )
}

type ReplayData = NonNullable<Schemas['Simulation']['replay']>

const Result = ({ replay }: { replay: ReplayData }) => {
  const { currency } = useSession()
  const { payments_considered: total, allowed, held, refused } = replay
  if (total === 0) return <p className="quiet">It would have applied to no payment in the last 30 days.</p>
  const parts = [
    { key: 'good', count: allowed, text: 'would go through' },
    { key: 'warn', count: held, text: 'would need approval' },
    { key: 'bad', count: refused, text: 'would be refused' },
  ]
  return (
    <div className="stack-s">
      <p>
        It would have applied to {countWords(total, 'payment')}
        {replay.truncated && ', not counting the newest'}:
      </p>
      <div className="bar" aria-hidden="true">
        {parts.map(({ key, count }) => (
          <span key={key} className={`tone-${key}`} style={{ width: `${(count / total) * 100}%` }} />
        ))}
      </div>
      <ul className="row row-wide small legend">
        {parts.map(({ key, count, text }) => (
          <li key={key}>
            <span className={`tone-${key}`} />
            <span>
              {count} {text}
            </span>
          </li>
        ))}
      </ul>
      {replay.affected.length > 0 && (
        <ul className="stack-xs">
          {replay.affected.slice(0, maxRows).map((payment) => (
            <li key={payment.payment_id ?? payment.refusal_id} className="row row-between small">
              <span>
                <Link href={payment.payment_id ? `/payments/${payment.payment_id}` : '/payments/refused'}>
                  <Amount minor={payment.amount_minor} currency={currency} />
                </Link>{' '}
                to {payment.beneficiary.display_name}
              </span>
              <span className="row row-tight faint">
                <Time at={payment.created_at} />
                <Badge tone={outcomes[payment.outcome].tone}>{outcomes[payment.outcome].text}</Badge>
              </span>
            </li>
          ))}
          {held + refused > maxRows && <li className="faint small">and {held + refused - maxRows} more</li>}
        </ul>
      )}
    </div>
  )
}
