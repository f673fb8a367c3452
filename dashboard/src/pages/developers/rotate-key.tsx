import { useState } from 'react'
import { api, type Schemas } from '../../api/queries.ts'
import { SelectField } from '../../ui/field.tsx'
import { FormDialog, useChange } from '../../ui/form.tsx'
import { tAgent } from '../agents/texts.ts'
import { SecretDialog } from './secret-dialog.tsx'

const overlaps = [
  { value: '0', label: tAgent('old.stop') },
  { value: '600', label: tAgent('old.10min') },
  { value: '3600', label: tAgent('old.hour') },
  { value: '86400', label: tAgent('old.day') },
]

/** Creates a key with the same limits. The old key can keep working for a while, so that no program stops. */
export const RotateKey = ({ apiKey: { id, name }, onClose }: { apiKey: Schemas['ApiKey']; onClose: () => void }) => {
  const [overlap, setOverlap] = useState('3600')
  const rotate = useChange(
    (keyed) => api.POST('/v1/accounts/me/api-keys/{id}/rotate', { path: { id }, ...keyed({ overlap_seconds: Number(overlap) }) }),
    { announcement: tAgent('rotated', { name }), invalidates: ['api-keys'] },
  )
  if (rotate.data) return <SecretDialog title={tAgent('new_key_for', { name })} made={rotate.data} onClose={onClose} />
  return (
    <FormDialog title={tAgent('rotate_what', { name })} action={tAgent('rotate.act')} mutation={rotate} onClose={onClose}>
      <p className="muted">{tAgent('rotate.note')}</p>
      <SelectField label={tAgent('old_key')} value={overlap} onChange={setOverlap} options={overlaps} />
    </FormDialog>
  )
}
