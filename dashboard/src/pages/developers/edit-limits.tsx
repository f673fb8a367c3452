import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, call } from '../../api/client.ts'
import type { Schemas } from '../../api/types.ts'
import { useBeneficiaries } from '../../api/use-beneficiaries.ts'
import { useSession } from '../../shell/session.tsx'
import { Button } from '../../ui/button.tsx'
import { ControlsFields, controlsOfDraft, draftOfControls } from '../../ui/controls-fields.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Failure } from '../../ui/failure.tsx'
import { CheckField } from '../../ui/field.tsx'
import { announce } from '../../ui/toast.tsx'
import { GrantUsage } from './grant-usage.tsx'

/** The limits of a key's or an agent's grant, and the brake on it. */
export const EditLimits = ({ grant, title, onClose }: { grant: Schemas['Grant']; title: string; onClose: () => void }) => {
  const { currency } = useSession()
  const client = useQueryClient()
  const beneficiaries = useBeneficiaries()
  const [draft, setDraft] = useState(() => draftOfControls(grant.spending_controls))
  const [frozen, setFrozen] = useState(grant.frozen)
  const controls = controlsOfDraft(draft)
  const save = useMutation({
    mutationFn: () => {
      if (!controls) throw new Error('An amount in the form can’t be read.')
      return call(
        api.PATCH('/v1/accounts/me/grants/{id}', {
          params: { path: { id: grant.id } },
          body: { spending_controls: controls, frozen },
        }),
      )
    },
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: ['grants'] })
      void client.invalidateQueries({ queryKey: ['api-keys'] })
      announce('Limits saved')
      onClose()
    },
  })
  return (
    <Dialog
      title={title}
      wide
      onClose={onClose}
      onSubmit={() => {
        if (controls && !save.isPending) save.mutate()
      }}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" busy={save.isPending} disabled={!controls}>
            Save limits
          </Button>
        </>
      }
    >
      <GrantUsage grant={grant} currency={currency} />
      <ControlsFields draft={draft} onChange={setDraft} currency={currency} error={save.error} beneficiaries={beneficiaries} />
      <CheckField label="Freeze" hint="It may still read, but move no money." checked={frozen} onChange={setFrozen} />
      <Failure error={save.error} />
    </Dialog>
  )
}
