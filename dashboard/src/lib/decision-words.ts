import type { Schemas } from '../api/types.ts'
import { countWords } from './list-words.ts'
import { compareMinor, moneyText } from './money.ts'
import { typeLabel } from './rails.ts'
import { shortTime } from './time.ts'

export type Decision = Schemas['Decision']
export type TraceEntry = Decision['trace'][number]

const kinds: Readonly<Record<TraceEntry['source']['kind'], string>> = {
  policy: 'Policy',
  grant: 'Limits of',
  mandate: 'Mandate',
  capability: 'Account',
  rail: 'Payment method',
}

/** "Policy “Office”": whose rule it is. */
export const sourceWords = ({ source, rule }: Pick<TraceEntry, 'source' | 'rule'>): string => {
  const { kind, name } = source
  if (rule === 'eligible_approvers') return 'Approvers'
  if (kind === 'capability') return 'Account'
  if (kind === 'rail') return name ? typeLabel(name) : kinds.rail
  return name ? `${kinds[kind]} “${name}”` : kinds[kind]
}

const approvals = (count: number): string => countWords(count, 'approval')
const people = (count: number): string => (count === 0 ? 'no one can' : countWords(count, 'person can', 'people can'))

type Words = { limit: string; used: string; requested: string; resets: string; entry: TraceEntry }
type Phrase = (words: Words) => string

const over =
  (period: string): Phrase =>
  ({ limit, used, requested, resets, entry }) =>
    entry.outcome === 'allow'
      ? `${requested} fits: ${used} of ${limit} used ${period}.`
      : `${requested} is too much: ${used} of ${limit} used ${period}. Resets ${resets}.`

const yesNo =
  (yes: string, no: string): Phrase =>
  ({ entry }) =>
    entry.outcome === 'allow' ? yes : no

const perPayment: Phrase = ({ limit, requested, entry }) =>
  entry.outcome === 'allow'
    ? `${requested} is within the per-payment limit of ${limit}.`
    : `${requested} is over the per-payment limit of ${limit}.`

/** Every rule of the service in plain words, also those of payment methods and freezes. */
const phrases: Readonly<Record<string, Phrase>> = {
  payments: yesNo('Payments are enabled.', 'Payments are disabled for the account that pays.'),
  per_payment_limit: perPayment,
  daily_limit: over('today'),
  monthly_limit: over('this month'),
  approval_threshold: ({ limit, requested, entry }) =>
    entry.required_approvals
      ? `${requested} is at or above ${limit}: ${approvals(entry.required_approvals)} required.`
      : `${requested} is below ${limit}, where approval starts.`,
  required_approval_count: ({ entry }) => `Every payment requires ${approvals(entry.required_approvals ?? 1)}.`,
  payment_types: yesNo('This payment type is allowed.', 'This payment type is not allowed.'),
  beneficiary_ids: yesNo('This beneficiary is allowed.', 'This beneficiary is not allowed.'),
  mandate_status: yesNo('The mandate is active.', 'The mandate is no longer active.'),
  mandate_window: yesNo('The mandate is valid now.', 'The mandate is not valid at this time.'),
  mandate_workspace: yesNo('The mandate is for this workspace.', 'The mandate is for another workspace.'),
  mandate_initiator: yesNo('The mandate covers this requester.', 'The mandate does not cover this requester.'),
  mandate_payment_types: yesNo('The mandate allows this payment type.', 'The mandate does not allow this payment type.'),
  mandate_beneficiary_ids: yesNo('The mandate allows this beneficiary.', 'The mandate does not allow this beneficiary.'),
  mandate_per_payment: perPayment,
  mandate_total: ({ limit, used, requested, entry }) =>
    entry.outcome === 'allow'
      ? `${requested} fits: ${used} of ${limit} used.`
      : `${requested} is too much: ${used} of ${limit} used.`,
  mandate_max_payments: yesNo('The mandate has payments left.', 'The mandate has no payments left.'),
  mandate_signer: yesNo('Its signer can approve this payment.', 'Its signer can’t approve this payment.'),
  eligible_approvers: ({ entry }) =>
    entry.outcome === 'allow'
      ? `${countWords(entry.eligible_approvers ?? 0, 'person', 'people')} can approve.`
      : `${approvals(entry.required_approvals ?? 0)} required, but ${people(entry.eligible_approvers ?? 0)} approve.`,
  amount_minor: () => 'This payment method can’t send this amount. Check its minimum and maximum, and whole shillings.',
  account_reference: () => 'The account reference is missing or too long.',
  payment_type: () => 'The payment type is another payment method than the beneficiary’s.',
  possible_duplicate: () => 'A payment of the same amount to the same beneficiary was made recently.',
  workspace_frozen: () => 'The workspace is frozen.',
  account_frozen: () => 'The account that pays is frozen.',
  grant_frozen: () => 'This key or agent is frozen.',
  beneficiary_frozen: () => 'Payments to this beneficiary are frozen.',
  capability_disabled: () => 'Payments are disabled for this account.',
  conflict: () => 'The beneficiary is archived.',
  provider_not_configured: () => 'This payment method is not set up.',
}

