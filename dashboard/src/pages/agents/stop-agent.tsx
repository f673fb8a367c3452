import { Confirm } from '../../ui/confirm.tsx'
import { type FreezeProps, freezeOutdates, setFrozen } from './freeze-call.ts'

/** Freezing can be undone; revoking can't. */
export const StopAgent = ({ id, label, own, onClose }: FreezeProps) => (
  <Confirm
    title={`Freeze ${label}?`}
    action="Freeze"
    change={() => setFrozen(id, own, true)}
    announcement={() => `${label} frozen`}
    outdates={freezeOutdates}
    onClose={onClose}
  >
    <p>It can still read, but it can’t move money until it is unfrozen. Payments already sent still arrive.</p>
  </Confirm>
)
