import { randomUUID } from 'node:crypto'
import type { Clock } from '../../lib/clock.ts'
import { parseKenyanMobile } from '../../lib/phone.ts'
import { shortcodeForm } from '../destinations.ts'
import { noReference, type Refused, readNameAnswer, refused, returned, succeeded, unknown } from '../evidence.ts'
import { field, mobileForm, nairobiTimestamp, readReturned, readShillings, textField, wholeShillings } from '../fields.ts'
import { permissionFor, type Send } from '../gateway.ts'
import { outcomeOf } from '../outcomes.ts'
import type { Attempt, Delivery, DeliveryKind, Evidence, LookUp, PayoutAdapter, PayoutInstruction, Submission } from '../rail.ts'
import { exactReference, receiptOf, remarks, safeCode, safeMessage } from '../text.ts'
import { payoutFailure, type Result, readResult, readSubmission, referenceOfAnswer, statusFailure } from './answers.ts'
import { type DarajaOptions, payerOf } from './gateway.ts'

type Prepared = { path: string; body: Record<string, string> } | Refused

/** Sends our id as the OriginatorConversationID, so that the provider itself refuses to pay an order twice. */
const toMobile = (options: DarajaOptions, { destination, orderId }: PayoutInstruction): Prepared =>
  mobileForm.test(destination)
    ? {
        path: '/mpesa/b2c/v3/paymentrequest',
        body: { OriginatorConversationID: orderId, InitiatorName: options.initiatorName, CommandID: 'BusinessPayment' },
      }
    : refused('invalid_destination', 'The destination is not a Kenyan mobile number.')

/** With an account reference, the destination is a paybill. Without one, it is a till. */
const toOrganisation = (options: DarajaOptions, instruction: PayoutInstruction): Prepared => {
  const { destination, accountReference, reference } = instruction
  if (!shortcodeForm.test(destination)) return refused('invalid_destination', 'The destination is not a paybill or till number.')
  const isPaybill = accountReference !== null
  const account = isPaybill ? exactReference(accountReference, 13) : reference
  if (account === undefined) return refused('invalid_account_reference', 'The account reference cannot be passed on unchanged.')
  return {
    path: '/mpesa/b2b/v1/paymentrequest',
    body: {
      Initiator: options.initiatorName,
      CommandID: isPaybill ? 'BusinessPayBill' : 'BusinessBuyGoods',
      SenderIdentifierType: '4',
      RecieverIdentifierType: isPaybill ? '4' : options.tillIdentifierType,
      AccountReference: account,
    },
  }
}

/** Excludes the credential, which changes at each start. The field order is fixed, because releases compare fingerprints. */
const prepare = (options: DarajaOptions, instruction: PayoutInstruction): Prepared => {
  const amount = wholeShillings(instruction.amountMinor)
  if (amount === undefined) return refused('invalid_amount', 'M-PESA moves whole shillings only.')
  if (instruction.rail !== 'MPESA_B2C' && instruction.rail !== 'MPESA_B2B')
    return refused('wrong_rail', 'This rail does not support the payment.')
  const prepared = instruction.rail === 'MPESA_B2C' ? toMobile(options, instruction) : toOrganisation(options, instruction)
  if ('kind' in prepared) return prepared
  const common = {
    PartyA: payerOf(options, instruction.rail),
    Amount: amount,
    PartyB: instruction.destination,
    Remarks: remarks(instruction, 100),
    QueueTimeOutURL: instruction.callbacks.timeout,
    ResultURL: instruction.callbacks.result,
    Occassion: instruction.reference,
  }
  return { ...prepared, body: { ...prepared.body, ...common } }
}

type QueriedAttempt = Pick<Attempt, 'orderId' | 'rail' | 'provider'>

/** A placeholder TransactionID without a transaction, such as "OAK0000000". */
const isPlaceholder = (receipt = ''): boolean => /0{7}$/.test(receipt)

/** "Duplicate Detected": the original order is in progress or has its own result. */
const duplicateResults = new Set(['13', '15'])

