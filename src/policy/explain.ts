import { displayAmount, type Minor } from '../lib/money.ts'
import { type RuleName, ruleNames } from './finding.ts'
import type { Decision, TraceEntry, TraceSource } from './types.ts'

const kinds: Record<TraceSource['kind'], string> = {
  policy: 'policy',
  grant: 'key or agent',
  mandate: 'mandate',
  capability: 'account',
  rail: 'payment method',
}
const named = ({ kind, name }: TraceSource): string =>
  name === null ? `a ${kinds[kind]}` : `${kinds[kind]} ${JSON.stringify(name)}`
const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
const approvals = (count: number): string => (count === 1 ? '1 approval' : `${count} approvals`)
const people = (count: number): string => (count === 0 ? 'no one' : count === 1 ? 'only 1 person' : `only ${count} people`)

/** An entry in words: amounts already have their currency. */
type Words = { source: string; limit: string; used: string; requested: string; resets: string; needed: number; able: number }
type Sentence = (words: Words) => string

const spentLimit =
  (period: string): Sentence =>
  ({ source, limit, used, requested, resets }) =>
    `The ${period} limit of ${source} is ${limit}: ${used} is used, and ${requested} was requested. It resets at ${resets}.`

const sentences: Record<RuleName, Sentence> = {
  payments: () => 'Payments are disabled for this account.',
  per_payment_limit: ({ source, limit, requested }) =>
    `The per-payment limit of ${source} is ${limit}, and ${requested} was requested.`,
  daily_limit: spentLimit('daily'),
  monthly_limit: spentLimit('monthly'),
  approval_threshold: ({ source, limit, requested, needed }) =>
    `${capital(source)} requires ${approvals(needed)} at or above ${limit}, and ${requested} was requested.`,
  required_approval_count: ({ source, needed }) => `Every payment needs ${approvals(needed)} under ${source}.`,
  payment_types: ({ source }) => `The payment's type is not one that ${source} allows.`,
  beneficiary_ids: ({ source }) => `The beneficiary is not one that ${source} allows.`,
  mandate_status: ({ source }) => `The payment names ${source}, which is no longer active.`,
  mandate_window: ({ source }) => `The payment names ${source}, which is not valid at this time.`,
  mandate_workspace: ({ source }) => `The payment names ${source}, which is for another workspace.`,
  mandate_initiator: ({ source }) => `The payment names ${source}, which does not cover the requester.`,
  mandate_payment_types: ({ source }) => `The payment's type is not one that ${source} allows.`,
  mandate_beneficiary_ids: ({ source }) => `The beneficiary is not one that ${source} allows.`,
  mandate_per_payment: ({ source, limit, requested }) =>
    `The per-payment limit of ${source} is ${limit}, and ${requested} was requested.`,
  mandate_total: ({ source, limit, used, requested }) =>
    `The total limit of ${source} is ${limit}: ${used} is used, and ${requested} was requested.`,
  mandate_max_payments: ({ source }) => `The payment names ${source}, which has no payments left.`,
  mandate_signer: ({ source }) => `The signer of ${source} can't approve this payment.`,
  possible_duplicate: ({ source }) =>
    `A payment of this amount to this beneficiary was made a short time ago, and ${source} stops a second one.`,
  eligible_approvers: ({ needed, able }) => `The payment needs ${approvals(needed)}, and ${people(able)} can give one.`,
}

/** What stops a payment before any limit is checked, by the code or the field that a simulation names. */
const preconditions: Readonly<Record<string, string>> = {
  amount_minor: "The payment method can't send this amount. Check its minimum and maximum, and whole shillings.",
  account_reference: 'The account reference is missing or too long for the payment method.',
  payment_type: "The payment type is another payment method than the beneficiary's.",
  workspace_frozen: 'The workspace is frozen.',
  account_frozen: 'The account that pays is frozen.',
  grant_frozen: 'The key or agent is frozen.',
  beneficiary_frozen: 'Payments to this beneficiary are frozen.',
  capability_disabled: 'Payments are disabled for this account.',
  conflict: 'The beneficiary is archived.',
  forbidden: "The caller can't make payments in this workspace.",
  provider_not_configured: 'The payment method is not set up.',
}

const isRuleName = (rule: string): rule is RuleName => ruleNames.some((name) => name === rule)
const timestamp = (at: Date): string => at.toISOString().replace('.000Z', 'Z')

const sentence = (entry: TraceEntry, currency: string): string => {
  const amount = (minor: Minor | undefined) => displayAmount(minor ?? 0n, currency)
  const source = named(entry.source)
  // A rail's rules are its own, and only their names are known here.
  if (!isRuleName(entry.rule)) return preconditions[entry.rule] ?? `The rule ${entry.rule} of ${source} stops this payment.`
  return sentences[entry.rule]({
    source,
    limit: amount(entry.limitMinor),
    used: amount(entry.usedMinor),
    requested: amount(entry.requestedMinor),
    resets: entry.resetsAt ? timestamp(entry.resetsAt) : 'an unknown time',
    needed: entry.requiredApprovals ?? 0,
    able: entry.eligibleApprovers ?? 0,
  })
}

/** One sentence for a person: the first rule of the trace that decided, or else the rule that requires the most approvals. */
export const explain = (decision: Decision, currency: string): string => {
  if (decision.outcome === 'allow') return 'No policy blocks this.'
  const decisive = decision.trace.filter((entry) => entry.outcome === decision.outcome)
  const asksMost = decisive.find((entry) => entry.requiredApprovals === decision.requiredApprovals)
  const entry = decision.outcome === 'deny' ? decisive[0] : (asksMost ?? decisive[0])
  return entry ? sentence(entry, currency) : 'A spending rule stops this payment.'
}
