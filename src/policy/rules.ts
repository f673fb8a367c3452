import type { ErrorCode } from '../errors/catalogue.ts'

/** Amounts have their currency. */
export type RuleWords = {
  source: string
  limit: string
  used: string
  requested: string
  resets: string
  /** The day and the month of the limits: "today" or "on 21 Nov", "this month" or "in October". */
  day: string
  month: string
  /** Approvals that the rule requires, or that are missing (`eligible_approvers`). */
  needed: number
  /** People who may give them. */
  able: number
  /** The accounts that a policy names as its only approvers (`eligible_approvers`); empty: it names none. */
  named: readonly string[]
  /** Only approvals by passkey or wallet count (`eligible_approvers`). */
  signed: boolean
  passed: boolean
}
type Sentence = (words: RuleWords) => string

type Row = {
  /** What the rule checks, for the reference of codes: a sentence that is true of a payment that it lets pass. */
  meaning: string
  /** Why it decided against the payment. */
  stops: Sentence
  /** A line of a trace, whether the payment passed or not. */
  checked: Sentence
  /** The limit that refuses amounts above it, or the threshold from which approvals are needed. Absent for a rule without an amount. */
  bound?: 'limit' | 'threshold'
  /** Its name, where a person may raise it. A signed mandate does not change. */
  raise?: string
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
const approvals = (count: number): string => (count === 1 ? '1 approval' : `${count} approvals`)
const people = (count: number): string => (count === 0 ? 'no one' : count === 1 ? '1 person' : `${count} people`)
const only = (count: number): string => (count === 0 ? people(count) : `only ${people(count)}`)
const either =
  (passed: string, stopped: string): Sentence =>
  (words) =>
    words.passed ? passed : stopped

const perPayment: Omit<Row, 'meaning'> = {
  stops: ({ source, limit, requested }) => `The per-payment limit of ${source} is ${limit}, and ${requested} was requested.`,
  checked: ({ limit, requested, passed }) => `${requested} is ${passed ? 'within' : 'over'} the per-payment limit of ${limit}.`,
  bound: 'limit',
}
const ofPeriod = (period: 'daily' | 'monthly', current: 'day' | 'month'): Omit<Row, 'meaning'> => ({
  stops: ({ source, limit, used, requested, resets }) =>
    `The ${period} limit of ${source} is ${limit}: ${used} is used, and ${requested} was requested. It resets at ${resets}.`,
  checked: ({ limit, used, requested, resets, passed, ...words }) =>
    passed
      ? `${requested} fits: ${used} of ${limit} used ${words[current]}.`
      : `${requested} is too much: ${used} of ${limit} used ${words[current]}. Resets ${resets}.`,
  bound: 'limit',
  raise: `${period} limit`,
})
const allowedBy =
  (what: string): Sentence =>
  ({ source }) =>
    `The ${what} is not one that ${source} allows.`

const engineRules = {
  payments: {
    meaning: 'The account may make payments.',
    stops: () => 'Payments are disabled for this account.',
    checked: either('Payments are enabled.', 'Payments are disabled for the account that pays.'),
  },
  per_payment_limit: { meaning: 'One payment is at most this amount.', ...perPayment, raise: 'per-payment limit' },
  daily_limit: {
    meaning: "The payments of the day, in the workspace's time zone, add up to at most this amount.",
    ...ofPeriod('daily', 'day'),
  },
  monthly_limit: {
    meaning: "The payments of the month, in the workspace's time zone, add up to at most this amount.",
    ...ofPeriod('monthly', 'month'),
  },
  total_limit: {
    meaning: 'All payments since the limit was set, or since the key or agent began, add up to at most this amount.',
    stops: ({ source, limit, used, requested }) =>
      `The total limit of ${source} is ${limit}: ${used} is used, and ${requested} was requested. It does not start again: a person raises it.`,
    checked: ({ limit, used, requested, passed }) =>
      passed
        ? `${requested} fits: ${used} of ${limit} used in total.`
        : `${requested} is too much: ${used} of ${limit} used in total.`,
    bound: 'limit',
    raise: 'total limit',
  },
  approval_threshold: {
    meaning:
      'From this amount on the payment needs approval, together with what the payee got today without one. For a list, so does its total under the rule.',
    stops: ({ source, limit, requested, needed }) =>
      `${capital(source)} requires ${approvals(needed)} at or above ${limit} a day to one beneficiary, and ${requested} was requested.`,
    checked: ({ limit, used, requested, needed, day }) =>
      needed > 0
        ? `${requested}, with ${used} ${day} without an approval or in the same list, is at or above ${limit}: ${approvals(needed)} required.`
        : `${requested}, after ${used} ${day} without an approval, is below ${limit}, where approval starts.`,
    bound: 'threshold',
    raise: 'approval threshold',
  },
  required_approval_count: {
    meaning: 'A payment of any amount needs this number of approvals.',
    stops: ({ source, needed }) => `Every payment needs ${approvals(needed)} under ${source}.`,
    checked: ({ needed }) => `Every payment requires ${approvals(Math.max(1, needed))}.`,
  },
  payment_types: {
    meaning: 'The grant allows this payment type or this rail.',
    stops: allowedBy("payment's type"),
    checked: either('This payment type is allowed.', 'This payment type is not allowed.'),
  },
  beneficiary_ids: {
    meaning: 'The grant allows this beneficiary.',
    stops: allowedBy('beneficiary'),
    checked: either('This beneficiary is allowed.', 'This beneficiary is not allowed.'),
  },
  mandate_status: {
    meaning: 'The mandate is active.',
    stops: ({ source }) => `The payment names ${source}, which is no longer active.`,
    checked: either('The mandate is active.', 'The mandate is no longer active.'),
  },
  mandate_window: {
    meaning: 'The mandate is valid at this time.',
    stops: ({ source }) => `The payment names ${source}, which is not valid at this time.`,
    checked: either('The mandate is valid now.', 'The mandate is not valid at this time.'),
  },
  mandate_workspace: {
    meaning: 'The mandate is for this workspace.',
    stops: ({ source }) => `The payment names ${source}, which is for another workspace.`,
    checked: either('The mandate is for this workspace.', 'The mandate is for another workspace.'),
  },
  mandate_initiator: {
    meaning: 'The mandate covers the account, key or agent that pays.',
    stops: ({ source }) => `The payment names ${source}, which does not cover the requester.`,
    checked: either('The mandate covers this requester.', 'The mandate does not cover this requester.'),
  },
  mandate_signature: {
    meaning: 'The wallet that signed the mandate, where it is a contract, still accepts the signature.',
    stops: ({ source }) => `The wallet that signed ${source} no longer accepts its signature: its owners may have changed.`,
    checked: either('Its wallet accepts the signature.', 'Its wallet no longer accepts the signature.'),
  },
  mandate_unconfirmed: {
    meaning: 'The chain of the contract wallet that signed the mandate confirms the signature, or a person approves.',
    stops: ({ source }) => `The chain of the wallet that signed ${source} did not answer, so a person must approve.`,
    checked: either('A person is asked, because the wallet’s chain did not answer.', 'The wallet’s chain did not answer.'),
  },
  mandate_payment_types: {
    meaning: 'The mandate allows this payment type or this rail.',
    stops: allowedBy("payment's type"),
    checked: either('The mandate allows this payment type.', 'The mandate does not allow this payment type.'),
  },
  mandate_beneficiary_ids: {
    meaning: 'The mandate allows this beneficiary.',
    stops: allowedBy('beneficiary'),
    checked: either('The mandate allows this beneficiary.', 'The mandate does not allow this beneficiary.'),
  },
  mandate_per_payment: { meaning: 'One payment under the mandate is at most this amount.', ...perPayment },
  mandate_total: {
    meaning: 'All payments under the mandate add up to at most this amount.',
    stops: ({ source, limit, used, requested }) =>
      `The total limit of ${source} is ${limit}: ${used} is used, and ${requested} was requested.`,
    checked: ({ limit, used, requested, passed }) => `${requested} ${passed ? 'fits' : 'is too much'}: ${used} of ${limit} used.`,
    bound: 'limit',
  },
  mandate_max_payments: {
    meaning: 'The mandate has payments left.',
    stops: ({ source }) => `The payment names ${source}, which has no payments left.`,
    checked: either('The mandate has payments left.', 'The mandate has no payments left.'),
  },
  mandate_signer: {
    meaning: 'The signer of the mandate may approve this payment, which counts as one approval.',
    stops: ({ source }) => `The signer of ${source} can't approve this payment.`,
    checked: either('Its signer can approve this payment.', 'Its signer can’t approve this payment.'),
  },
  possible_duplicate: {
    meaning: 'The policy does not stop the payment as a possible duplicate of an earlier one.',
    stops: ({ source }) =>
      `A payment of this amount to this beneficiary was made a short time ago, and ${source} stops a second one.`,
    checked: either(
      'It is not stopped as a possible duplicate.',
      'A payment of the same amount to the same beneficiary was made recently.',
    ),
  },
  unconfirmed_duplicate: {
    meaning: 'The payment looks like no earlier one, or `duplicate_of` says that a second one is meant.',
    stops: ({ source }) =>
      `A payment of this amount to this beneficiary was made a short time ago, and ${source} requires that duplicate_of names it, to say that a second one is meant.`,
    checked: either(
      'A second payment like the earlier one is meant.',
      'It looks like an earlier payment, and nothing says that a second one is meant.',
    ),
  },
  earlier_unknown: {
    meaning: 'The outcome of the payment that it looks like is known, or a person makes it.',
    stops: () =>
      'It looks like an earlier payment whose outcome is not known yet: sent again, it could pay twice. A person must approve it.',
    checked: either(
      'A person approved it although the outcome of an earlier payment is not known.',
      'It looks like an earlier payment whose outcome is not known yet.',
    ),
  },
  unconfirmed_payee: {
    meaning:
      'A person has confirmed the beneficiary since a key or an agent created or renamed it, or no confirmation is needed.',
    stops: ({ source }) =>
      `A key or an agent created or renamed this beneficiary, and no person has confirmed it, which ${source} requires.`,
    checked: either('The new beneficiary needs no confirmation.', 'No person has confirmed this beneficiary yet.'),
  },
  payee_verification: {
    meaning: 'The name that the rail reports for the number is that of the beneficiary, or the policy does not ask for it.',
    stops: ({ source }) => `The rail has not confirmed the name of this beneficiary, which ${source} requires.`,
    checked: either('The name of the beneficiary is confirmed, or not asked for.', 'The rail has not confirmed this name.'),
  },
  eligible_approvers: {
    meaning: 'There are as many people who may approve as are needed.',
    stops: ({ needed, able, signed, named }) =>
      named.length > 0
        ? `The payment needs ${approvals(needed)} by people whom a policy names (${named.join(', ')}), and ${only(able)} of them can give one. An owner changes the policy's approver_ids.`
        : signed
          ? `The payment needs ${approvals(needed)} by passkey or wallet, and ${only(able)} who may approve has one. An approver adds a passkey on the Account page.`
          : `The payment needs ${approvals(needed)}, and ${only(able)} can give one.`,
    checked: ({ needed, able, signed, passed, named }) => {
      const how = `${named.length > 0 ? ', of those whom a policy names,' : ''}${signed ? ' by passkey or wallet' : ''}`
      return passed
        ? `${capital(people(able))} can approve${how}.`
        : `${approvals(needed)}${how} required, but ${people(able)} can approve${how}.`
    },
  },
} satisfies Record<string, Row>

export type RuleName = keyof typeof engineRules

const unmet = (meaning: string, stopped: string): Row => ({
  meaning,
  stops: () => stopped,
  checked: either(meaning, stopped),
})

/** What is checked before the engine: by a refusal's code, or by the field of the request that a rail refuses. */
const preconditionRules = {
  workspace_frozen: unmet('The workspace is not frozen.', 'The workspace is frozen.'),
  account_frozen: unmet('The account that pays is not frozen.', 'The account is frozen.'),
  grant_frozen: unmet('The grant and those above it are not frozen.', 'This key or agent, or one that created it, is frozen.'),
  beneficiary_frozen: unmet('The beneficiary is not frozen.', 'Payments to this beneficiary are frozen.'),
  invalid_token: unmet('The grant of the credential is active.', 'The key or agent was revoked.'),
  conflict: unmet('The beneficiary is not archived.', 'The beneficiary is archived.'),
  capability_disabled: unmet('The account of the caller may make payments.', 'Payments are disabled for this account.'),
  forbidden: unmet('The caller may make payments in this workspace.', "The caller can't make payments in this workspace."),
  provider_not_configured: unmet('The rail is configured in this deployment.', 'The payment method is not set up.'),
  available_balance: unmet('The available balance covers the payment.', 'The available balance does not cover this payment.'),
  amount_minor: unmet(
    'The rail can send this amount.',
    "The payment method can't send this amount. Check its minimum and maximum, and whole shillings.",
  ),
  account_reference: unmet(
    'The account reference is present where it is required, and the rail accepts it.',
    'The account reference is missing or too long for the payment method.',
  ),
  payment_type: unmet(
    'The payment type does not name another rail.',
    "The payment type is another payment method than the beneficiary's.",
  ),
} satisfies Partial<Record<ErrorCode | 'available_balance' | 'amount_minor' | 'account_reference' | 'payment_type', Row>>

/** Every rule that a decision's trace may name, the engine's first. */
export const rules: Readonly<Record<string, Row>> = { ...engineRules, ...preconditionRules }

export const ruleNames = Object.keys(engineRules) as RuleName[]

/** A rule of a rail that is not in the list is known by its name alone. */
export const ruleOf = (name: string): Row =>
  rules[name] ?? {
    meaning: '',
    stops: ({ source }) => `The rule ${name} of ${source} stops this payment.`,
    checked: either('A further check passed.', 'A further check did not pass.'),
  }
