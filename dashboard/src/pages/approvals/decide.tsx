import { useState } from 'react'
import { Link } from 'wouter'
import type { Schemas } from '../../api/queries.ts'
import { approvalSubject, type Choice, counts } from '../../lib/approval-subject.ts'
import { useShortcuts } from '../../lib/choices.ts'
import { hasPasskeys } from '../../passkey/passkey.ts'
import { useSession } from '../../shell/session.tsx'
import { Button } from '../../ui/button.tsx'
import { Failure, Notice, TextNotice } from '../../ui/page.tsx'
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