const unnamed: Phrase = yesNo('A further check passed.', 'A further check did not pass.')

export const traceWords = (entry: TraceEntry, currency: string): string => {
  const money = (minor: string | undefined) => moneyText(minor ?? '0', currency)
  return (phrases[entry.rule] ?? unnamed)({
    limit: money(entry.limit_minor),
    used: money(entry.used_minor),
    requested: money(entry.requested_minor),
    resets: entry.resets_at ? shortTime(entry.resets_at) : 'later',
    entry,
  })
}

/** The service's explanation of a decision, with times in this machine's time zone. */
export const decisionReason = ({ explanation }: Pick<Decision, 'explanation'>): string =>
  explanation.replace(/\bat (\d{4}-\d\d-\d\dT[\d:.]+Z)/g, (_match, instant: string) => shortTime(instant))

const hardLimits = new Set(['per_payment_limit', 'daily_limit', 'monthly_limit', 'mandate_per_payment', 'mandate_total'])

const ruleNames: Readonly<Record<string, string>> = {
  per_payment_limit: 'per-payment limit',
  daily_limit: 'daily limit',
  monthly_limit: 'monthly limit',
  approval_threshold: 'approval threshold',
  required_approval_count: 'number of approvals',
}

/** What the hard limits leave: the largest amount that could be sent with approval. */
const mostWithApproval = (trace: Decision['trace']): string | null => {
  const rooms = trace.flatMap(({ rule, limit_minor: limit, used_minor: used }) => {
    if (limit === undefined || !hardLimits.has(rule)) return []
    return [rule === 'per_payment_limit' || rule === 'mandate_per_payment' ? BigInt(limit) : BigInt(limit) - BigInt(used ?? '0')]
  })
  const least = rooms.reduce<bigint | null>((lowest, room) => (lowest === null || room < lowest ? room : lowest), null)
  return least !== null && least > 0n ? least.toString() : null
}

/** The smallest changes that would let it pass. The amount that passes without approval may be less than what could be sent with it. */
export const remedyWords = ({ remedy, trace }: Pick<Decision, 'remedy' | 'trace'>, currency: string): string[] => {
  if (!remedy) return []
  const most = mostWithApproval(trace)
  const least = remedy.max_amount_minor
  const more = most !== null && (least === null || compareMinor(most, least) > 0)
  return [
    ...(least ? [`${moneyText(least, currency)} or less would go through now${more ? ' without approval' : ''}.`] : []),
    ...(more ? [`Up to ${moneyText(most, currency)} would go through with approval.`] : []),
    ...(remedy.passes_at ? [`This amount goes through ${shortTime(remedy.passes_at)} without a change.`] : []),
    ...remedy.changes.flatMap(({ source, rule, to_minor: to }) =>
      to && ruleNames[rule]
        ? [`${sourceWords({ source, rule })}: raise the ${ruleNames[rule]} to ${moneyText(to, currency)}.`]
        : [],
    ),
  ]
}
