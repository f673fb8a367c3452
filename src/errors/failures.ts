/** Who can do something about a payment or a top-up that failed. */
export const failureActors = {
  requester: 'the requester',
  payer: 'the payer',
  payee: 'the payee',
  operator: 'the operator of the service',
} as const
type FailureActor = keyof typeof failureActors

type Row = {
  /** Names no person and no number: it is stored with the payment. */
  sentence: string
  actor: FailureActor
  /** What the actor does. */
  fix: string
}

/**
 * Why money did not move: the closed list of `failure_code`. Providers' own codes differ by rail and change; they are in `provider_code`.
 * Programs may rely on the code; the texts are for people.
 */
const failures = {
  payer_insufficient_funds: {
    sentence: 'The payer does not have enough money.',
    actor: 'payer',
    fix: 'Add money to the M-PESA account, or ask for a smaller amount.',
  },
  float_insufficient: {
    sentence: 'The account that pays out does not have enough money at the provider.',
    actor: 'operator',
    fix: 'Fund the account at the provider. Then make a new payment.',
  },
  amount_too_small: {
    sentence: 'The amount is below what the provider moves.',
    actor: 'requester',
    fix: 'Use a larger amount.',
  },
  amount_too_large: {
    sentence: 'The amount is above what the provider moves.',
    actor: 'requester',
    fix: 'Use a smaller amount, or several.',
  },
  other_amount: {
    sentence: 'Another amount came than was asked for. A person looks at it.',
    actor: 'operator',
    fix: 'Wait: an administrator credits what came, or sends it back.',
  },
  daily_limit_reached: {
    sentence: 'A daily limit of the provider would be exceeded.',
    actor: 'requester',
    fix: 'Try again tomorrow, or with a smaller amount.',
  },
  receiver_limit_reached: {
    sentence: 'The receiving account would hold more than it may.',
    actor: 'payee',
    fix: 'Move money out of the account, or raise its limit with the provider.',
  },
  provider_rule: {
    sentence: 'A rule of the provider does not permit this transaction.',
    actor: 'operator',
    fix: 'Ask the provider which rule it is; `provider_code` names it.',
  },
  provider_busy: {
    sentence: 'The provider was too busy to carry it out.',
    actor: 'requester',
    fix: 'Try again in a few minutes.',
  },
  payer_busy: {
    sentence: 'The payer has another transaction under way.',
    actor: 'payer',
    fix: 'Finish the other transaction, then try again.',
  },
  prompt_expired: {
    sentence: 'The prompt expired before it was answered.',
    actor: 'payer',
    fix: 'Ask for a new prompt and answer it on the phone.',
  },
  prompt_not_delivered: {
    sentence: 'The prompt could not be sent to the phone.',
    actor: 'payer',
    fix: 'Turn the phone on and check its connection, then ask for a new prompt.',
  },
  prompt_cancelled: {
    sentence: 'The prompt was cancelled on the phone.',
    actor: 'payer',
    fix: 'Ask for a new prompt if the money is still wanted.',
  },
  prompt_unanswered: {
    sentence: 'The phone did not answer the prompt.',
    actor: 'payer',
    fix: 'Turn the phone on and check its connection, then ask for a new prompt.',
  },
  wrong_pin: {
    sentence: 'The PIN that was entered is wrong.',
    actor: 'payer',
    fix: 'Ask for a new prompt and enter the right PIN.',
  },
  initiator_refused: {
    sentence: 'The provider does not accept the credentials that pay out.',
    actor: 'operator',
    fix: 'Correct the credentials of the provider. Then make a new payment.',
  },
  account_inactive: {
    sentence: 'An account is in a state that does not permit this.',
    actor: 'payee',
    fix: 'Ask the provider to activate the account.',
  },
  account_locked: { sentence: 'The account is locked.', actor: 'payee', fix: 'Ask the provider to unlock the account.' },
  receiver_not_registered: {
    sentence: 'The receiver is not a registered customer.',
    actor: 'requester',
    fix: 'Check the number of the beneficiary, or pay by another method.',
  },
  unknown_operator: {
    sentence: 'The provider does not know the operator.',
    actor: 'operator',
    fix: 'Correct the initiator name of the provider. Then make a new payment.',
  },
  provider_declined: {
    sentence: 'The provider declined the payment.',
    actor: 'requester',
    fix: 'Check the beneficiary and the amount. If both are right, contact support.',
  },
  provider_cancelled: {
    sentence: 'The provider cancelled the payment.',
    actor: 'requester',
    fix: 'Make a new payment if it is still wanted.',
  },
  provider_expired: {
    sentence: 'The payment expired at the provider.',
    actor: 'requester',
    fix: 'Make a new payment if it is still wanted.',
  },
  provider_failed: {
    sentence: 'The provider reports that the payment failed.',
    actor: 'requester',
    fix: 'Make a new payment later. If it fails again, contact support.',
  },
  provider_refused: {
    sentence: 'The provider refused the request.',
    actor: 'operator',
    fix: 'Read the log of the attempt; `provider_code` names the reason.',
  },
  provider_unreachable: {
    sentence: 'The provider could not be reached; nothing was sent.',
    actor: 'requester',
    fix: 'Make a new payment in a few minutes.',
  },
  invalid_amount: {
    sentence: 'The rail cannot move this amount.',
    actor: 'requester',
    fix: 'Use an amount that the rail accepts.',
  },
  invalid_destination: {
    sentence: 'The destination, or its bank, cannot be paid by this rail.',
    actor: 'requester',
    fix: 'Create the beneficiary again with the right destination.',
  },
  invalid_account_reference: {
    sentence: 'The account reference cannot be passed on unchanged.',
    actor: 'requester',
    fix: 'Use a shorter reference of letters and digits.',
  },
  invalid_reference: {
    sentence: 'The reference is not one that the provider accepts.',
    actor: 'requester',
    fix: 'Check the account number or till of the beneficiary.',
  },
  wrong_rail: {
    sentence: 'This rail does not carry the payment.',
    actor: 'requester',
    fix: 'Create the beneficiary for the rail that reaches it.',
  },
  insufficient_funds: {
    sentence: 'The available balance did not cover the payment when it was due.',
    actor: 'requester',
    fix: 'Top up the account. Then make a new payment.',
  },
  policy_denied: {
    sentence: 'A limit or a rule did not allow the payment when it was due.',
    actor: 'requester',
    fix: 'Make a new payment: it is decided by the current limits.',
  },
  approval_expired: {
    sentence: 'Nobody approved the payment before it was due.',
    actor: 'requester',
    fix: 'Make a new payment, and have it approved in time.',
  },
  policy_changed: {
    sentence: 'The rules changed after the payment was made, and no longer allow it.',
    actor: 'requester',
    fix: 'Make a new payment: it is decided by the current rules.',
  },
  resolved_by_operator: {
    sentence: 'An operator found that the payment was not made.',
    actor: 'requester',
    fix: 'Make a new payment if it is still wanted.',
  },
} as const satisfies Record<string, Row>

export type FailureCode = keyof typeof failures

export const failureCodes = Object.keys(failures) as [FailureCode, ...FailureCode[]]

export const failureRow = (code: FailureCode): Row => failures[code]

export const isFailureCode = (text: string): text is FailureCode => Object.hasOwn(failures, text)

/** Why nothing moved: our code, the provider's own if it gave one, and a sentence without phone or account numbers. */
export type Failure = { code: FailureCode; providerCode: string | null; message: string }

export const failure = (code: FailureCode, providerCode: string | null = null, message?: string): Failure => ({
  code,
  providerCode,
  message: message ?? failureRow(code).sentence,
})