const successOf = (named: string | undefined, amount: string | undefined, payee: string | undefined): Evidence =>
  succeeded(receiptOf(isPlaceholder(named) ? undefined : named), readShillings(amount), payee)

/** Without a response, a B2B order cannot be queried, so only its result arrives at its URL. Its receiver is compared. */
const isKnownByUrlOnly = ({ rail, provider: { request, conversation } }: QueriedAttempt): boolean =>
  rail === 'MPESA_B2B' && request === null && conversation === null

const isOwnResult = (result: Result, attempt: QueriedAttempt): boolean => {
  const { request, conversation } = attempt.provider
  if (isKnownByUrlOnly(attempt)) return true
  if (attempt.rail === 'MPESA_B2C' && result.provider.request === attempt.orderId) return true
  return (
    (request !== null && result.provider.request === request) ||
    (conversation !== null && result.provider.conversation === conversation)
  )
}

/**
 * A success at the attempt's own URL counts, whatever other ids it contains. A failure must contain the attempt's id, because the
 * failure of a query (for example with an expired credential) arrives at the same URL.
 */
const readPayoutResult = (result: Result, attempt: QueriedAttempt): Evidence => {
  const code = result.code ?? ''
  if (code === '0') {
    const receipt = result.parameter('TransactionReceipt') ?? result.transactionId
    const amount = result.parameter(attempt.rail === 'MPESA_B2C' ? 'TransactionAmount' : 'Amount')
    return successOf(receipt, amount, result.parameter('ReceiverPartyPublicName'))
  }
  if (!isOwnResult(result, attempt)) return unknown('other_request', 'The delivery answers another request than the payout.')
  const known = payoutFailure(code)
  return known === undefined
    ? unknown(safeCode(code), 'The provider gave a result code that proves nothing.', duplicateResults.has(code) ? '' : code)
    : { kind: 'failed', ...known, providerStatus: code }
}

/** 2032 has no status: a missing receipt does not prove that nothing was sent. */
const readStatus = (status: string, result: Result, attempt: QueriedAttempt): Evidence => {
  const conversation = result.parameter('ConversationID')
  const isOther =
    conversation !== undefined && attempt.provider.conversation !== null && conversation !== attempt.provider.conversation
  if (result.code !== '0') return unknown(safeCode(result.code), 'The provider could not determine the status.')
  const word = status.toLowerCase()
  const ended = statusFailure(word)
  const outcome = outcomeOf(status)
  if (ended && isOther) return unknown('other_request', 'The status is that of another payment.')
  if (ended) {
    const message = safeMessage(result.parameter('TransactionReason'), `The provider reports the payment as ${word}.`)
    return { kind: 'failed', ...ended, message, providerStatus: status }
  }
  switch (outcome) {
    case 'paid':
      return successOf(result.parameter('ReceiptNo'), result.parameter('Amount'), result.parameter('CreditPartyName'))
    case 'pending':
      return { kind: 'pending' }
    case 'returned': {
      const amountMinor = readReturned(result.parameter('Amount'))
      return returned(receiptOf(result.parameter('ReceiptNo')), amountMinor, 'The provider has sent the money back.', status)
    }
    default:
      return unknown('unknown_status', 'The provider gave a status that proves nothing.', status)
  }
}

/**
 * The number in "254708374149 - John Doe". Providers mask phone numbers, so only complete numbers count. An organisation's number
 * is compared only if nothing else identifies the attempt, because a till may report its head office's number.
 */
const receiverOf = (attempt: QueriedAttempt, text = ''): string | undefined => {
  const number = /^\s*\+?(\d+)(?![\d*])/.exec(text)?.[1]
  if (attempt.rail === 'MPESA_B2C') return number === undefined ? undefined : parseKenyanMobile(number)
  return isKnownByUrlOnly(attempt) ? number : undefined
}

