import { useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { QrCode } from '../../ui/qr-code.tsx'

/** A link to a page without sign-in, for the device that has the approver's wallet. */
export const ShareLink = ({ approvalId }: { approvalId: string }) => {
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
