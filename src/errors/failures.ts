export const failureActors = {
  requester: 'the requester',
  payer: 'the payer',
  payee: 'the payee',
  operator: 'the operator of the service',
} as const
type FailureActor = keyof typeof failureActors

/** `sentence` is stored with the payment: it names no person and no number. `fix`: what the actor does. */
type Row = readonly [actor: FailureActor, sentence: string, fix: string]

/** The closed list of `failure_code`. Providers' own codes differ by rail and change: they are in `provider_code`. */
const failures = {
  payer_insufficient_funds: [
    'payer',
    'The payer does not have enough money.',
    'Add money to the M-PESA account, or ask for a smaller amount.',
  ],
  float_insufficient: [
    'operator',
    'The account that pays out does not have enough money at the provider.',
    'Fund the account at the provider. Then make a new payment.',
  ],
  amount_too_small: ['requester', 'The amount is below what the provider moves.', 'Use a larger amount.'],
  amount_too_large: ['requester', 'The amount is above what the provider moves.', 'Use a smaller amount, or several.'],
  other_amount: [
    'operator',
    'Another amount came than was asked for. A person looks at it.',
    'Wait: an administrator credits what came, or sends it back.',
  ],
  daily_limit_reached: [
    'requester',
    'A daily limit of the provider would be exceeded.',
    'Try again tomorrow, or with a smaller amount.',
  ],
  receiver_limit_reached: [
    'payee',
    'The receiving account would hold more than it may.',
    'Move money out of the account, or raise its limit with the provider.',
  ],
  provider_rule: [
    'operator',
    'A rule of the provider does not permit this transaction.',
    'Ask the provider which rule it is; `provider_code` names it.',
  ],
  provider_busy: ['requester', 'The provider was too busy to carry it out.', 'Try again in a few minutes.'],
  payer_busy: ['payer', 'The payer has another transaction under way.', 'Finish the other transaction, then try again.'],
  prompt_expired: ['payer', 'The prompt expired before it was answered.', 'Ask for a new prompt and answer it on the phone.'],
  prompt_not_delivered: [
    'payer',
    'The prompt could not be sent to the phone.',
    'Turn the phone on and check its connection, then ask for a new prompt.',
  ],
  prompt_cancelled: ['payer', 'The prompt was cancelled on the phone.', 'Ask for a new prompt if the money is still wanted.'],
  prompt_unanswered: [
    'payer',
    'The phone did not answer the prompt.',
    'Turn the phone on and check its connection, then ask for a new prompt.',
  ],
  wrong_pin: ['payer', 'The PIN that was entered is wrong.', 'Ask for a new prompt and enter the right PIN.'],
  initiator_refused: [
    'operator',
    'The provider does not accept the credentials that pay out.',
    'Correct the credentials of the provider. Then make a new payment.',
  ],
  account_inactive: ['payee', 'An account is in a state that does not permit this.', 'Ask the provider to activate the account.'],
  account_locked: ['payee', 'The account is locked.', 'Ask the provider to unlock the account.'],
  receiver_not_registered: [
    'requester',
    'The receiver is not a registered customer.',
    'Check the number of the beneficiary, or pay by another method.',
  ],
  unknown_operator: [
    'operator',
    'The provider does not know the operator.',
    'Correct the initiator name of the provider. Then make a new payment.',
  ],
  provider_declined: [
    'requester',
    'The provider declined the payment.',
    'Check the beneficiary and the amount. If both are right, contact support.',
  ],
  provider_cancelled: ['requester', 'The provider cancelled the payment.', 'Make a new payment if it is still wanted.'],
  provider_expired: ['requester', 'The payment expired at the provider.', 'Make a new payment if it is still wanted.'],
  provider_failed: [
    'requester',
    'The provider reports that the payment failed.',
    'Make a new payment later. If it fails again, contact support.',
  ],
  provider_refused: [
    'operator',
    'The provider refused the request.',
    'Read the log of the attempt; `provider_code` names the reason.',
  ],
  provider_unreachable: [
    'requester',
    'The provider could not be reached; nothing was sent.',
    'Make a new payment in a few minutes.',
  ],
  invalid_amount: ['requester', 'The rail cannot move this amount.', 'Use an amount that the rail accepts.'],
  invalid_destination: [
    'requester',
    'The destination, or its bank, cannot be paid by this rail.',
    'Create the beneficiary again with the right destination.',
  ],
  invalid_account_reference: [
    'requester',
    'The account reference cannot be passed on unchanged.',
    'Use a shorter reference of letters and digits.',
  ],
  invalid_reference: [
    'requester',
    'The reference is not one that the provider accepts.',
    'Check the account number or till of the beneficiary.',
  ],
  wrong_rail: ['requester', 'This rail does not carry the payment.', 'Create the beneficiary for the rail that reaches it.'],
  insufficient_funds: [
    'requester',
    'The available balance did not cover the payment when it was due.',
    'Top up the account. Then make a new payment.',
  ],
  policy_denied: [
    'requester',
    'A limit or a rule did not allow the payment when it was due.',
    'Make a new payment: it is decided by the current limits.',
  ],
  approval_expired: [
    'requester',
    'No one approved the payment before it was due.',
    'Make a new payment, and have it approved in time.',
  ],
  policy_changed: [
    'requester',
    'The rules changed after the payment was made, and no longer allow it.',
    'Make a new payment: it is decided by the current rules.',
  ],
  resolved_by_operator: [
    'requester',
    'An operator found that the payment was not made.',
    'Make a new payment if it is still wanted.',
  ],
} as const satisfies Record<string, Row>

export type FailureCode = keyof typeof failures

export const failureCodes = Object.keys(failures) as [FailureCode, ...FailureCode[]]

/** It ended before anything of it went to the provider. */
export const unsentFailures: readonly FailureCode[] = [
  ...(['approval_expired', 'insufficient_funds', 'policy_changed', 'policy_denied'] as const),
  ...(['invalid_account_reference', 'invalid_amount', 'invalid_destination', 'provider_unreachable', 'wrong_rail'] as const),
]

/** What was scheduled ended at its time, before its amount was held. */
export const unheldFailures: readonly FailureCode[] = ['approval_expired', 'insufficient_funds', 'policy_denied']

export const failureRow = (code: FailureCode) => {
  const [actor, sentence, fix]: Row = failures[code]
  return { actor, sentence, fix }
}

export const isFailureCode = (text: string): text is FailureCode => Object.hasOwn(failures, text)

/** `message` is a sentence without phone or account numbers. */
export type Failure = { code: FailureCode; providerCode: string | null; message: string }

export const failure = (code: FailureCode, providerCode: string | null = null, message?: string): Failure => ({
  code,
  providerCode,
  message: message ?? failureRow(code).sentence,
})
