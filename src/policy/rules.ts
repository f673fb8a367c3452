import type { ErrorCode } from '../errors/catalogue.ts'

/** Amounts include their currency. */
type RuleWords = {
  source: string
  limit: string
  used: string
  requested: string
  resets: string
  /** Number of approvals that the rule requires, or that are missing (`eligible_approvers`). */
  needed: number
  /** Number of people who can give these approvals. */
  able: number
  /** The only approvers that policies name (`eligible_approvers`); empty if none are named. */
  named: readonly string[]
  /** Whether only approvals by passkey or wallet count (`eligible_approvers`). */
  signed: boolean
}
type Sentence = (words: RuleWords) => string

type Row = {
  /** The reason why the rule stops a payment. */
  stops: Sentence
  /** `limit`: higher amounts are refused. `threshold`: amounts from it on need approvals. Absent for rules without an amount. */
  bound?: 'limit' | 'threshold'
  /** The limit's name. Absent for a mandate's limits: a signed mandate cannot change. */
  raise?: string
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
const approvals = (count: number): string => (count === 1 ? '1 approval' : `${count} approvals`)
const people = (count: number): string => (count === 0 ? 'no one' : count === 1 ? '1 person' : `${count} people`)
const onlyPeople = (count: number): string => (count === 0 ? people(count) : `only ${people(count)}`)

const perPayment: Row = {
  stops: ({ source, limit, requested }) => `The per-payment limit of ${source} is ${limit}, and ${requested} was requested.`,
  bound: 'limit',
}
const ofPeriod = (period: 'daily' | 'monthly'): Row => ({
  stops: ({ source, limit, used, requested, resets }) =>
    `The ${period} limit of ${source} is ${limit}: ${used} is used, and ${requested} was requested. It resets at ${resets}.`,
  bound: 'limit',
  raise: `${period} limit`,
})
const allowedBy =
  (what: string): Sentence =>
  ({ source }) =>
    `The ${what} is not one that ${source} allows.`
const namedMandate = (problem: string): Row => ({ stops: ({ source }) => `The payment names ${source}, which ${problem}.` })
const plain = (reason: string): Row => ({ stops: () => reason })

const engineRules = {
  payments: plain('Payments are disabled for this account.'),
  per_payment_limit: { ...perPayment, raise: 'per-payment limit' },
  daily_limit: ofPeriod('daily'),
  monthly_limit: ofPeriod('monthly'),
  total_limit: {
    stops: ({ source, limit, used, requested }) =>
      `The total limit of ${source} is ${limit}: ${used} is used, and ${requested} was requested. It does not start again: a person raises it.`,
    bound: 'limit',
    raise: 'total limit',
  },
  approval_threshold: {
    stops: ({ source, limit, requested, needed }) =>
      `${capital(source)} requires ${approvals(needed)} at or above ${limit} a day to one beneficiary, and ${requested} was requested.`,
    bound: 'threshold',
    raise: 'approval threshold',
  },
  required_approval_count: {
    stops: ({ source, needed }) => `Every payment needs ${approvals(needed)} under ${source}.`,
  },
  payment_types: { stops: allowedBy("payment's type") },
  beneficiary_ids: { stops: allowedBy('beneficiary') },
  mandate_status: namedMandate('is no longer active'),
  mandate_window: namedMandate('is not valid at this time'),
  mandate_workspace: namedMandate('is for another workspace'),
  mandate_initiator: namedMandate('does not cover the requester'),
  mandate_signature: {
    stops: ({ source }) => `The wallet that signed ${source} no longer accepts its signature: its owners may have changed.`,
  },
  mandate_unconfirmed: {
    stops: ({ source }) => `The chain of the wallet that signed ${source} did not answer, so a person must approve.`,
  },
  mandate_payment_types: { stops: allowedBy("payment's type") },
  mandate_beneficiary_ids: { stops: allowedBy('beneficiary') },
  mandate_per_payment: perPayment,
  mandate_total: {
    stops: ({ source, limit, used, requested }) =>
      `The total limit of ${source} is ${limit}: ${used} is used, and ${requested} was requested.`,
    bound: 'limit',
  },
  mandate_max_payments: namedMandate('has no payments left'),
  mandate_signer: {
    stops: ({ source }) => `The signer of ${source} can't approve this payment.`,
  },
  possible_duplicate: {
    stops: ({ source }) =>
      `A payment of this amount to this beneficiary was made a short time ago, and ${source} stops a second one.`,
  },
  unconfirmed_duplicate: {
    stops: ({ source }) =>
      `A payment of this amount to this beneficiary was made a short time ago, and ${source} requires that duplicate_of names it, to say that a second one is meant.`,
  },
  earlier_unknown: plain(
    'It looks like an earlier payment whose outcome is not known yet: sent again, it could pay twice. A person must approve it.',
  ),
  unconfirmed_payee: {
    stops: ({ source }) =>
      `A key or an agent created or renamed this beneficiary, and no person has confirmed it, which ${source} requires.`,
  },
  payee_verification: {
    stops: ({ source }) => `The rail has not confirmed the name of this beneficiary, which ${source} requires.`,
  },
  eligible_approvers: {
    stops: ({ needed, able, signed, named }) =>
      named.length > 0
        ? `The payment needs ${approvals(needed)} by people whom a policy names (${named.join(', ')}), and ${onlyPeople(able)} of them can give one. An owner can name others in the policy.`
        : signed
          ? `The payment needs ${approvals(needed)} by passkey or wallet, and ${onlyPeople(able)} who may approve has one. An approver adds a passkey on the Account page.`
          : `The payment needs ${approvals(needed)}, and ${onlyPeople(able)} can give one.`,
  },
} satisfies Record<string, Row>

export type RuleName = keyof typeof engineRules

/** Checks before the engine, by error code or by the request field that a rail refuses. */
const preconditionRules = {
  workspace_frozen: plain('The workspace is frozen.'),
  account_frozen: plain('The account is frozen.'),
  grant_frozen: plain('This key or agent, or one that created it, is frozen.'),
  beneficiary_frozen: plain('Payments to this beneficiary are frozen.'),
  invalid_token: plain('The key or agent was revoked.'),
  conflict: plain('The beneficiary is archived.'),
  capability_disabled: plain('Payments are disabled for this account.'),
  forbidden: plain("The caller can't make payments in this workspace."),
  provider_not_configured: plain('The payment method is not set up.'),
  available_balance: plain('The available balance does not cover this payment.'),
  amount_minor: plain("The payment method can't send this amount. Check its minimum and maximum, and whole shillings."),
  account_reference: plain('The account reference is missing or too long for the payment method.'),
  payment_type: plain("The payment type is another payment method than the beneficiary's."),
} satisfies Partial<Record<ErrorCode | 'available_balance' | 'amount_minor' | 'account_reference' | 'payment_type', Row>>

/** `texts/rule-meanings.en.json` explains each rule in a sentence that is true of a payment that passes it. */
export type AnyRule = RuleName | keyof typeof preconditionRules

/** Every rule that a decision's trace may name, the engine's first. */
export const rules: Readonly<Record<string, Row>> = { ...engineRules, ...preconditionRules }

export const ruleNames = Object.keys(engineRules) as RuleName[]

/** A rail's rule that is missing from `rules` is described only by its name. */
export const ruleOf = (name: string): Row =>
  rules[name] ?? { stops: ({ source }) => `The rule ${name} of ${source} stops this payment.` }
