import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { Failure } from './failure.tsx'

type ConfirmProps = {
  title: string
  children: ReactNode
  action: string
  /** The label of the other button, where "Cancel" could mean the action itself. */
  keep?: string
  busy: boolean
  error: unknown
  onConfirm: () => void
  onClose: () => void
  harmless?: boolean
}

/** Confirms an action that can't be undone, and says what it does. */
export const Confirm = ({
  title,
  children,
  action,
  keep = 'Cancel',
  busy,
  error,
  onConfirm,
  onClose,
  harmless = false,
}: ConfirmProps) => (
  <Dialog
    title={title}
    onClose={onClose}
    onSubmit={onConfirm}
    footer={
      <>
        <Button onClick={onClose}>{keep}</Button>
        <Button type="submit" variant={harmless ? 'primary' : 'red'} busy={busy}>
          {action}
        </Button>
      </>
    }
  >
    <div className="quiet">{children}</div>
    <Failure error={error} />
  </Dialog>
)
