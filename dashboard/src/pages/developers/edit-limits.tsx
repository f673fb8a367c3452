import { useState } from 'react'
import { useBeneficiaries } from '../../api/names.ts'
import { api, type Schemas } from '../../api/queries.ts'
import { type Controls, controlsFromDraft, controlsToDraft, raisedByLink } from '../../lib/spending-draft.ts'
import { useSession } from '../../shell/session.tsx'
import { FormDialog, useChange } from '../../ui/form.tsx'
import { ControlsFields } from '../../ui/limits.tsx'
import { tAgent } from '../agents/texts.ts'
import { GrantUsage } from './grant-view.tsx'

/** PATCH keeps an omitted limit, so a limit that was left empty is sent as null. */
const noControls = {
  per_payment_limit_minor: null,
  daily_limit_minor: null,
  monthly_limit_minor: null,
  total_limit_minor: null,
  approval_threshold_minor: null,
  payment_types: null,
  beneficiary_ids: null,
  new_payees: null,
  on_duplicate: null,
} as const satisfies Record<keyof Controls, null>

type LimitsProps = {
  grant: Schemas['Grant']
  title: string
  /** Amounts that a link proposes. */
  raise: string | null
  onClose: () => void
}

export const EditLimits = ({ grant, title, raise, onClose }: LimitsProps) => {
  const { currency } = useSession()
  const beneficiaries = useBeneficiaries(grant.spending_controls.beneficiary_ids)
  const [draft, setDraft] = useState(() => raisedByLink(controlsToDraft(grant.spending_controls), raise))
  const controls = controlsFromDraft(draft)
  const save = useChange(
    () =>
      api.PATCH('/v1/accounts/me/grants/{id}', {
        path: { id: grant.id },
        body: { spending_controls: { ...noControls, ...controls } },
      }),
    { announcement: tAgent('limits_saved'), invalidates: ['grants', 'grant', 'api-keys'], onDone: onClose },
  )
  return (
    <FormDialog title={title} wide action={tAgent('save_limits')} mutation={save} ready={controls !== null} onClose={onClose}>
      <GrantUsage grant={grant} />
      <ControlsFields draft={draft} onChange={setDraft} currency={currency} error={save.error} beneficiaries={beneficiaries} />
    </FormDialog>
  )
}
