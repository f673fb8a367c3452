import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { approvalQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { usePeople } from '../../api/use-people.ts'
import { useShortcuts } from '../../lib/shortcuts.ts'
import { useSession } from '../../shell/session.tsx'
import { Button, LinkButton } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { DecisionTrace } from '../../ui/decision-trace.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Card, Notice, PageHeader, SkeletonRows } from '../../ui/layout.tsx'
import { ApprovalSummary } from './approval-summary.tsx'
import { askerOf } from './approvals-page.tsx'
import { type Choice, DecideDialog, useAfterDecision } from './decide-dialog.tsx'
import { Given } from './given.tsx'
import { SignDecision, SignedText } from './sign-decision.tsx'

type Approval = Schemas['Approval']

const back = { href: '/approvals', label: 'Approvals' }

export const ApprovalPage = ({ id }: { id: string }) => {
  const approval = useQuery(approvalQuery(id))
  return (
    <div className="stack">
      <PageHeader
        title="Approval"
        back={back}
        actions={approval.data && <LinkButton href={`/payments/${approval.data.payment.id}`}>See the payment</LinkButton>}
      />
      {approval.isPending && (
        <div className="card">
          <SkeletonRows rows={4} />
        </div>
      )}
      {approval.isError && <Failure error={approval.error} onRetry={() => void approval.refetch()} />}
      {approval.data && <ApprovalDetail approval={approval.data} />}
    </div>
  )
}

const SignDialog = ({ approval, choice, onClose }: { approval: Approval; choice: Choice; onClose: () => void }) => {
  const after = useAfterDecision()
  return (
    <Dialog title={choice === 'approve' ? 'Approve by signature' : 'Reject by signature'} onClose={onClose} wide>
      <SignedText message={approval.signing[choice]} />
      <SignDecision
        id={approval.id}
        choice={choice}
        message={approval.signing[choice]}
        onDecided={(decided) => {
          after(decided)
          onClose()
        }}
      />
    </Dialog>
  )
}

const ApprovalDetail = ({ approval }: { approval: Approval }) => {
  const people = usePeople()
  return (
    <div className="split">
      <Card>
        <ApprovalSummary approval={approval} asker={askerOf(approval, people)} />
      </Card>
      <div className="stack split-aside">
        {approval.status === 'pending' && <Decide approval={approval} />}
        <Given approval={approval} people={people} />
      </div>
      <div className="split-below">
        <Card title="Why it was decided so" note="Every rule that was looked at.">
          <DecisionTrace decision={approval.payment.decision} currency={approval.payment.currency} />
        </Card>
      </div>
    </div>
  )
}

/** Why the reader can't decide, or null when they can. */
const useHindrance = (approval: Approval): string | null => {
  const { can, account } = useSession()
  if (!can('approval.decide')) return 'Your role in this workspace doesn’t decide approvals.'
  if (approval.decisions.some((decision) => decision.account_id === account.id))
    return 'You have decided. It waits for others now.'
  if (approval.separation_of_duties && approval.payment.initiated_by.account_id === account.id)
    return 'You started this payment, and a policy wants somebody else to approve it. Share the link with them.'
  return null
}

const Decide = ({ approval }: { approval: Approval }) => {
  const [deciding, setDeciding] = useState<Choice | null>(null)
  const [signing, setSigning] = useState<Choice | null>(null)
  const hindrance = useHindrance(approval)
  useShortcuts(hindrance ? {} : { a: () => setDeciding('approve'), r: () => setDeciding('reject') })
  return (
    <Card title="Your decision">
      <div className="stack">
        {hindrance ? (
          <Notice tone="info">{hindrance}</Notice>
        ) : (
          <>
            <div className="stack-s">
              <Button variant="primary" size="large" wide icon="check" onClick={() => setDeciding('approve')}>
                Approve <kbd>a</kbd>
              </Button>
              <Button variant="danger" size="large" wide icon="cross" onClick={() => setDeciding('reject')}>
                Reject <kbd>r</kbd>
              </Button>
            </div>
            <div className="stack-xs">
              <p className="quiet small">Or put your wallet’s signature under it:</p>
              <div className="row">
                <Button size="small" icon="wallet" onClick={() => setSigning('approve')}>
                  Sign approval
                </Button>
                <Button size="small" icon="wallet" onClick={() => setSigning('reject')}>
                  Sign rejection
                </Button>
              </div>
            </div>
          </>
        )}
        <div className="stack-xs">
          <p className="quiet small">Somebody with a wallet that may decide needs no session:</p>
          <div className="row">
            <CopyButton value={`${location.origin}/approve/${approval.id}`}>Copy the link to sign</CopyButton>
          </div>
        </div>
      </div>
      {deciding && <DecideDialog approval={approval} choice={deciding} onClose={() => setDeciding(null)} />}
      {signing && <SignDialog approval={approval} choice={signing} onClose={() => setSigning(null)} />}
    </Card>
  )
}
