import { type Failure, type FailureCode, failure } from '../../errors/failures.ts'
import { refused } from '../evidence.ts'
import type { Exchange } from '../exchange.ts'
import { asText, field, textField } from '../fields.ts'
import { throttled } from '../gateway.ts'
import { pairIn } from '../outcomes.ts'
import type { ProviderReference, Submission } from '../rail.ts'
import { safeCode, safeMessage } from '../text.ts'

const duplicateId = '500.002.1001'

/** Rejected before processing, because of too many concurrent requests or an exhausted quota. */
const gatewayRejections = new Set(['500.003.02', '500.003.03'])

const lost = (message: string): Submission & { kind: 'lost' } => ({ kind: 'lost', message })

export const referenceOfAnswer =
  (sentId: string | null) =>
  (body: unknown): ProviderReference | undefined => {
    const request = textField(body, 'OriginatorConversationID') ?? sentId
    const conversation = textField(body, 'ConversationID') ?? null
    return request === null && conversation === null ? undefined : { request, conversation }
  }

/**
 * `refused` requires the provider's own 4xx response with a 4xx code. Any other response without acceptance is `lost`:
 * 500.002.1001 (a duplicate), 500.001.1001 (also sent for existing payments), HTML, or no code.
 */
export const readSubmission = (
  answer: Exchange,
  referenceOf: (body: unknown) => ProviderReference | undefined,
  hasOurId = false,
): Submission => {
  if (answer.kind !== 'answer') return answer
  const errorCode = textField(answer.body, 'errorCode')
  const message = textField(answer.body, 'errorMessage')
  if (errorCode !== undefined && gatewayRejections.has(errorCode)) return throttled
  if (errorCode?.startsWith('4') && answer.status >= 400 && answer.status < 500) {
    return refused('provider_refused', safeMessage(message, 'The provider rejected the request.'), safeCode(errorCode))
  }
  const accepted = answer.status >= 200 && answer.status < 300 && textField(answer.body, 'ResponseCode') === '0'
  const provider = accepted ? referenceOf(answer.body) : undefined
  if (provider) return { kind: 'accepted', provider }
  if (hasOurId && errorCode === duplicateId) return { ...lost('The provider has this order already.'), duplicate: true }
  return lost(errorCode === undefined ? 'The answer could not be understood.' : `The provider answered ${safeCode(errorCode)}.`)
}

/** Finds parameters by name, because their order and number vary and a single one is not always a list. */
export const readResult = (body: unknown) => {
  const result = field(body, 'Result')
  if (field(result, 'ResultCode') === undefined) return undefined
  const given = field(result, 'ResultParameters')
  const parameters = field(given, 'ResultParameter') ?? given
  return {
    code: textField(result, 'ResultCode'),
    transactionId: textField(result, 'TransactionID'),
    provider: {
      request: textField(result, 'OriginatorConversationID') ?? null,
      conversation: textField(result, 'ConversationID') ?? null,
    },
    parameter: (name: string) => asText(pairIn(parameters, 'Key', name)),
  }
}
export type Result = NonNullable<ReturnType<typeof readResult>>

export const metadataItem = (callback: unknown, name: string): string | undefined =>
  asText(pairIn(field(field(callback, 'CallbackMetadata'), 'Item') ?? field(callback, 'CallbackMetadata'), 'Name', name))

/** Codes that prove that no money moved. All others prove nothing. Only the code counts, because texts vary. */
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

export const stillUnderWay = '4999'

export const statusFailure = lookUp({
  declined: 'provider_declined',
  cancelled: 'provider_cancelled',
  expired: 'provider_expired',
})
