import { useState } from 'react'
import { api, call } from '../../api/client.ts'
import type { Schemas } from '../../api/types.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { SelectField } from '../../ui/field.tsx'
import { useChange } from '../../ui/use-change.ts'
import { SecretDialog } from './secret-dialog.tsx'

const overlaps = [
  { value: '0', label: 'Stop it right away' },
  { value: '600', label: 'Keep for 10 minutes' },
  { value: '3600', label: 'Keep for 1 hour' },
  { value: '86400', label: 'Keep for 1 day' },
]

/** A new key on the same limits; the old one may work a little longer, so that nothing stops in between. */
export const RotateKey = ({ apiKey: { id, name }, onClose }: { apiKey: Schemas['ApiKey']; onClose: () => void }) => {
  const [overlap, setOverlap] = useState('3600')
  const rotate = useChange(
    (keyFor) => {
      const body = { overlap_seconds: Number(overlap) }
      return call(api.POST('/v1/accounts/me/api-keys/{id}/rotate', { params: { path: { id } }, body, headers: keyFor(body) }))
    },
    { announcement: `${name} rotated`, outdates: ['api-keys'] },
  )
  if (rotate.data) return <SecretDialog title={`New key for ${name}`} made={rotate.data} onClose={onClose} />
  return (
    <FormDialog title={`Rotate ${name}`} action="Rotate" making={rotate} onSubmit={() => rotate.mutate()} onClose={onClose}>
      <p className="quiet">You get a new key with the same permissions, limits and usage.</p>
      <SelectField label="Old key" value={overlap} onChange={setOverlap} options={overlaps} />
    </FormDialog>
  )
}
