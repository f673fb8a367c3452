import { useState } from 'react'
import type { Schemas } from '../../api/types.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Card } from '../../ui/layout.tsx'
import { QrCode } from '../../ui/qr-code.tsx'
import { useWallets } from '../../wallet/discovery.ts'
import { useHindrance } from './decide.tsx'
import type { Choice } from './decided-words.ts'
import { PasteSignature, SignDecision, SignedText } from './sign-decision.tsx'
import { useAfterDecision } from './use-decide.ts'

/** A link to a page without sign-in, for the device that has the approver's wallet. */
const ShareLink = ({ approvalId }: { approvalId: string }) => {
  const [open, setOpen] = useState(false)
  const link = `${location.origin}/approve/${approvalId}`
  return (
    <div className="stack-xs">
      <p className="quiet small">Share a signing link (no login needed)</p>
      <div className="row">
        <CopyButton value={link}>Copy link</CopyButton>
        <Button size="small" icon="qr" onClick={() => setOpen(true)}>
          QR code
        </Button>
      </div>
      {open && (
        <Dialog title="Sign on a phone" onClose={() => setOpen(false)}>
          <p className="quiet">Scan it with the phone your wallet is on. The page shows the payment and asks for a signature.</p>
          <QrCode text={link} label="Signing link as a QR code" />
        </Dialog>
      )}
    </div>
  )
}

type Approval = Schemas['Approval']

/** A wallet's signature, here or by a link. */
export const OtherWays = ({ approval }: { approval: Approval }) => {
  const hindrance = useHindrance(approval)
  return (
    <Card title="Other ways to decide">
      <div className="stack">
        {!hindrance && <SignHere approval={approval} />}
        <ShareLink approvalId={approval.id} />
      </div>
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
      <p className="quiet small">Sign with your wallet</p>
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
  const signing = {
    id: approval.id,
    messages: { [choice]: approval.signing[choice] },
    onDecided: (decided: Approval) => {
      after([decided])
      onClose()
    },
  }
  return (
    <Dialog title={choice === 'approve' ? 'Sign approval' : 'Sign rejection'} onClose={onClose} wide>
      <SignedText message={approval.signing[choice]} />
      <SignDecision {...signing} />
      <PasteSignature {...signing} />
    </Dialog>
  )
}
