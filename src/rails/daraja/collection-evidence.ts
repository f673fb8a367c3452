import { readShillings } from '../amounts.ts'
import type { Exchange } from '../exchange.ts'
import { asText, field, textField } from '../json.ts'
import type { Delivery, DeliveryKind, Evidence } from '../rail.ts'
import { receiptOf, safeCode } from '../text.ts'
import { collectionFailure, stillUnderWay } from './codes.ts'
import { metadataItem } from './result.ts'

const unknown = (code: string, message: string): Evidence => ({ kind: 'unknown', code, message })
const movedUnread = (code: string, message: string): Evidence => ({ kind: 'unknown', code, message, moved: true })

/** Every code but success: it is evidence only when the code proves that nothing was paid. */
const readOtherCode = (code: string | undefined): Evidence => {
  if (code === stillUnderWay) return { kind: 'pending' }
  const failure = code === undefined ? undefined : collectionFailure(code)
  return code === undefined || failure === undefined
    ? unknown(safeCode(code), 'The provider gave a result code that proves nothing.')
    : { kind: 'failed', ...failure }
}

const readPaid = (callback: unknown): Evidence => {
  const receipt = receiptOf(metadataItem(callback, 'MpesaReceiptNumber'))
  if (receipt === undefined) return movedUnread('no_receipt', 'The provider reports a success without a receipt.')
  const amount = metadataItem(callback, 'Amount')
  const amountMinor = amount === undefined ? null : readShillings(amount)
  if (amountMinor === undefined)
    return movedUnread('unreadable_amount', 'The provider reports a success of an unreadable amount.')
  return { kind: 'succeeded', receipt, amountMinor }
}

export const readCollectionDelivery = (kind: DeliveryKind, body: unknown): Delivery => {
  const callback = field(field(body, 'Body'), 'stkCallback')
  const provider = {
    request: textField(callback, 'CheckoutRequestID') ?? null,
    conversation: textField(callback, 'MerchantRequestID') ?? null,
  }
  if (kind === 'timeout') return { evidence: unknown('queue_timeout', 'The provider has not decided in time.'), provider }
  const code = asText(field(callback, 'ResultCode'))
  if (code === undefined) return { evidence: unknown('unreadable', 'The delivery could not be understood.'), provider }
  return { evidence: code === '0' ? readPaid(callback) : readOtherCode(code), provider }
}

/**
 * The STK query's answer. It does not name a receipt or an amount: a success is proven, its receipt may still come by callback.
 * 500.001.1001 is returned for payments under way and for payments that exist: it proves nothing.
 */
export const readCollectionQuery = (answer: Exchange, checkoutRequestId: string): Evidence => {
  if (answer.kind !== 'answer') return unknown('unreachable', 'The provider could not be queried.')
  const errorCode = textField(answer.body, 'errorCode')
  if (errorCode === '500.001.1001') return { kind: 'pending' }
  if (errorCode !== undefined) return unknown(safeCode(errorCode), 'The provider did not accept the query.')
  const code = textField(answer.body, 'ResultCode')
  if (answer.status < 200 || answer.status >= 300 || code === undefined) {
    return unknown('unreadable', 'The answer could not be understood.')
  }
  const named = textField(answer.body, 'CheckoutRequestID')
  if (named !== undefined && named !== checkoutRequestId) return unknown('other_request', 'The answer is about another request.')
  return code === '0' ? { kind: 'succeeded', receipt: null, amountMinor: null } : readOtherCode(code)
}
