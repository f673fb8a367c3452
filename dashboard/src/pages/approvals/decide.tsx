import { useState } from 'react'
import { useLocation } from 'wouter'
import type { Schemas } from '../../api/types.ts'
import { useInbox } from '../../api/use-inbox.ts'
import { approvalSubject } from '../../lib/approval-subject.ts'
import { useShortcuts } from '../../lib/shortcuts.ts'
import { useSession } from '../../shell/session.tsx'
import { useSwitchWorkspace } from '../../shell/switch-workspace.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Card, Notice } from '../../ui/layout.tsx'
import { useWallets } from '../../wallet/discovery.ts'
import { DecideDialog } from './decide-dialog.tsx'
import type { Choice } from './decided-words.ts'
import { ShareLink } from './share-link.tsx'
import { SignDecision, SignedText } from './sign-decision.tsx'
import { useAfterDecision } from './use-decide.ts'

type Approval = Schemas['Approval']

/** The reader's decision that counts now. */
const useOwnDecision = ({ decisions }: Approval): Choice | undefined => {
  const { account } = useSession()
  return decisions.find(({ account_id, voided_at }) => account_id === account.id && voided_at === null)?.decision
}

/** Why the reader can't decide, or null when they can. */
const useHindrance = (approval: Approval): string | null => {
  const { can, account } = useSession()
  if (!can('approval.decide')) return 'Your role in this workspace can’t decide approvals.'
  if (approval.separation_of_duties && approvalSubject(approval).initiatedBy.account_id === account.id)
    return 'You requested this payment, and the requester can’t approve it. Share the signing link with someone who can.'
  return null
}

/** Opens the next approval that waits for this person, in any workspace. Does nothing after the last. */
const useNext = (approval: Approval) => {
  const { workspace } = useSession()
  const { forMe } = useInbox()
  const switchTo = useSwitchWorkspace()
  const [, navigate] = useLocation()
  const next = forMe.find((item) => item.approval.id !== approval.id)
  return () => {
    if (!next) return
    const href = `/approvals/${next.approval.id}`
    if (next.workspace.id === workspace.id) navigate(href)
    else switchTo(next.workspace.id, href)
  }
}

export const Decide = ({ approval }: { approval: Approval }) => {
  const [deciding, setDeciding] = useState<Choice | null>(null)
  const hindrance = useHindrance(approval)
  const approved = useOwnDecision(approval) === 'approve'
  const goOn = useNext(approval)
  const approve = hindrance || approved ? {} : { a: () => setDeciding('approve') }
  useShortcuts(hindrance ? {} : { ...approve, r: () => setDeciding('reject') })
  return (
    <Card title="Your decision">
      <div className="stack">
        {hindrance && <Notice tone="info">{hindrance}</Notice>}
        {!hindrance && approved && (
          <>
            <Notice tone="info">You have approved. Someone else needs to decide as well. Until then you can still reject.</Notice>
            <Button variant="danger" icon="cross" onClick={() => setDeciding('reject')}>
              Reject <kbd>r</kbd>
            </Button>
          </>
        )}
        {!hindrance && !approved && (
          <>
            <div className="decide-bar">
              <Button variant="primary" size="large" wide icon="check" onClick={() => setDeciding('approve')}>
                Approve <kbd>a</kbd>
              </Button>
              <Button variant="danger" size="large" wide icon="cross" onClick={() => setDeciding('reject')}>
                Reject <kbd>r</kbd>
              </Button>
            </div>
            <SignHere approval={approval} />
          </>
        )}
        <ShareLink approvalId={approval.id} />
      </div>
      {deciding && (
        <DecideDialog
          approvals={[approval]}
          choice={deciding}
          onDecided={() => {
            setDeciding(null)
            goOn()
          }}
          onClose={() => setDeciding(null)}
        />
      )}
    </Card>
  )
}

/** Only where this browser has a wallet to sign with. */
const SignHere = ({ approval }: { approval: Approval }) => {
  const wallets = useWallets()
  const [signing, setSigning] = useState<Choice | null>(null)
  if (wallets.length === 0) return null
  return (
    <div className="stack-xs">
      <p className="quiet small">Or sign with your wallet</p>
      <div className="row">
        <Button size="small" icon="wallet" onClick={() => setSigning('approve')}>
          Sign approval
        </Button>
        <Button size="small" icon="wallet" onClick={() => setSigning('reject')}>
          Sign rejection
        </Button>
      </div>
      {signing && <SignDialog approval={approval} choice={signing} onClose={() => setSigning(null)} />}
    </div>
  )
}

const SignDialog = ({ approval, choice, onClose }: { approval: Approval; choice: Choice; onClose: () => void }) => {
  const after = useAfterDecision()
  return (
    <Dialog title={choice === 'approve' ? 'Sign approval' : 'Sign rejection'} onClose={onClose} wide>
      <SignedText message={approval.signing[choice]} />
      <SignDecision
        id={approval.id}
        choice={choice}
        message={approval.signing[choice]}
        onDecided={(decided) => {
          after([decided])
          onClose()
        }}
      />
    </Dialog>
  )
}
