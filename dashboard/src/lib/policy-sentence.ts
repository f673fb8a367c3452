import { countWords, listWords } from './list-words.ts'
import { moneyText } from './money.ts'
import { typeLabel } from './rails.ts'

export type PolicyTerms = {
  payment_types: readonly string[]
  beneficiary_ids: readonly string[]
  per_payment_limit_minor: string | null
  daily_limit_minor: string | null
  monthly_limit_minor: string | null
  approval_threshold_minor: string | null
  required_approval_count: number
  separation_of_duties: boolean
}

type Names = { currency: string; nameOf: (beneficiaryId: string) => string }

const scopeWords = ({ payment_types: types, beneficiary_ids: beneficiaries }: PolicyTerms, { nameOf }: Names): string => {
  const by = types.length > 0 ? ` of type ${listWords(types.map(typeLabel), 'or')}` : ''
  const to = beneficiaries.length > 0 ? ` to ${listWords(beneficiaries.map(nameOf), 'or')}` : ''
  return `Every payment${by}${to}`
}

const limitWords = (terms: PolicyTerms, currency: string): string[] => {
  const money = (minor: string) => moneyText(minor, currency)
  return [
    ...(terms.per_payment_limit_minor !== null ? [`${money(terms.per_payment_limit_minor)} per payment`] : []),
    ...(terms.daily_limit_minor !== null ? [`${money(terms.daily_limit_minor)} a day`] : []),
    ...(terms.monthly_limit_minor !== null ? [`${money(terms.monthly_limit_minor)} a month`] : []),
  ]
}

const approvalWords = (terms: PolicyTerms, currency: string): string | null => {
  if (terms.required_approval_count === 0) return null
  const people = countWords(terms.required_approval_count, 'approval')
  const others = terms.separation_of_duties ? ' from someone other than the requester' : ''
  if (terms.approval_threshold_minor === null) return `needs ${people}${others}`
  return `needs ${people}${others} at or above ${moneyText(terms.approval_threshold_minor, currency)}`
}

/** What a policy means, in one sentence. */
export const policySentence = (terms: PolicyTerms, names: Names): string => {
  const limits = limitWords(terms, names.currency)
  const approval = approvalWords(terms, names.currency)
  const stopped = [terms.per_payment_limit_minor, terms.daily_limit_minor, terms.monthly_limit_minor].includes('0')
  const scope = scopeWords(terms, names)
  if (stopped) return `${scope} is refused: a limit of zero lets nothing through.`
  const parts = [...(limits.length > 0 ? [`is limited to ${listWords(limits)}`] : []), ...(approval ? [approval] : [])]
  if (parts.length === 0)
    return terms.separation_of_duties
      ? `${scope} that needs approval must get it from someone other than the requester.`
      : `${scope} is allowed. This policy has no limits yet.`
  return `${scope} ${parts.join(', and ')}.`
}
