import { type Failure, type FailureCode, failure } from '../../errors/failures.ts'

/**
 * Result codes that prove that no money moved, and our code for each. A code that is not listed proves nothing and is `unknown`.
 * The provider's wording varies, so the code alone counts.
 */
const shared = {
  '2': 'amount_too_small',
  '3': 'amount_too_large',
  '4': 'daily_limit_reached',
  '8': 'receiver_limit_reached',
  '2028': 'provider_rule',
  '8006': 'account_locked',
  SFC_IC0003: 'unknown_operator',
} as const satisfies Record<string, FailureCode>

const collection: Readonly<Record<string, FailureCode>> = {
  ...shared,
  '1': 'payer_insufficient_funds',
  '17': 'provider_rule',
  '26': 'provider_busy',
  '1001': 'payer_busy',
  '1019': 'prompt_expired',
  '1025': 'prompt_not_delivered',
  '1032': 'prompt_cancelled',
  '1037': 'prompt_unanswered',
  '2001': 'wrong_pin',
  '9999': 'prompt_not_delivered',
}

const payout: Readonly<Record<string, FailureCode>> = {
  ...shared,
  '1': 'float_insufficient',
  '11': 'account_inactive',
  '21': 'initiator_refused',
  '2001': 'initiator_refused',
  '2006': 'account_inactive',
  '2040': 'receiver_not_registered',
}

const lookUp =
  (table: Readonly<Record<string, FailureCode>>) =>
  (providerCode: string): Failure | undefined => {
    const code = Object.hasOwn(table, providerCode) ? table[providerCode] : undefined
    return code && failure(code, providerCode)
  }

export const collectionFailure = lookUp(collection)
export const payoutFailure = lookUp(payout)

/** The prompt is still open on the phone. */
export const stillUnderWay = '4999'

/** TransactionStatus words that end a payment without money. */
export const endedStatuses: Readonly<Record<string, FailureCode>> = {
  declined: 'provider_declined',
  cancelled: 'provider_cancelled',
  expired: 'provider_expired',
}
