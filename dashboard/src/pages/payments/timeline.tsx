import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { approvalQuery, type Schemas } from '../../api/queries.ts'
import { heldWords, wasSent } from '../../lib/payment-end.ts'
import { failureWords, providerOf } from '../../lib/rails.ts'
import { countWords, shortAddress } from '../../lib/words.ts'
import { type Step, Steps } from '../../ui/listing.tsx'
import { Countdown, ExactTime, Time } from '../../ui/page.tsx'

type Payment = Schemas['Payment']
type Approval = Schemas['Approval']
type Event = Step & { at?: string | undefined }

const decisionStep = (decision: Approval['decisions'][number], nameOf: (account: string) => string): Event => ({
  key: `${decision.account_id} ${decision.decided_at}`,
  tone: decision.voided_at ? 'later' : decision.decision === 'approve' ? 'good' : 'bad',
  icon: decision.decision === 'approve' ? 'check' : 'cross',
  title: `${decision.decision === 'approve' ? 'Approved' : 'Rejected'} by ${nameOf(decision.account_id)}`,
  note: [
    decision.via === 'passkey' && 'Signed with a passkey',
    decision.via === 'signature' && (decision.signer ? `Signed by ${shortAddress(decision.signer)}` : 'By signature'),
    decision.reason,
    decision.voided_at && 'Stopped counting',
  ]
    .filter(Boolean)
    .join(': '),
  at: decision.decided_at,
})

const approvalSteps = (payment: Payment, approval: Approval | undefined, nameOf: (account: string) => string): Event[] => {
  if (!payment.approval_id) return []
  const requested: Event = {
    key: 'requested',
    tone: 'good',
    icon: 'approvals',
    title: `${countWords(payment.decision.required_approvals, 'approval')} requested`,
    at: approval?.created_at ?? payment.created_at,
  }
  const decisions = approval?.decisions.map((decision) => decisionStep(decision, nameOf)) ?? []
  const isOpen = payment.status === 'pending_approval' || (payment.status === 'scheduled' && approval?.status === 'pending')
  if (!isOpen) return [requested, ...decisions]
  return [
    requested,
    ...decisions,
    {
      key: 'waiting',
      tone: 'now',
      icon: 'clock',
      title: 'Waiting for approval',
      note: approval && (
        <>
          {approval.approvals_given} of {approval.required_approvals} given, <Countdown to={approval.expires_at} suffix=" left" />
          . <Link href={`/approvals/${approval.id}`}>Review</Link>
        </>
      ),
    },
  ]
}

/** Null: not a plain end. */
const ends: Readonly<Record<Payment['status'], Omit<Event, 'key' | 'at'> | null>> = {
  scheduled: null,
  pending_approval: null,
  processing: null,
  unknown: null,
  returned: null,
  succeeded: { tone: 'good', icon: 'check', title: 'Succeeded' },
  failed: { tone: 'bad', icon: 'cross', title: 'Failed' },
  rejected: { tone: 'bad', icon: 'cross', title: 'Not sent', note: 'It was rejected.' },
  cancelled: { tone: 'later', icon: 'cross', title: 'Cancelled' },
  expired: { tone: 'later', icon: 'clock', title: 'Expired', note: 'No one decided in time.' },
}

const outcomeSteps = (payment: Payment): Event[] => {
  const { status, completed_at: at } = payment
  const provider = providerOf(payment.payment_rail)
  if (status === 'scheduled')
    return [
      {
        key: 'due',
        tone: 'now',
        icon: 'clock',
        title: 'Scheduled',
        note: (
          <>
            Sent {payment.execute_at && <ExactTime at={payment.execute_at} />}, if the limits and the balance allow it then. No
            money is held until that time.
          </>
        ),
      },
    ]
  if (status === 'pending_approval') return [{ key: 'later', tone: 'later', icon: 'forward', title: `Sent to ${provider}` }]
  const sent: Event = { key: 'sent', tone: 'good', icon: 'forward', title: `Sent to ${provider}` }
  const end = ends[status]
  if (status === 'processing')
    return [
      sent,
      { key: 'now', tone: 'now', icon: 'clock', title: `Waiting for ${provider}`, note: 'This page updates by itself.' },
    ]
  if (status === 'unknown')
    return [
      sent,
      {
        key: 'unknown',
        tone: 'warn',
        icon: 'alert',
        title: 'Checking',
        note: `${provider} didn’t answer, so the money may have moved. The amount stays held and nothing is sent twice.`,
      },
    ]
  if (status === 'returned')
    return [
      sent,
      { key: 'arrived', tone: 'good', icon: 'check', title: 'Succeeded' },
      {
        key: 'returned',
        tone: 'warn',
        icon: 'back',
        title: `Returned by ${provider}`,
        note: 'The money is back in the balance.',
        at: at ?? payment.updated_at,
      },
    ]
  if (!end) return []
  const reason = status === 'failed' ? failureWords(payment) : end.note
  const note = status === 'succeeded' ? undefined : [reason, heldWords(payment)].filter(Boolean).join(' ')
  return [...(wasSent(payment) ? [sent] : []), { key: status, ...end, note, at: at ?? payment.updated_at }]
}

const stepsOf = (events: readonly Event[]): Step[] =>
  events.map(({ at, ...step }) => ({
    ...step,
    title: <span className={step.key === 'later' ? 'faint' : 'strong'}>{step.title}</span>,
    side: at && <Time at={at} />,
  }))

export const Decisions = ({ approval, nameOf }: { approval: Approval; nameOf: (account: string) => string }) => (
  <Steps label="Decisions" steps={stepsOf(approval.decisions.map((decision) => decisionStep(decision, nameOf)))} />
)

/** Created, held, approved, sent, and how it ended. */
export const Timeline = ({ payment, nameOf }: { payment: Payment; nameOf: (account: string) => string }) => {
  const approval = useQuery({ ...approvalQuery(payment.approval_id ?? ''), enabled: payment.approval_id !== null })
  const steps: Event[] = [
    {
      key: 'created',
      tone: 'good',
      icon: 'plus',
      title: payment.execute_at ? 'Created, for later' : 'Created, amount held',
      at: payment.created_at,
    },
    ...approvalSteps(payment, approval.data, nameOf),
    ...outcomeSteps(payment),
  ]
  return <Steps label="What happened" steps={stepsOf(steps)} />
}
