import english from '../../texts/failures.en.json' with { type: 'json' }

export const failureActors = {
  requester: 'the requester',
  payer: 'the payer',
  payee: 'the payee',
  operator: 'the operator of the service',
} as const
/** All values of `failure_code`, with the party that must act. Providers' own codes differ and change: see `provider_code`. */
const failures = {
  payer_insufficient_funds: 'payer',
  float_insufficient: 'operator',
  amount_too_small: 'requester',
  amount_too_large: 'requester',
  other_amount: 'operator',
  daily_limit_reached: 'requester',
  receiver_limit_reached: 'payee',
  provider_rule: 'operator',
  provider_busy: 'requester',
  payer_busy: 'payer',
  prompt_expired: 'payer',
  prompt_not_delivered: 'payer',
  prompt_cancelled: 'payer',
  prompt_unanswered: 'payer',
  wrong_pin: 'payer',
  initiator_refused: 'operator',
  account_inactive: 'payee',
  account_locked: 'payee',
  receiver_not_registered: 'requester',
  unknown_operator: 'operator',
  provider_declined: 'requester',
  provider_cancelled: 'requester',
  provider_expired: 'requester',
  provider_failed: 'requester',
  provider_refused: 'operator',
  provider_unreachable: 'requester',
  invalid_amount: 'requester',
  invalid_destination: 'requester',
  invalid_account_reference: 'requester',
  invalid_reference: 'operator',
  wrong_rail: 'requester',
  insufficient_funds: 'requester',
  policy_denied: 'requester',
  approval_expired: 'requester',
  policy_changed: 'requester',
  resolved_by_operator: 'requester',
} as const satisfies Record<keyof typeof english, keyof typeof failureActors>

export type FailureCode = keyof typeof failures

export const failureCodes = Object.keys(failures) as [FailureCode, ...FailureCode[]]

/** Failures of payments that ended before a request was sent to the provider. Pages say of all others that they were sent. */
export const unsentFailures: readonly FailureCode[] = [
  'approval_expired',
  'insufficient_funds',
  'invalid_account_reference',
  'invalid_amount',
  'invalid_destination',
  'invalid_reference',
  'policy_changed',
  'policy_denied',
  'provider_unreachable',
  'wrong_rail',
]

/** Failures of scheduled payments that ended when due, before their amount was held. */
export const unheldFailures: readonly FailureCode[] = ['approval_expired', 'insufficient_funds', 'policy_denied']

/** `sentence` is stored with the payment, so it has no names or numbers. `fix`: the next step for the party that must act. */
export const failureRow = (code: FailureCode) => ({ actor: failures[code], ...english[code] })

export const isFailureCode = (text: string): text is FailureCode => Object.hasOwn(failures, text)

/** `message`: a sentence without phone or account numbers. */
export type Failure = { code: FailureCode; providerCode: string | null; message: string }

export const failure = (code: FailureCode, providerCode: string | null = null, message?: string): Failure => ({
  code,
  providerCode,
  message: message ?? failureRow(code).sentence,
})
