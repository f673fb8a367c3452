import type { RuleAnswer } from '../lib/policy-answers.ts'
import type { PolicyField, PolicyWire } from './fields.ts'

/** Formats amounts (minor units), beneficiaries (by id) and payment types for the reader. */
export type Names = {
  money: (minor: string) => string
  nameOf: (beneficiaryId: string) => string
  typeName: (type: string) => string
  /** Name of the only key or agent whose payments the policy binds; null: everyone's. */
  boundTo: string | null
}

type Phrase = (terms: PolicyWire, names: Names) => string | null

/** A field's position in the sentence: "Every payment [by …] [of type …] [to …] is limited to [limit], [limit], and [clause]." */
type Slot = 'type' | 'payee' | 'limit' | 'clause'

const joinWords = (items: readonly string[], last: string): string =>
  items.length < 2 ? (items[0] ?? '') : `${items.slice(0, -1).join(', ')} ${last} ${items.at(-1)}`

const approverConditions = (count: number, { separation_of_duties: separate, approval_proof: proof }: PolicyWire): string => {
  const others = ` from ${count === 1 ? 'someone' : 'people'} other than the requester`
  return `${proof === 'signature' ? ' by passkey or wallet' : ''}${separate ? others : ''}`
}

export const approvals = (count: number, terms: PolicyWire): string =>
  `${count === 1 ? '1 approval' : `${count} approvals`}${approverConditions(count, terms)}`

const approvedBy = ({ separation_of_duties: separate, approval_proof: proof }: PolicyWire): string => {
  const means = proof === 'signature' ? ' by passkey or wallet' : ''
  return separate ? ` by someone other than the requester${means && ' with a passkey or wallet'}` : means
}

const units = [
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
] as const

/** "hour", "7 days", "90 minutes". */
export const duration = (seconds: number): string => {
  const [size, unit] = units.find(([candidate]) => seconds % candidate === 0) ?? [1, 'second']
  return seconds === size ? unit : `${seconds / size} ${unit}s`
}

const asksForApproval = (terms: PolicyWire): boolean =>
  terms.required_approval_count > 0 ||
  terms.approval_threshold_minor !== null ||
  terms.on_duplicate === 'require_approval' ||
  terms.new_payees === 'require_approval' ||
  terms.payee_verification === 'require_approval'

const approvalClause: Phrase = (terms, { money }) => {
  const { approval_threshold_minor: threshold, required_approval_count: count } = terms
  if (threshold !== null) return `needs ${approvals(Math.max(1, count), terms)} at or above ${money(threshold)}`
  return count > 0 ? `needs ${approvals(count, terms)}` : null
}

/** Null for an answer that stops no payment. */
const stopClause = (terms: PolicyWire, answer: RuleAnswer | null, condition: string): string | null => {
  if (answer === 'deny') return `is refused ${condition}`
  const needed = Math.max(1, terms.required_approval_count)
  return answer === 'require_approval' ? `needs ${approvals(needed, terms)} ${condition}` : null
}

const duplicateClause: Phrase = (terms) => {
  const { duplicate_window_seconds: window, on_duplicate: answer } = terms
  if (window === null && answer === null) return null
  if (window === 0) return 'never counts as a duplicate'
  const [recent, from] = window === null ? ['recent ', ''] : ['', ` from the last ${duration(window)}`]
  const repeats = `if it repeats the amount and reference of a ${recent}payment to the same beneficiary${from}`
  if (answer === 'confirm') return `is refused ${repeats}, unless the request confirms a second payment`
  return stopClause(terms, answer, repeats) ?? `gets a warning ${repeats}`
}

const newPayeeClause: Phrase = (terms) =>
  stopClause(terms, terms.new_payees, 'if a key or an agent created or renamed its beneficiary and no person has confirmed it')

const verificationClause: Phrase = (terms) => {
  const { payee_verification: answer } = terms
  const unlessConfirmed = 'unless the payment method confirms the name of its beneficiary'
  if (answer === 'warn') return `gets a warning ${unlessConfirmed}`
  if (answer === 'off') return 'gets no warning about the name that the payment method reports'
  return stopClause(terms, answer, unlessConfirmed)
}

const fieldPhrases: { readonly [Field in PolicyField]: { slot: Slot; say: Phrase } | { saidWith: PolicyField } } = {
  paymentTypes: {
    slot: 'type',
    say: ({ payment_types: types }, { typeName }) => (types.length > 0 ? joinWords(types.map(typeName), 'or') : null),
  },
  beneficiaryIds: {
    slot: 'payee',
    say: ({ beneficiary_ids: ids }, { nameOf }) => (ids.length > 0 ? joinWords(ids.map(nameOf), 'or') : null),
  },
  perPaymentLimitMinor: {
    slot: 'limit',
    say: ({ per_payment_limit_minor: limit }, { money }) => limit && `${money(limit)} per payment`,
  },
  dailyLimitMinor: { slot: 'limit', say: ({ daily_limit_minor: limit }, { money }) => limit && `${money(limit)} a day` },
  monthlyLimitMinor: { slot: 'limit', say: ({ monthly_limit_minor: limit }, { money }) => limit && `${money(limit)} a month` },
  totalLimitMinor: { slot: 'limit', say: ({ total_limit_minor: limit }, { money }) => limit && `${money(limit)} in all` },
  approvalThresholdMinor: { slot: 'clause', say: approvalClause },
  requiredApprovalCount: { saidWith: 'approvalThresholdMinor' },
  separationOfDuties: {
    // If the policy itself requires an approval, the approval clause includes these requirements.
    slot: 'clause',
    say: (terms) =>
      approverConditions(1, terms) !== '' && !asksForApproval(terms)
        ? `must be approved${approvedBy(terms)} if another rule requires approval`
        : null,
  },
  approvalProof: { saidWith: 'separationOfDuties' },
  approverIds: {
    slot: 'clause',
    say: ({ approver_ids: ids }) =>
      ids?.length ? `can be approved only by the ${ids.length === 1 ? 'person' : `${ids.length} people`} it names` : null,
  },
  duplicateWindowSeconds: { saidWith: 'onDuplicate' },
  onDuplicate: { slot: 'clause', say: duplicateClause },
  newPayees: { slot: 'clause', say: newPayeeClause },
  payeeVerification: { slot: 'clause', say: verificationClause },
}

const limitFields = ['per_payment_limit_minor', 'daily_limit_minor', 'monthly_limit_minor', 'total_limit_minor'] as const

/** A sentence about all fields of a policy, shown on the dashboard. */
export const policySentence = (terms: PolicyWire, names: Names): string => {
  const said = (slot: Slot): string[] =>
    Object.values(fieldPhrases).flatMap((part) => ('slot' in part && part.slot === slot ? (part.say(terms, names) ?? []) : []))
  const [type] = said('type')
  const [payee] = said('payee')
  const by = names.boundTo === null ? '' : ` by “${names.boundTo}” and the keys below it`
  const scope = `Every payment${by}${type === undefined ? '' : ` of type ${type}`}${payee === undefined ? '' : ` to ${payee}`}`
  if (limitFields.some((field) => terms[field] === '0')) return `${scope} is refused: a limit of zero allows no payment.`
  const limits = said('limit')
  const clauses = [...(limits.length > 0 ? [`is limited to ${joinWords(limits, 'and')}`] : []), ...said('clause')]
  if (clauses.length === 0) return `${scope} is allowed. This policy has no limits yet.`
  const last = clauses.pop()
  return `${scope} ${clauses.length > 0 ? `${clauses.join(', ')}, and ` : ''}${last}.`
}
