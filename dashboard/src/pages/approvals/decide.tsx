import { useState } from 'react'
import { Link } from 'wouter'
import type { Schemas } from '../../api/queries.ts'
import { approvalSubject, type Caution, type Choice, cautionsOf, counts } from '../../lib/approval-subject.ts'
import { useShortcuts } from '../../lib/choices.ts'
import { moneyText, multipleOf } from '../../lib/words.ts'
import { hasPasskeys } from '../../passkey/passkey.ts'
import { useSession } from '../../shell/session.tsx'
import { Button } from '../../ui/button.tsx'
import { Failure, Notice, TextNotice } from '../../ui/page.tsx'
import { DecisionWarnings } from '../payments/decision-warnings.tsx'
import { DecideDialog, LateDecision, lateIn, useAfterDecision, useDecideByPasskey, useOwnPasskeys } from './decide-dialog.tsx'

type Approval = Schemas['Approval']

const useOwnDecision = (approval: Approval): Choice | undefined => {
  const { account } = useSession()
  return approval.decisions.find(
    (decision) => decision.account_id === account.id && decision.voided_at === null && counts(approval, decision),
  )?.decision
}

export const useHindrance = (approval: Approval): string | null => {
  const { can, account } = useSession()
  if (!can('approval.decide')) return 'Your role in this workspace can’t decide approvals.'
  if (approval.separation_of_duties && approvalSubject(approval).initiatedBy.account_id === account.id)
    return 'You requested this payment, and the requester can’t approve it. Share the signing link with someone who can.'
  return null
}

const passkeyLabel = 'Approve with Face ID, fingerprint or security key'

type DecideProps = { approval: Approval; onDecided: () => void }

/** The buttons, always in sight: the passkey first where the reader has one. */
export const Decide = ({ approval, onDecided }: DecideProps) => {
  const [deciding, setDeciding] = useState<Choice | null>(null)
  const hindrance = useHindrance(approval)
  const approved = useOwnDecision(approval) === 'approve'
  const stop = approval.refusal_now
  const approves = !approved && !stop
  const passkeys = useOwnPasskeys()
  const after = useAfterDecision()
  const signing = useDecideByPasskey(approval, passkeys, (decided) => {
    after([decided])
    onDecided()
  })
  const bySignature = approval.approval_proof === 'signature'
  const byPasskey = passkeys.length > 0
  const approve = () => {
    if (byPasskey && !signing.isPending) signing.mutate('approve')
    else if (!byPasskey && !bySignature) setDeciding('approve')
  }
  const reject = () => setDeciding('reject')
  useShortcuts(hindrance ? {} : { ...(approves && { a: approve }), r: reject })
  const late = lateIn(signing.error)
  if (late) return <LateDecision late={late} />
  if (hindrance) return <Notice tone="info">{hindrance}</Notice>
  return (
    <div className="stack-s">
      {approved && (
        <Notice tone="info">You have approved. Someone else needs to decide as well. Until then you can still reject.</Notice>
      )}
      {stop && (
        <TextNotice tone="warn" title="It can’t be approved now">
          {stop.message} Until that is lifted it can only be rejected.
        </TextNotice>
      )}
      {approves && bySignature && !byPasskey && (
        <TextNotice tone="info" title="Only an approval by passkey or wallet counts">
          {hasPasskeys() ? <Link href="/account">Add a passkey</Link> : 'Add a passkey on your Account page'}, or sign with your
          wallet below.
        </TextNotice>
      )}
      <Failure error={signing.error} />
      <div className="decide-bar">
        {approves && byPasskey && (
          <Button variant="primary" size="large" wide icon="fingerprint" busy={signing.isPending} onClick={approve}>
            {passkeyLabel}
          </Button>
        )}
        {approves && !bySignature && (
          <Button
            variant={byPasskey ? 'secondary' : 'primary'}
            size="large"
            wide
            icon="check"
            onClick={() => setDeciding('approve')}
          >
            {byPasskey ? 'Approve without it' : 'Approve'} {!byPasskey && <kbd>a</kbd>}
          </Button>
        )}
        <Button variant="danger" size="large" wide icon="cross" onClick={reject}>
          Reject <kbd>r</kbd>
        </Button>
      </div>
      {deciding && (
        <DecideDialog
          approvals={[approval]}
          choice={deciding}
          onDecided={() => {
            setDeciding(null)
            onDecided()
          }}
          onClose={() => setDeciding(null)}
        />
      )}
    </div>
  )
}

const MayHaveBeenSent = ({ count }: { count: number }) => (
  <TextNotice
    tone="warn"
    title={count === 1 ? 'A payment may have been paid already' : `${count} payments may have been paid already`}
  >
    This was asked for before the database lost its last changes. Approved, it is not sent: an administrator first looks for it in
    the provider’s statement. Reject only what you know was not paid.
  </TextNotice>
)

const OneCaution = ({ caution, payment }: { caution: Caution; payment: Schemas['PaymentSummary'] | null }) => {
  if (caution.code === 'may_have_been_sent') return <MayHaveBeenSent count={caution.payments_count} />
  if (payment === null) return null
  if (caution.code === 'first_payment')
    return (
      <TextNotice tone="warn" title="First payment to this destination">
        No payment from this workspace has reached it yet. Check that it belongs to the right person.
      </TextNotice>
    )
  if (caution.code === 'unusual_amount')
    return (
      <TextNotice tone="warn" title={`${multipleOf(payment.amount_minor, caution.typical_amount_minor)} times the usual amount`}>
        Payments to this beneficiary are typically {moneyText(caution.typical_amount_minor, payment.currency)}.
      </TextNotice>
    )
  return <DecisionWarnings decision={{ warnings: [caution] }} />
}

/** What comes before everything else. `without`: what the page says already. */
export const Cautions = ({ approval, without = [] }: { approval: Schemas['Approval']; without?: readonly string[] }) =>
  cautionsOf(approval)
    .filter(({ code }) => !without.includes(code))
    .map((caution) => <OneCaution key={caution.code} caution={caution} payment={approval.payment} />)
