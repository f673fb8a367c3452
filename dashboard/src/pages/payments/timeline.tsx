import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { usePeople } from '../../api/names.ts'
import { approvalQuery, type Schemas } from '../../api/queries.ts'
import { failureReason } from '../../lib/failure-texts.ts'
import { rich, t } from '../../lib/language.ts'
import { heldWords, wasSent } from '../../lib/payment-end.ts'
import { providerLabelOf } from '../../lib/rails.ts'
import { groupByKey, listWords, moneyText, shortAddress } from '../../lib/words.ts'
import { type Step, Steps } from '../../ui/listing.tsx'
import { Card, Countdown, ExactTime, Time } from '../../ui/page.tsx'

type Payment = Schemas['Payment']
type Approval = Schemas['Approval']
type Event = Step & { at?: string | undefined }

const decisionStep = (decision: Approval['decisions'][number], nameOf: (account: string) => string): Event => ({
  key: `${decision.account_id} ${decision.decided_at}`,
  tone: decision.voided_at ? 'later' : decision.decision === 'approve' ? 'good' : 'bad',
  icon: decision.decision === 'approve' ? 'check' : 'cross',
  title: t(decision.decision === 'approve' ? 'line.approved_by' : 'line.rejected_by', { who: nameOf(decision.account_id) }),
  note: [
    decision.via === 'passkey' && t('line.passkey'),
    decision.via === 'signature' &&
      (decision.signer ? t('line.signed_by', { address: shortAddress(decision.signer) }) : t('line.signed')),
    decision.reason,
    decision.voided_at && t('line.voided'),
  ]
    .filter(Boolean)
    .join(': '),
  at: decision.decided_at,
})

const notificationLooks = {
  mailed: { tone: 'good', icon: 'forward' },
  mail_refused: { tone: 'warn', icon: 'alert' },
  pushed: { tone: 'good', icon: 'bell' },
  opened: { tone: 'good', icon: 'search' },
} as const

/** Steps by people: notifications, openings and decisions, in order of time. */
const peopleSteps = ({ decisions, notifications = [] }: Approval, nameOf: (account: string) => string): Event[] => {
  // A page that is older than the service has no words for a new event.
  const known = notifications.filter(({ event }) => Object.hasOwn(notificationLooks, event))
  const told = groupByKey(known, ({ event }) => event).map((group): Event => {
    const [{ event, at }] = group
    const people = [...new Set(group.map(({ account_id: id }) => nameOf(id)))]
    return { key: event, ...notificationLooks[event], title: t(`told.${event}`, { who: listWords(people) }), at }
  })
  const decided = decisions.map((decision) => decisionStep(decision, nameOf))
  return [...told, ...decided].toSorted((one, other) => Date.parse(one.at ?? '') - Date.parse(other.at ?? ''))
}

const approvalSteps = (payment: Payment, approval: Approval | undefined, nameOf: (account: string) => string): Event[] => {
  if (!payment.approval_id) return []
  const requested: Event = {
    key: 'requested',
    tone: 'good',
    icon: 'approvals',
    title: t('line.requested', { count: payment.decision.required_approvals }),
    at: approval?.created_at ?? payment.created_at,
  }
  const decisions = approval ? peopleSteps(approval, nameOf) : []
  const isOpen = payment.status === 'pending_approval' || (payment.status === 'scheduled' && approval?.status === 'pending')
  if (!isOpen) return [requested, ...decisions]
  return [
    requested,
    ...decisions,
    {
      key: 'waiting',
      tone: 'now',
      icon: 'clock',
      title: t('line.waiting'),
      note:
        approval &&
        rich('line.given', {
          place: t('place', { at: approval.approvals_given, count: approval.required_approvals }),
          left: <Countdown to={approval.expires_at} />,
          review: <Link href={`/approvals/${approval.id}`}>{t('review')}</Link>,
        }),
    },
  ]
}

