import type { Beneficiaries } from '../api/use-beneficiaries.ts'
import { railOptions } from '../lib/rails.ts'
import { PickMany } from './pick-many.tsx'

type Props = { chosen: readonly string[]; onChange: (chosen: string[]) => void; hint?: string }

/** Archived beneficiaries are not offered: nothing can be paid to them. */
export const BeneficiariesField = ({ beneficiaries, ...field }: Props & { beneficiaries: Beneficiaries }) => (
  <PickMany
    label="Only to these beneficiaries"
    placeholder="Choose a beneficiary"
    onType={beneficiaries.search}
    nameOf={beneficiaries.nameOf}
    options={beneficiaries.all
      .filter(({ status }) => status !== 'archived')
      .map(({ id, display_name }) => ({ value: id, label: display_name }))}
    {...field}
  />
)

/** A payment method, or a type of the workspace's own. */
export const PaymentTypesField = (field: Props) => (
  <PickMany label="Only these payment types" placeholder="Choose or type" free options={railOptions} {...field} />
)
