import { failure as failureOf } from '../../errors/failures.ts'
import { parseKenyanMobile } from '../../lib/phone.ts'
import { nameless, succeeded, unknown } from '../evidence.ts'
import { readShillings } from '../fields.ts'
import type { Attempt, Delivery, DeliveryKind, Evidence } from '../rail.ts'
import { receiptOf, safeCode, safeMessage } from '../text.ts'
import { type Result, readResult } from './answers.ts'
import { endedStatuses, payoutFailure } from './codes.ts'

type QueriedAttempt = Pick<Attempt, 'orderId' | 'rail' | 'provider'>

/** The value of TransactionID when there was no transaction: "OAK0000000". */
const isPlaceholder = (receipt: string): boolean => /0{7}$/.test(receipt)

/** "Duplicate Detected": the result of a repeat. What it repeats is still under way, or has its own result. */
const duplicateResults = new Set(['13', '15'])

/** A real success always has both. */
const paid = (named: string | undefined, amount: string | undefined, payee: string | undefined): Evidence => {
  const receipt = receiptOf(named)
  return succeeded(receipt !== undefined && isPlaceholder(receipt) ? undefined : receipt, readShillings(amount), payee)
}

/**
 * Whether the result is the payout's own. The answer to a status query comes to the same URL under other ids, and it may be a
 * refusal (our credential has expired, say) with a code that would be a failure in a payout's result. A B2B attempt without the
 * provider's ids (its submit was not answered) can never have been asked about, so nothing else can come to its URL: its receiver is compared.
 */
const isNamedByAddressAlone = ({ rail, provider: { request, conversation } }: QueriedAttempt): boolean =>
  rail === 'MPESA_B2B' && request === null && conversation === null

const isOwnResult = (result: Result, attempt: QueriedAttempt): boolean => {
  const { request, conversation } = attempt.provider
  if (isNamedByAddressAlone(attempt)) return true
  if (attempt.rail === 'MPESA_B2C' && result.provider.request === attempt.orderId) return true
  return (
    (request !== null && result.provider.request === request) ||
    (conversation !== null && result.provider.conversation === conversation)
  )
}

/**
 * A success at the attempt's own address counts for the attempt, whatever other ids it names. A failure must name it: the refusal of a query of ours
 * comes to the same address.
 */
const readPayoutResult = (result: Result, attempt: QueriedAttempt): Evidence => {
  const code = result.code ?? ''
  if (code === '0') {
    const receipt = result.parameter('TransactionReceipt') ?? result.transactionId
    const amount = result.parameter(attempt.rail === 'MPESA_B2C' ? 'TransactionAmount' : 'Amount')
    return paid(receipt, amount, result.parameter('ReceiverPartyPublicName'))
  }
  if (!isOwnResult(result, attempt)) return unknown('other_request', 'The delivery answers another request than the payout.')
  const failure = payoutFailure(code)
  return failure === undefined
    ? unknown(safeCode(code), 'The provider gave a result code that proves nothing.')
    : { kind: 'failed', ...failure }
}

/**
 * TransactionStatus of a status query's result. 2032 (no such receipt) has none: that a receipt is not found does not prove that nothing
 * was sent.
 */
const readStatus = (status: string, result: Result, attempt: QueriedAttempt): Evidence => {
  const conversation = result.parameter('ConversationID')
  const isOther =
    conversation !== undefined && attempt.provider.conversation !== null && conversation !== attempt.provider.conversation
  if (result.code !== '0') return unknown(safeCode(result.code), 'The provider could not determine the status.')
  const word = status.toLowerCase()
  const ended = Object.hasOwn(endedStatuses, word) ? endedStatuses[word] : undefined
  if (ended && isOther) return unknown('other_request', 'The status is that of another payment.')
  if (ended) {
    const reason = safeMessage(result.parameter('TransactionReason'), `The provider reports the payment as ${word}.`)
    return { kind: 'failed', ...failureOf(ended, word, reason) }
  }
  switch (word) {
    case 'completed':
      return paid(result.parameter('ReceiptNo'), result.parameter('Amount'), result.parameter('CreditPartyName'))
    case 'initiated':
    case 'authorized':
      return { kind: 'pending' }
    default:
      return unknown('unknown_status', 'The provider gave a status that proves nothing.')
  }
}

/**
 * The number in "254708374149 - John Doe". A phone's counts only as a whole: providers mask numbers. An organisation's is compared only where
 * nothing else names the attempt, because a till's may be that of its head office.
 */
const receiverOf = (attempt: QueriedAttempt, text = ''): string | undefined => {
  const number = /^\s*\+?(\d+)(?![\d*])/.exec(text)?.[1]
  if (attempt.rail === 'MPESA_B2C') return number === undefined ? undefined : parseKenyanMobile(number)
  return isNamedByAddressAlone(attempt) ? number : undefined
}

/** What a delivery to a B2C or B2B attempt's URLs says. A delivery to the time-out URL only says that the outcome is not known yet. */
export const readPayoutDelivery = (kind: DeliveryKind, body: unknown, attempt: QueriedAttempt): Delivery => {
  const result = readResult(body)
  if (kind === 'timeout') {
    return { evidence: unknown('queue_timeout', 'The provider has not decided in time.'), provider: result?.provider ?? nameless }
  }
  if (!result) return { evidence: unknown('unreadable', 'The delivery could not be understood.'), provider: nameless }
  const status = result.parameter('TransactionStatus')
  if (status === undefined) {
    // Its conversation is the repeat's own, and must not be taken for the order's.
    const isRepeat = attempt.rail === 'MPESA_B2C' && duplicateResults.has(result.code ?? '')
    const evidence = readPayoutResult(result, attempt)
    const receiver = receiverOf(attempt, result.parameter('ReceiverPartyPublicName'))
    if (evidence.kind === 'succeeded' && receiver === undefined && isNamedByAddressAlone(attempt))
      return { evidence: unknown('no_receiver', 'The provider does not say who was paid.'), provider: nameless }
    return { evidence, provider: isRepeat ? nameless : result.provider, ...(receiver !== undefined && { receiver }) }
  }
  // The ids of the envelope belong to the query; the payment's ids are among the parameters.
  const provider = { request: null, conversation: result.parameter('ConversationID') ?? null }
  const receiver = receiverOf(attempt, result.parameter('CreditPartyName'))
  return {
    evidence: readStatus(status, result, attempt),
    provider,
    answersQuery: true,
    ...(receiver !== undefined && { receiver }),
  }
}