/** Last step of a payment by status. Null: the status has its own steps. */
const finalSteps: Readonly<Record<Payment['status'], Omit<Event, 'key' | 'at'> | null>> = {
  scheduled: null,
  pending_approval: null,
  processing: null,
  unknown: null,
  returned: null,
  succeeded: { tone: 'good', icon: 'check', title: t('status.succeeded') },
  failed: { tone: 'bad', icon: 'cross', title: t('status.failed') },
  rejected: { tone: 'bad', icon: 'cross', title: t('line.not_sent'), note: t('line.rejected') },
  cancelled: { tone: 'later', icon: 'cross', title: t('status.cancelled') },
  expired: { tone: 'later', icon: 'clock', title: t('status.expired'), note: t('line.expired') },
}

/** A success that the provider reported after the failure. The payment stays failed. */
const lateSteps = ({ late_success: late, payment_rail: rail, currency }: Payment): Event[] =>
  late === null
    ? []
    : [
        {
          key: 'late',
          tone: 'good',
          icon: 'check',
          title: t('line.paid_late', { provider: providerLabelOf(rail) }),
          note: [moneyText(late.amount_minor, currency), late.receipt].filter(Boolean).join(', '),
          at: late.at,
        },
      ]

const outcomeSteps = (payment: Payment): Event[] => {
  const { status, completed_at: at } = payment
  const provider = providerLabelOf(payment.payment_rail)
  if (status === 'scheduled')
    return [
      {
        key: 'due',
        tone: 'now',
        icon: 'clock',
        title: t('status.scheduled'),
        note: rich('line.due', { at: payment.execute_at && <ExactTime at={payment.execute_at} /> }),
      },
    ]
  const sent: Event = { key: 'sent', tone: 'good', icon: 'forward', title: t('line.sent_to', { provider }) }
  if (status === 'pending_approval') return [{ ...sent, key: 'later', tone: 'later' }]
  const end = finalSteps[status]
  if (status === 'processing')
    return [
      sent,
      { key: 'now', tone: 'now', icon: 'clock', title: t('line.waiting_for', { provider }), note: t('updates_itself') },
    ]
  if (status === 'unknown')
    return [
      sent,
      {
        key: 'unknown',
        tone: 'warn',
        icon: 'alert',
        title: t('status.unknown'),
        note: t('line.unknown', { provider }),
      },
    ]
  if (status === 'returned')
    return [
      sent,
      { key: 'arrived', tone: 'good', icon: 'check', title: t('status.succeeded') },
      {
        key: 'returned',
        tone: 'warn',
        icon: 'back',
        title: t('line.returned_by', { provider }),
        note: t('line.money_back'),
        at: at ?? payment.updated_at,
      },
    ]
  if (!end) return []
  const reason = status === 'failed' ? failureReason(payment) : end.note
  const note = status === 'succeeded' ? undefined : [reason, heldWords(payment)].filter(Boolean).join(' ')
  const ended: Event = { key: status, ...end, note, at: at ?? payment.updated_at }
  return [...(wasSent(payment) ? [sent] : []), ended, ...lateSteps(payment)]
}

const stepsOf = (events: readonly Event[]): Step[] =>
  events.map(({ at, ...step }) => ({
    ...step,
    title: <span className={step.key === 'later' ? 'faint' : 'strong'}>{step.title}</span>,
    side: at && <Time at={at} />,
  }))

/** Notifications, openings and decisions of an approval. Hidden until there are any. */
export const ApprovalTimeline = ({ approval }: { approval: Approval }) => {
  const steps = peopleSteps(approval, usePeople())
  if (steps.length === 0) return null
  return (
    <Card title={t('timeline')}>
      <Steps label={t('outcome')} steps={stepsOf(steps)} />
    </Card>
  )
}

/** Steps of a payment: created, approved, sent and ended. */
export const Timeline = ({ payment, nameOf }: { payment: Payment; nameOf: (account: string) => string }) => {
  const approval = useQuery({ ...approvalQuery(payment.approval_id ?? ''), enabled: payment.approval_id !== null })
  const steps: Event[] = [
    {
      key: 'created',
      tone: 'good',
      icon: 'plus',
      title: t(payment.execute_at ? 'line.created_later' : 'line.created'),
      at: payment.created_at,
    },
    ...approvalSteps(payment, approval.data, nameOf),
    ...outcomeSteps(payment),
  ]
  return <Steps label={t('outcome')} steps={stepsOf(steps)} />
}
