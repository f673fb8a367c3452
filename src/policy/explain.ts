import { displayAmount, type Minor } from '../lib/money.ts'
import { type RuleName, ruleNames } from './finding.ts'
import type { Decision, TraceEntry, TraceSource } from './types.ts'

const named = ({ kind, name }: TraceSource): string => (name === null ? `a ${kind}` : `${kind} ${JSON.stringify(name)}`)
const approvals = (count: number): string => (count === 1 ? '1 approval' : `${count} approvals`)
const accounts = (count: number): string =>
  count === 0 ? 'no account' : count === 1 ? 'only 1 account' : `only ${count} accounts`

/** An entry put into words: amounts already carry their currency. */
type Words = { who: string; limit: string; used: string; requested: string; resets: string; needed: number; able: number }
type Sentence = (words: Words) => string

const spentLimit =
  (period: string): Sentence =>
  ({ who, limit, used, requested, resets }) =>
    `The ${period} limit of ${who} is ${limit}; ${used} is used and ${requested} was asked; it resets at ${resets}.`

const sentences: Record<RuleName, Sentence> = {
  payments: () => 'Payments are disabled for this account.',
  per_payment_limit: ({ who, limit, requested }) => `The limit per payment of ${who} is ${limit} and ${requested} was asked.`,
  daily_limit: spentLimit('daily'),
  monthly_limit: spentLimit('monthly'),
  approval_threshold: ({ who, limit, requested, needed }) =>
    `From ${limit} on, ${who} asks for ${approvals(needed)} and ${requested} was asked.`,
  required_approval_count: ({ who, needed }) => `Every payment needs ${approvals(needed)} under ${who}.`,
  payment_types: ({ who }) => `The payment's type is not one that ${who} allows.`,
  beneficiary_ids: ({ who }) => `The beneficiary is not one that ${who} allows.`,
  mandate_status: ({ who }) => `The payment names ${who}, which is no longer active.`,
  mandate_window: ({ who }) => `The payment names ${who}, which does not hold at this time.`,
  mandate_workspace: ({ who }) => `The payment names ${who}, which is for another workspace.`,
  mandate_initiator: ({ who }) => `The payment names ${who}, which does not cover the initiator.`,
  mandate_payment_types: ({ who }) => `The payment's type is not one that ${who} allows.`,
  mandate_beneficiary_ids: ({ who }) => `The beneficiary is not one that ${who} allows.`,
  mandate_per_payment: ({ who, limit, requested }) => `The limit per payment of ${who} is ${limit} and ${requested} was asked.`,
  mandate_total: ({ who, limit, used, requested }) =>
    `The total of ${who} is ${limit}; ${used} is used and ${requested} was asked.`,
  mandate_max_payments: ({ who }) => `The payment names ${who}, which has made as many payments as it may.`,
  mandate_signer: ({ who }) => `The signer of ${who} may not approve this payment.`,
  possible_duplicate: ({ who }) =>
    `A payment of this amount to this payee was made a short time ago, and ${who} stops a second one.`,
  eligible_approvers: ({ needed, able }) => `The payment needs ${approvals(needed)} and ${accounts(able)} may give one.`,
}

const isRuleName = (rule: string): rule is RuleName => ruleNames.some((name) => name === rule)
const timestamp = (at: Date): string => at.toISOString().replace('.000Z', 'Z')

const sentence = (entry: TraceEntry, currency: string): string => {
  const amount = (minor: Minor | undefined) => displayAmount(minor ?? 0n, currency)
  const who = named(entry.source)
  // A rail's rules are its own, and their names are what we know of them.
  if (!isRuleName(entry.rule)) return `The rule ${entry.rule} of ${who} stops this payment.`
  return sentences[entry.rule]({
    who,
    limit: amount(entry.limitMinor),
    used: amount(entry.usedMinor),
    requested: amount(entry.requestedMinor),
    resets: entry.resetsAt ? timestamp(entry.resetsAt) : 'an unknown time',
    needed: entry.requiredApprovals ?? 0,
    able: entry.eligibleApprovers ?? 0,
  })
}

/** One sentence for a person: the first rule of the trace that decided, or of those that ask, the one that asks for most. */
export const explain = (decision: Decision, currency: string): string => {
  if (decision.outcome === 'allow') return 'The payment is allowed.'
  const decisive = decision.trace.filter((entry) => entry.outcome === decision.outcome)
  const asksMost = decisive.find((entry) => entry.requiredApprovals === decision.requiredApprovals)
  const entry = decision.outcome === 'deny' ? decisive[0] : (asksMost ?? decisive[0])
  return entry ? sentence(entry, currency) : 'A spending rule stops this payment.'
}
