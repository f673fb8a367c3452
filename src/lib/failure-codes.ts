/**
 * The reason why money did not move: the closed list behind `failure_code`. Providers' own codes differ by rail and change; they are in
 * `provider_code`. The sentence is for people; programs may rely on the code.
 */
const sentences = {
  payer_insufficient_funds: 'The payer does not have enough money.',
  float_insufficient: 'The account that pays out does not have enough money at the provider.',
  amount_too_small: 'The amount is below what the provider moves.',
  amount_too_large: 'The amount is above what the provider moves.',
  daily_limit_reached: 'A daily limit of the provider would be exceeded.',
  receiver_limit_reached: 'The receiving account would hold more than it may.',
  provider_rule: 'A rule of the provider does not permit this transaction.',
  provider_busy: 'The provider was too busy to carry it out.',
  payer_busy: 'The payer has another transaction under way.',
  prompt_expired: 'The prompt expired before it was answered.',
  prompt_not_delivered: 'The prompt could not be sent to the phone.',
  prompt_cancelled: 'The prompt was cancelled on the phone.',
  prompt_unanswered: 'The phone did not answer the prompt.',
  wrong_pin: 'The PIN that was entered is wrong.',
  initiator_refused: 'The provider does not accept the credentials that pay out.',
  account_inactive: 'An account is in a state that does not permit this.',
  account_locked: 'The account is locked.',
  receiver_not_registered: 'The receiver is not a registered customer.',
  unknown_operator: 'The provider does not know the operator.',
  provider_declined: 'The provider declined the payment.',
  provider_cancelled: 'The provider cancelled the payment.',
  provider_expired: 'The payment expired at the provider.',
  provider_failed: 'The provider reports that the payment failed.',
  provider_refused: 'The provider refused the request.',
  provider_unreachable: 'The provider could not be reached; nothing was sent.',
  invalid_amount: 'The rail cannot move this amount.',
  invalid_destination: 'The destination, or its bank, cannot be paid by this rail.',
  invalid_account_reference: 'The account reference cannot be passed on unchanged.',
  invalid_reference: 'The reference is not one that the provider accepts.',
  wrong_rail: 'This rail does not carry the payment.',
  policy_changed: 'The rules changed after the payment was made, and no longer allow it.',
  resolved_by_operator: 'An operator found that the payment was not made.',
} as const

export type FailureCode = keyof typeof sentences

export const failureCodes = Object.keys(sentences) as [FailureCode, ...FailureCode[]]

export const failureSentence = (code: FailureCode): string => sentences[code]

export const isFailureCode = (text: string): text is FailureCode => Object.hasOwn(sentences, text)

/** Why nothing moved: our code, the provider's own if it gave one, and a sentence without phone or account numbers. */
export type Failure = { code: FailureCode; providerCode: string | null; message: string }

export const failure = (code: FailureCode, providerCode: string | null = null, message?: string): Failure => ({
  code,
  providerCode,
  message: message ?? sentences[code],
})
