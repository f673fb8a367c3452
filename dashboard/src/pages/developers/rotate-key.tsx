import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, call } from '../../api/client.ts'
import type { Schemas } from '../../api/types.ts'
import { useIdempotencyKey } from '../../lib/idempotency.ts'
import { Button, Submit } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Failure } from '../../ui/failure.tsx'
import { SelectField } from '../../ui/field.tsx'
import { announce } from '../../ui/toast.tsx'
import { SecretDialog } from './secret-dialog.tsx'

const overlaps = [
  { value: '0', label: 'Stop it right away' },
  { value: '600', label: 'Keep for 10 minutes' },
  { value: '3600', label: 'Keep for 1 hour' },
  { value: '86400', label: 'Keep for 1 day' },
]

/** A new key on the same limits; the old one may work a little longer, so that nothing stops in between. */
export const RotateKey = ({ apiKey, onClose }: { apiKey: Schemas['ApiKey']; onClose: () => void }) => {
  const client = useQueryClient()
  const keyFor = useIdempotencyKey()
  const [overlap, setOverlap] = useState('3600')
  const rotate = useMutation({
    mutationFn: () => {
      const body = { overlap_seconds: Number(overlap) }
      return call(
        api.POST('/v1/accounts/me/api-keys/{id}/rotate', { params: { path: { id: apiKey.id } }, body, headers: keyFor(body) }),
      )
    },
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: ['api-keys'] })
      announce(`${apiKey.name} rotated`)
    },
  })
  if (rotate.data) return <SecretDialog title={`New key for ${apiKey.name}`} made={rotate.data} onClose={onClose} />
  return (
    <Dialog
      title={`Rotate ${apiKey.name}`}
      onClose={onClose}
      onSubmit={() => {
        if (!rotate.isPending) rotate.mutate()
      }}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Submit busy={rotate.isPending}>Rotate</Submit>
        </>
      }
    >
      <p className="quiet">You get a new key with the same permissions, limits and usage.</p>
      <SelectField label="Old key" value={overlap} onChange={setOverlap} options={overlaps} />
      <Failure error={rotate.error} />
    </Dialog>
  )
}