/** A callback to the timeout URL means only that the outcome is not known yet. */
export const readPayoutDelivery = (kind: DeliveryKind, body: unknown, attempt: QueriedAttempt): Delivery => {
  const result = readResult(body)
  if (kind === 'timeout') {
    const evidence = unknown('queue_timeout', 'The provider has not decided in time.')
    return { evidence, provider: result?.provider ?? noReference }
  }
  if (!result) return { evidence: unknown('unreadable', 'The delivery could not be understood.'), provider: noReference }
  const status = result.parameter('TransactionStatus')
  if (status === undefined) {
    // The conversation id in the result belongs to the repeat, not to the order.
    const isRepeat = attempt.rail === 'MPESA_B2C' && duplicateResults.has(result.code ?? '')
    const evidence = readPayoutResult(result, attempt)
    const receiver = receiverOf(attempt, result.parameter('ReceiverPartyPublicName'))
    if (evidence.kind === 'succeeded' && receiver === undefined && isKnownByUrlOnly(attempt))
      return { evidence: unknown('no_receiver', 'The provider does not say who was paid.'), provider: noReference }
    return { evidence, provider: isRepeat ? noReference : result.provider, ...(receiver && { receiver }) }
  }
  // The envelope contains the query's ids. The payment's ids are among the parameters.
  const provider = { request: null, conversation: result.parameter('ConversationID') ?? null }
  const receiver = receiverOf(attempt, result.parameter('CreditPartyName'))
  return {
    evidence: readStatus(status, result, attempt),
    provider,
    answersQuery: true,
    ...(receiver && { receiver }),
  }
}

export const createPayoutRail = (options: DarajaOptions, send: Send, credential: string, clock: Clock): PayoutAdapter => {
  const pay = async (instruction: PayoutInstruction): Promise<Submission> => {
    const prepared = prepare(options, instruction)
    if ('kind' in prepared) return prepared
    const sentId = instruction.rail === 'MPESA_B2C' ? instruction.orderId : null
    const body = { ...prepared.body, SecurityCredential: credential }
    const answer = await send(prepared.path, body, { permission: permissionFor(instruction.permission, prepared.body) })
    return readSubmission(answer, referenceOfAnswer(sentId), sentId !== null)
  }

  /** The result arrives as a callback. A B2B payout whose submission was lost has no id to query by. */
  const query = async (attempt: Attempt): Promise<Evidence> => {
    const original = attempt.provider.request ?? (attempt.rail === 'MPESA_B2C' ? attempt.orderId : null)
    if (original === null) return unknown('no_reference', 'The provider gave no id to query by.')
    const answer = await send('/mpesa/transactionstatus/v1/query', {
      Initiator: options.initiatorName,
      SecurityCredential: credential,
      CommandID: 'TransactionStatusQuery',
      OriginalConversationID: original,
      PartyA: payerOf(options, attempt.rail),
      IdentifierType: '4',
      ResultURL: attempt.callbacks.result,
      QueueTimeOutURL: attempt.callbacks.timeout,
      Remarks: 'Status of a payment',
      Occasion: attempt.reference,
    })
    if (answer.kind !== 'answer') return unknown('unreachable', 'The provider could not be queried.')
    if (answer.status < 300 && textField(answer.body, 'ResponseCode') === '0') return { kind: 'pending' }
    return unknown(safeCode(textField(answer.body, 'errorCode')), 'The provider did not accept the query.')
  }

  const lookUp: LookUp = async ({ rail, destination, isPaybill }) => {
    if (rail !== 'MPESA_B2C') {
      const asked = { IdentifierType: isPaybill ? '4' : '2', Identifier: destination }
      return readNameAnswer(await send('/sfcverify/v1/query/info', asked), (body) => textField(body, 'OrganizationName'))
    }
    const answer = await send('/mpesa/b2c/hakikisha/v1/hakikisha', {
      header: { requestID: randomUUID(), timestamp: nairobiTimestamp(clock.now()) },
      body: { msisdn: destination, shortcode: payerOf(options, 'MPESA_B2C') },
    })
    // `{firstName: "WANJIRU", middleName: "N****", lastName: "K****"}`.
    const parts = ['firstName', 'middleName', 'lastName']
    return readNameAnswer(answer, (body) => parts.flatMap((part) => textField(field(body, 'body'), part) ?? []).join(' '))
  }

  return { ready: send.ready, pay, lookUp, query, readDelivery: readPayoutDelivery }
}
