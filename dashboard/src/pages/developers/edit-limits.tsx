import { useState } from 'react'
import { api, call } from '../../api/client.ts'
import type { Schemas } from '../../api/types.ts'
import { useBeneficiaries } from '../../api/use-beneficiaries.ts'
import { useSession } from '../../shell/session.tsx'
import { type Controls, type ControlsDraft, ControlsFields, controlsOfDraft, draftOfControls } from '../../ui/controls-fields.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { useChange } from '../../ui/use-change.ts'
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
  const beneficiaries = useBeneficiaries(grant.spending_controls.beneficiary_ids)
  const [draft, setDraft] = useState(() => ({ ...draftOfControls(grant.spending_controls), ...raised }))
  const controls = controlsOfDraft(draft)
  const save = useChange(
    () =>
      call(
        api.PATCH('/v1/accounts/me/grants/{id}', {
          params: { path: { id: grant.id } },
          body: { spending_controls: { ...removed, ...controls } },
        }),
      ),
    { announcement: 'Limits saved', outdates: ['grants', 'grant', 'api-keys'], onDone: onClose },
  )
  return (
    <FormDialog
      title={title}
      wide
      action="Save limits"
      making={save}
      ready={controls !== null}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      <GrantUsage grant={grant} />
      <ControlsFields draft={draft} onChange={setDraft} currency={currency} error={save.error} beneficiaries={beneficiaries} />
    </FormDialog>
  )
}
