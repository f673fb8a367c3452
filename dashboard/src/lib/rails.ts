import type { Schemas } from '../../../client/src/route-types.ts'
import { failureRow, isFailureCode } from '../../../src/errors/failures.ts'
import { type Provider, providerOf, providers, type RailName } from '../../../src/lib/rail-names.ts'
import { payoutWords, providerLabel } from '../../../src/rails/texts.ts'
import { failureText, railText, t } from './language.ts'
import { fullTime } from './time.ts'

export type { RailName }
/** Texts about each rail in the reader's language, from its provider's folder. */
export const railFacts = Object.fromEntries(
  Object.entries(payoutWords).map(([rail, words]) => {
    const own = railText(rail)
    return [rail, { ...words, ...own, destination: { ...words.destination, ...own?.destination } }]
  }),
) as typeof payoutWords

export const isProvider = (text: string): text is Provider => providers.some((provider) => provider === text)

/** Name of a rail's provider: "M-PESA". */
export const providerLabelOf = (rail: RailName): string => providerLabel(providerOf(rail))

export const isRail = (text: string): text is RailName => Object.hasOwn(railFacts, text)

export const rails: readonly RailName[] = Object.keys(railFacts).filter(isRail)

export const railOptions = rails.map((rail) => ({ value: rail, label: railFacts[rail].label }))

/** Label of a payment type: a rail, or the workspace's own type. */
export const typeLabel = (type: string): string => (isRail(type) ? railFacts[type].label : type.replaceAll('_', ' '))

type LabelledBeneficiary = Pick<Schemas['Beneficiary'], 'display_name' | 'payment_rail' | 'destination_mask' | 'created_at'>

const withDestination = ({ display_name: name, payment_rail: rail, destination_mask: mask }: LabelledBeneficiary): string =>
  `${name} (${railFacts[rail].label}, ${mask})`

/** Unique labels for a choice: the name alone if all names are known and it is unique, else with destination, or date added. */
export const beneficiaryLabels = (
  payees: readonly LabelledBeneficiary[],
  areAll: boolean,
): ((payee: LabelledBeneficiary) => string) => {
  const wordings = [...(areAll ? [({ display_name: name }: LabelledBeneficiary) => name] : []), withDestination]
  const uses = new Map<string, number>()
  for (const text of payees.flatMap((payee) => wordings.map((words) => words(payee).toLowerCase())))
    uses.set(text, (uses.get(text) ?? 0) + 1)
  return (payee) =>
    wordings.map((words) => words(payee)).find((text) => (uses.get(text.toLowerCase()) ?? 0) < 2) ??
    t('payee_added', { withDestination: withDestination(payee), at: fullTime(payee.created_at) })
}

type Payment = Schemas['Payment']

/** Reason for a failure in the service's words, never a code. */
export const failureReason = (payment: Payment): string =>
  failureText(payment.failure_code)?.sentence ??
  payment.failure_message ??
  t('not_accepted', { providerOf: providerLabelOf(payment.payment_rail) })

/** Remedy for a failed payment or top-up; empty for an unknown code. */
export const failureRemedy = ({ failure_code: code }: { failure_code: string | null }): string => {
  if (code === null || !isFailureCode(code)) return ''
  const { actor, fix } = failureRow(code)
  return actor === 'operator' ? t('contact_support') : (failureText(code)?.fix ?? fix)
}
