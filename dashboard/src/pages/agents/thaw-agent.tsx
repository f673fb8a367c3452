import { Confirm } from '../../ui/confirm.tsx'
import { type FreezeProps, freezeOutdates, setFrozen } from './freeze-call.ts'

export const ThawAgent = ({ id, label, own, onClose }: FreezeProps) => (
  <Confirm
    title={`Unfreeze ${label}?`}
    action="Unfreeze"
    harmless
    change={() => setFrozen(id, own, false)}
    announcement={() => `${label} unfrozen`}
    outdates={freezeOutdates}
    onClose={onClose}
  >
    <p>It can make payments again, within its limits.</p>
  </Confirm>
)
