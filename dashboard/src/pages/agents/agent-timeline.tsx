import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { Schemas } from '../../api/types.ts'
import { usePeople } from '../../api/use-people.ts'
import type { Moment } from '../../lib/agent-moments.ts'
import { plainWords } from '../../lib/field-words.ts'
import { changeWords } from '../../lib/grant-changes.ts'
import { capitalized, listWords } from '../../lib/list-words.ts'
import { moneyText, sumMinor } from '../../lib/money.ts'
import { useSession } from '../../shell/session.tsx'
import { Button } from '../../ui/button.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Icon, type IconName } from '../../ui/icon.tsx'
import { Card, SkeletonRows } from '../../ui/layout.tsx'
import { Badge, StatusBadge } from '../../ui/status.tsx'
import { ExactTime } from '../../ui/time.tsx'
import { Raise } from '../payments/refusals.tsx'
import { useAgentTimeline } from './use-agent-timeline.ts'

type Line = {
  tone: 'good' | 'warn' | 'bad' | 'now' | 'later'
  icon: IconName
  text: ReactNode
  note?: ReactNode
  act?: ReactNode
}
type Payment = Schemas['Payment']

const asked = ({ id, status, amount_minor: amount, currency, beneficiary }: Payment): ReactNode => (
  <>
    {status === 'succeeded' ? 'Paid' : 'Requested'}{' '}
    <Link className="in-text" href={`/payments/${id}`}>
      {moneyText(amount, currency)}
    </Link>{' '}
    to {beneficiary.display_name}
  </>
)

const ofPayment = (payment: Payment): Line => {
  const { status, narrative } = payment
  const paid = status === 'succeeded'
  return {
    tone: paid ? 'good' : status === 'failed' || status === 'rejected' ? 'bad' : 'warn',
    icon: paid ? 'check' : 'payments',
    text: asked(payment),
    note: narrative,
    ...(!paid && { act: <StatusBadge status={status} /> }),
  }
}

const ofPayments = (payments: readonly [Payment, ...Payment[]]): Line => {
  const [{ currency }] = payments
  const names = [...new Set(payments.map(({ beneficiary }) => beneficiary.display_name))]
  const others = names.length - 3
  return {
    tone: 'good',
    icon: 'check',
    text: `Paid ${payments.length} times, ${moneyText(sumMinor(payments.map(({ amount_minor: amount }) => amount)), currency)} together`,
    note: `To ${listWords(others > 0 ? [...names.slice(0, 3), `${others} more`] : names)}`,
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
      const payee = refusal.beneficiary ? ` to ${refusal.beneficiary.display_name}` : ' in a list'
      return {
        tone: 'bad',
        icon: 'cross',
        text: `Was refused ${moneyText(refusal.amount_minor, refusal.currency)}${payee}`,
        note: plainWords(refusal.message),
        act: <Raise refusal={refusal} />,
      }
    }
    case 'beneficiary': {
      const { id, display_name: name, confirmation } = moment.beneficiary
      return {
        tone: 'now',
        icon: 'people',
        text: (
          <>
            {moment.created ? 'Added the beneficiary' : 'Renamed the beneficiary'}{' '}
            <Link className="in-text" href={`/beneficiaries/${id}`}>
              {name}
            </Link>
          </>
        ),
        ...(confirmation === 'proposed' && { act: <Badge tone="warn">Not confirmed</Badge> }),
      }
    }
    case 'policy':
      return {
        tone: 'now',
        icon: 'policy',
        text: (
          <>
            {moment.created ? 'Created' : 'Changed'} the policy{' '}
            <Link className="in-text" href={`/policies/${moment.policy.id}`}>
              {moment.policy.name}
            </Link>
          </>
        ),
      }
    case 'change': {
      const { change } = moment
      const words = changeWords(change, currency)
      if (words.length === 0) return null
      const freezes = change.after === null || change.after.frozen !== change.before?.frozen
      return {
        tone: freezes ? 'warn' : 'now',
        icon: freezes ? 'freeze' : 'policy',
        text: `${capitalized(listWords(words))}${change.by === null ? '' : ` by ${people(change.by)}`}`,
      }
    }
    case 'created':
      return { tone: 'later', icon: 'plus', text: kind === 'oauth' ? 'Connected' : 'Created' }
  }
}

type Grant = Pick<Schemas['Grant'], 'id' | 'kind' | 'created_at' | 'workspace_id'>

/** In plain words: what it did, what it was refused and what would let that pass, and what was changed about it. In its own workspace only. */
export const AgentTimeline = ({ grant }: { grant: Grant }) => {
  const { workspace } = useSession()
  return grant.workspace_id === workspace.id ? <Moments grant={grant} /> : null
}

const Moments = ({ grant }: { grant: Grant }) => {
  const { currency } = useSession()
  const people = usePeople()
  const { moments, isPending, error, more, readMore } = useAgentTimeline(grant)
  const lines = moments.flatMap((moment) => {
    const line = lineOf(moment, { people, currency, kind: grant.kind })
    return line ? [{ ...line, key: moment.key, at: moment.at }] : []
  })
  return (
    <Card title="What it did" note="Newest first, with what was changed about it.">
      <div className="stack">
        <Failure error={error} />
        {isPending ? (
          <SkeletonRows rows={4} />
        ) : (
          <ol className="timeline" aria-label="What it did">
            {lines.map(({ key, at, tone, icon, text, note, act }) => (
              <li key={key}>
                <span className={`timeline-mark tone-${tone}`}>
                  <Icon name={icon} size={14} />
                </span>
                <div>
                  <div className="row row-between row-tight">
                    <span>{text}</span>
                    {act}
                  </div>
                  {note && <p className="quiet small">{note}</p>}
                  <p className="faint small">
                    <ExactTime at={at} />
                  </p>
                </div>
              </li>
            ))}
          </ol>
        )}
      </div>
      {more && !isPending && (
        <Button variant="quiet" onClick={readMore}>
          Show more
        </Button>
      )}
    </Card>
  )
}
