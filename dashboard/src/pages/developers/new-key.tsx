import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { defaultKeyPermissions, effectivePermissions, type Permission } from '../../../../src/auth/permissions.ts'
import { api, call } from '../../api/client.ts'
import { useBeneficiaries } from '../../api/use-beneficiaries.ts'
import { now } from '../../lib/clock.ts'
import { useIdempotencyKey } from '../../lib/idempotency.ts'
import { useSession } from '../../shell/session.tsx'
import { Button } from '../../ui/button.tsx'
import { ControlsFields, controlsOfDraft, draftOfControls } from '../../ui/controls-fields.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Failure, fieldError } from '../../ui/failure.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { announce } from '../../ui/toast.tsx'
import { PermissionChecks } from './permission-checks.tsx'
import { ShownOnce } from './shown-once.tsx'

const lifetimes = [
  { value: '', label: 'Until it is revoked' },
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: 'A year' },
]

export const NewKey = ({ onClose }: { onClose: () => void }) => {
  const { membership, currency, workspace } = useSession()
  const client = useQueryClient()
  const keyFor = useIdempotencyKey()
  const beneficiaries = useBeneficiaries()
  const own = effectivePermissions(membership.role, null)
  const [name, setName] = useState('')
  const [days, setDays] = useState('90')
  const [permissions, setPermissions] = useState<Permission[]>(() => defaultKeyPermissions(own))
  const [limits, setLimits] = useState(() => draftOfControls({}))
  const [expiry] = useState(() => now())
  const controls = controlsOfDraft(limits)
  const create = useMutation({
    mutationFn: () => {
      const body = {
        name: name.trim(),
        permissions,
        ...(controls && { spending_controls: controls }),
        ...(days && { expires_at: new Date(expiry + Number(days) * 86_400_000).toISOString() }),
      }
      return call(api.POST('/v1/accounts/me/api-keys', { body, headers: keyFor(body) }))
    },
    onSuccess: (created) => {
      void client.invalidateQueries({ queryKey: ['api-keys'] })
      void client.invalidateQueries({ queryKey: ['grants'] })
      announce(`${created.name} made`)
    },
  })
  if (create.data)
    return <ShownOnce title={create.data.name} value={create.data.key ?? 'The key was shown before.'} onClose={onClose} />
  const ready = name.trim() !== '' && permissions.length > 0 && controls !== null
  return (
    <Dialog
      title="New API key"
      wide
      onClose={onClose}
      onSubmit={() => {
        if (ready && !create.isPending) create.mutate()
      }}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" busy={create.isPending} disabled={!ready}>
            Make the key
          </Button>
        </>
      }
    >
      <p className="quiet">It acts for you in {workspace.name}, and only there.</p>
      <div className="columns">
        <TextField
          label="Name"
          value={name}
          onChange={setName}
          maxLength={120}
          placeholder="For example: payroll script"
          error={fieldError(create.error, 'name')}
        />
        <SelectField
          label="Lasts"
          value={days}
          onChange={setDays}
          options={lifetimes}
          error={fieldError(create.error, 'expires_at')}
        />
      </div>
      <details>
        <summary className="strong">What it may do ({permissions.length})</summary>
        <PermissionChecks offered={[...own]} chosen={permissions} onChange={setPermissions} />
      </details>
      <div className="stack-s">
        <h3>What it may spend</h3>
        <ControlsFields
          draft={limits}
          onChange={setLimits}
          currency={currency}
          error={create.error}
          beneficiaries={beneficiaries}
        />
      </div>
      <Failure error={create.error} />
    </Dialog>
  )
}
