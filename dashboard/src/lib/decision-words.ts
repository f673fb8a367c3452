import type { Schemas } from '../api/types.ts'
import { countWords } from './list-words.ts'
import { moneyText } from './money.ts'
import { typeLabel } from './rails.ts'
import { shortTime } from './time.ts'

export type Decision = Schemas['Decision']
export type TraceEntry = Decision['trace'][number]

const kinds: Readonly<Record<TraceEntry['source']['kind'], string>> = {
  policy: 'Policy',
  grant: 'Limits of',
  mandate: 'Mandate',
  capability: 'Account',
  rail: 'Rail',
}

/** "Policy “Office”": whose rule it is. */
export const sourceWords = ({ source, rule }: Pick<TraceEntry, 'source' | 'rule'>): string => {
  const { kind, name } = source
  if (rule === 'eligible_approvers') return 'Approvers'
  if (kind === 'capability') return 'Account'
  if (kind === 'rail') return name ? typeLabel(name) : 'Rail'
  return name ? `${kinds[kind]} “${name}”` : kinds[kind]
}

const approvals = (count: number): string => countWords(count, 'approval')

type Words = { limit: string; used: string; asked: string; resets: string; entry: TraceEntry }
type Phrase = (words: Words) => string

const over =
  (period: string): Phrase =>
  ({ limit, used, asked, resets, entry }) =>
    entry.outcome === 'allow'
      ? `${asked} fits: ${used} of ${limit} is used ${period}.`
      : `${asked} does not fit: ${used} of ${limit} is used ${period}. It starts again ${resets}.`

const yesNo =
  (yes: string, no: string): Phrase =>
  ({ entry }) =>
    entry.outcome === 'allow' ? yes : no

/** Every rule of the service in plain words; what a rail or a stop adds is named by what it is about. */
const phrases: Readonly<Record<string, Phrase>> = {
  payments: yesNo('Payments are enabled.', 'Payments are disabled for the account that pays.'),
  per_payment_limit: ({ limit, asked, entry }) =>
    entry.outcome === 'allow' ? `${asked} is within ${limit} per payment.` : `${asked} is more than ${limit} per payment.`,
  daily_limit: over('today'),
  monthly_limit: over('this month'),
  approval_threshold: ({ limit, asked, entry }) =>
    entry.required_approvals
      ? `${asked} is ${limit} or more: ${approvals(entry.required_approvals)} needed.`
      : `${asked} is below ${limit}, where approval begins.`,
  required_approval_count: ({ entry }) => `Every payment needs ${approvals(entry.required_approvals ?? 1)}.`,
  payment_types: yesNo('This type of payment is allowed.', 'This type of payment is not one that is allowed.'),
  beneficiary_ids: yesNo('This beneficiary is allowed.', 'This beneficiary is not one that is allowed.'),
  mandate_status: yesNo('The mandate is active.', 'The mandate is no longer active.'),
  mandate_window: yesNo('The mandate holds now.', 'The mandate does not hold at this time.'),
  mandate_workspace: yesNo('The mandate is for this workspace.', 'The mandate is for another workspace.'),
  mandate_initiator: yesNo('The mandate serves whoever pays.', 'The mandate does not serve whoever pays.'),
  mandate_payment_types: yesNo('The mandate allows this type of payment.', 'The mandate does not allow this type of payment.'),
  mandate_beneficiary_ids: yesNo('The mandate allows this beneficiary.', 'The mandate does not allow this beneficiary.'),
  mandate_per_payment: ({ limit, asked, entry }) =>
    entry.outcome === 'allow' ? `${asked} is within ${limit} per payment.` : `${asked} is more than ${limit} per payment.`,
  mandate_total: ({ limit, used, asked, entry }) =>
    entry.outcome === 'allow'
      ? `${asked} fits: ${used} of ${limit} is spent.`
      : `${asked} does not fit: ${used} of ${limit} is spent.`,
  mandate_max_payments: yesNo('The mandate has payments left.', 'The mandate has made as many payments as it may.'),
  mandate_signer: yesNo('Its signer may approve this payment.', 'Its signer may not approve this payment.'),
  eligible_approvers: ({ entry }) =>
    entry.outcome === 'allow'
      ? `${countWords(entry.eligible_approvers ?? 0, 'person', 'people')} may approve.`
      : `${approvals(entry.required_approvals ?? 0)} needed, and only ${countWords(entry.eligible_approvers ?? 0, 'person', 'people')} may approve.`,
  amount_minor: () => 'The rail does not move this amount: look at its smallest and largest, and at whole shillings.',
  account_reference: () => 'The account reference is missing, or longer than the rail takes.',
  payment_type: () => 'The payment type names another rail than the beneficiary’s.',
  workspace_frozen: () => 'The workspace is frozen.',
  account_frozen: () => 'The account that pays is frozen.',
  grant_frozen: () => 'The limits of this credential are frozen.',
  beneficiary_frozen: () => 'Payments to this beneficiary are stopped.',
  capability_disabled: () => 'Payments are disabled for this account.',
  conflict: () => 'The beneficiary is archived.',
  provider_not_configured: () => 'The rail is not set up.',
}

export const traceWords = (entry: TraceEntry, currency: string): string => {
  const money = (minor: string | undefined) => moneyText(minor ?? '0', currency)
  const phrase = phrases[entry.rule]
  if (!phrase) return `${entry.rule.replaceAll('_', ' ')}: ${entry.outcome === 'allow' ? 'passes' : 'does not pass'}.`
  return phrase({
    limit: money(entry.limit_minor),
    used: money(entry.used_minor),
    asked: money(entry.requested_minor),
    resets: entry.resets_at ? shortTime(entry.resets_at) : 'later',
    entry,
  })
}

/** The one sentence for people in a hurry: what decided it. */
export const decisionReason = (decision: Decision, currency: string): string => {
  const entry =
    decision.trace.find(({ decisive }) => decisive) ?? decision.trace.find(({ outcome }) => outcome === decision.outcome)
  if (decision.outcome === 'allow' || !entry) return 'No rule stands against it.'
  return `${sourceWords(entry)}: ${traceWords(entry, currency)}`
}

const ruleNames: Readonly<Record<string, string>> = {
  per_payment_limit: 'limit per payment',
  daily_limit: 'daily limit',
  monthly_limit: 'monthly limit',
  approval_threshold: 'amount from which approval is needed',
  required_approval_count: 'number of approvals',
}

/** What would have let it pass, as little as possible. */
export const remedyWords = ({ remedy }: Pick<Decision, 'remedy'>, currency: string): string[] => {
  if (!remedy) return []
  return [
    ...(remedy.max_amount_minor ? [`Up to ${moneyText(remedy.max_amount_minor, currency)} would go through now.`] : []),
    ...(remedy.passes_at ? [`By itself it goes through ${shortTime(remedy.passes_at)}.`] : []),
    ...remedy.changes.flatMap(({ source, rule, to_minor: to }) =>
      to && ruleNames[rule]
        ? [`${sourceWords({ source, rule })}: raise the ${ruleNames[rule]} to ${moneyText(to, currency)}.`]
        : [],
    ),
  ]
}
