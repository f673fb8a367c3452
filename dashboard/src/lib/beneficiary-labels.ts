import type { Schemas } from '../../../client/src/route-types.ts'
import { t } from './language.ts'
import { railFacts } from './rails.ts'
import { fullTime } from './time.ts'

type LabelledBeneficiary = Pick<Schemas['Beneficiary'], 'display_name' | 'payment_rail' | 'destination_mask' | 'created_at'>
const withDestination = ({ display_name: name, payment_rail: rail, destination_mask: mask }: LabelledBeneficiary): string =>
  `${name} (${railFacts[rail].label}, ${mask})`

/**
 * A label for each beneficiary that no other one has: the name; if it repeats, or if more exist than are loaded, the name with
 * the destination; if that repeats, with the date too.
 */
export const beneficiaryLabels = (
  payees: readonly LabelledBeneficiary[],
  isComplete: boolean,
): ((payee: LabelledBeneficiary) => string) => {
  const labelForms = [...(isComplete ? [({ display_name: name }: LabelledBeneficiary) => name] : []), withDestination]
  const countOf = new Map<string, number>()
  for (const text of payees.flatMap((payee) => labelForms.map((form) => form(payee).toLowerCase())))
    countOf.set(text, (countOf.get(text) ?? 0) + 1)
  return (payee) =>
    labelForms.map((form) => form(payee)).find((text) => (countOf.get(text.toLowerCase()) ?? 0) < 2) ??
    t('payee_added', { label: withDestination(payee), at: fullTime(payee.created_at) })
}
