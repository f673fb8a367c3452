import { failure } from '../../errors/failures.ts'
import { movedUnread, succeeded, unknown } from '../evidence.ts'
import { asText, field, readShillings, textField } from '../fields.ts'
import type { Attempt, Delivery, DeliveryKind, Evidence } from '../rail.ts'
import { receiptOf, safeCode } from '../text.ts'

const failed = (code: string | undefined, failureCodes: readonly string[]): Evidence =>
  code !== undefined && failureCodes.includes(code)
    ? { kind: 'failed', ...failure('provider_failed', safeCode(code), 'The bank reports that the transfer failed.') }
    : unknown(safeCode(code), 'The bank reports a failure that proves nothing.')

/** Null where the bank states none, undefined where it cannot be read. */
const amountOf = (details: unknown) => {
  const stated = field(details, 'amount')
  return stated === undefined || stated === null ? null : readShillings(stated)
}

/**
 * What a transaction's details prove. "Failed" alone is not enough: Jenga answers Failed with code 400105 for "unknown status, contact
 * support". So the code must be one that the bank documents as final.
 */
export const readDetails = (details: unknown, failureCodes: readonly string[]): Evidence => {
  const state = (textField(details, 'state') ?? textField(details, 'status') ?? '').toLowerCase()
  const receipt = receiptOf(textField(details, 'transactionId') ?? textField(details, 'transactionReference'))
  switch (state) {
    case 'success':
      return succeeded(receipt, amountOf(details), textField(details, 'receiverName'))
    case 'failed':
      return failed(asText(field(details, 'code')), failureCodes)
    case 'returned':
    case 'reversed': {
      const amountMinor = amountOf(details)
      if (amountMinor === undefined) return movedUnread('unreadable_amount', 'The bank reports a return of an unreadable amount.')
      return { kind: 'returned', receipt: receipt ?? null, amountMinor, message: 'The bank has sent the money back.' }
    }
    case 'pending':
    case 'processing':
      return { kind: 'pending' }
    default:
      return unknown('unknown_state', 'The bank gave a state that proves nothing.')
  }
}

const named = (details: unknown): string | undefined =>
  textField(details, 'reference') ?? textField(details, 'transactionReference')

/** The answer to a query by reference. Jenga's own does not repeat the reference, so only an answer with a different one is rejected. */
export const readAnswer = (details: unknown, reference: string, failureCodes: readonly string[]): Evidence => {
  const other = textField(details, 'reference')
  return other !== undefined && other !== reference
    ? unknown('other_request', 'The answer is about another payment.')
    : readDetails(details, failureCodes)
}

/** A delivery has the query's shape: `{status, code, message, data: {reference, transactionId, state, code, amount}}`. */
export const readTransferDelivery =
  (failureCodes: readonly string[]) =>
  (kind: DeliveryKind, body: unknown, attempt: Pick<Attempt, 'reference'>): Delivery => {
    const details = field(body, 'data')
    const provider = {
      request: named(details) ?? null,
      conversation: textField(details, 'transactionId') ?? null,
    }
    if (kind === 'timeout') return { evidence: unknown('queue_timeout', 'The bank has not decided in time.'), provider }
    const evidence = readDetails(details, failureCodes)
    // It came to the attempt's own address. Only a failure must name it.
    return evidence.kind === 'failed' && provider.request !== attempt.reference
      ? { evidence: unknown('other_request', 'The delivery does not name this payment.'), provider }
      : { evidence, provider }
  }
