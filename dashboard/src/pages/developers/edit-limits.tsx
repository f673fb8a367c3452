import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, call } from '../../api/client.ts'
import type { Schemas } from '../../api/types.ts'
import { useBeneficiaries } from '../../api/use-beneficiaries.ts'
import { useSession } from '../../shell/session.tsx'
import { Button, Submit } from '../../ui/button.tsx'
import { type Controls, type ControlsDraft, ControlsFields, controlsOfDraft, draftOfControls } from '../../ui/controls-fields.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Failure } from '../../ui/failure.tsx'
import { announce } from '../../ui/toast.tsx'
import { GrantUsage } from './grant-usage.tsx'

/** What is left empty is removed: a limit that is left out of a change stays. */
const removed = {
  per_payment_limit_minor: null,
  daily_limit_minor: null,
  monthly_limit_minor: null,
  approval_threshold_minor: null,
  payment_types: null,
  beneficiary_ids: null,
  new_payees: null,
  on_duplicate: null,
} as const satisfies Record<keyof Controls, null>

/** The limits of a key's or an agent's grant. */
type Props = {
  grant: Schemas['Grant']
  title: string
  /** A limit that is filled in with a new amount. */
  raised?: Partial<ControlsDraft>
  onClose: () => void
}

export const EditLimits = ({ grant, title, raised, onClose }: Props) => {
  const { currency } = useSession()
  const client = useQueryClient()
  const beneficiaries = useBeneficiaries(grant.spending_controls.beneficiary_ids)
  const [draft, setDraft] = useState(() => ({ ...draftOfControls(grant.spending_controls), ...raised }))
  const controls = controlsOfDraft(draft)
  const save = useMutation({
    mutationFn: () => {
      if (!controls) throw new Error('Correct the amounts first.')
      return call(
        api.PATCH('/v1/accounts/me/grants/{id}', {
          params: { path: { id: grant.id } },
          body: { spending_controls: { ...removed, ...controls } },
        }),
      )
    },
    onSuccess: () => {
      for (const name of ['grants', 'grant', 'api-keys']) void client.invalidateQueries({ queryKey: [name] })
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
          <Submit busy={save.isPending} disabled={!controls}>
            Save limits
          </Submit>
        </>
      }
    >
      <GrantUsage grant={grant} />
      <ControlsFields draft={draft} onChange={setDraft} currency={currency} error={save.error} beneficiaries={beneficiaries} />
      <Failure error={save.error} />
    </Dialog>
  )
}
