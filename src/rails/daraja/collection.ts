import type { Clock } from '../../lib/clock.ts'
import { refused, succeeded, unknown } from '../evidence.ts'
import type { Exchange } from '../exchange.ts'
import {
  asList,
  field,
  mobileForm,
  nairobiDateTime,
  nairobiTimestamp,
  providerInstant,
  readShillings,
  readSignedShillings,
  textField,
  wholeShillings,
} from '../fields.ts'
import { permissionFor, type Send } from '../gateway.ts'
import type {
  Attempt,
  CollectionAdapter,
  CollectionInstruction,
  Delivery,
  DeliveryKind,
  DepositAdapter,
  DepositNotification,
  DepositRegistration,
  Evidence,
  ListedPayment,
  Submission,
  UnreadableNotification,
} from '../rail.ts'
import { freeText, personName, receiptOf, safeCode, safeMessage } from '../text.ts'
import { collectionFailure, metadataItem, readSubmission, stillUnderWay } from './answers.ts'
import { type DarajaOptions, lacksProduct } from './gateway.ts'

const noTransactions = '1001'
/** Enough for a hundred thousand payments. A longer list is treated as an error. */
const maxPages = 1_000
const marginMs = 300_000
/** Lifetime of a prompt. A payment that arrives later belongs to something else. */
const promptMs = 3_600_000

type Period = { start: Date; end: Date }

/** Undefined if the provider does not respond or its list does not end. */
const readList = async (send: Send, shortcode: string, { start, end }: Period): Promise<unknown[] | undefined> => {
  const period = { ShortCode: shortcode, StartDate: nairobiDateTime(start), EndDate: nairobiDateTime(end) }
  const payments: unknown[] = []
  const seen = new Set<string>()
  for (let page = 0; page < maxPages; page += 1) {
    const answer = await send('/pulltransactions/v1/query', { ...period, OffSetValue: String(payments.length) })
    const code = answer.kind === 'answer' ? textField(answer.body, 'ResponseCode') : undefined
    // An empty period or an unregistered shortcode. In the latter case, payments that we know of become differences.
    if (code === noTransactions) return payments
    if (answer.kind !== 'answer' || code !== '1000') return undefined
    const listed = asList(field(answer.body, 'Response')).flatMap(asList)
    // Pages may be short. A page without new entries is past the end.
    const found = listed.filter((each) => !seen.has(JSON.stringify(each)))
    if (found.length === 0) return payments
    for (const each of found) seen.add(JSON.stringify(each))
    payments.push(...found)
  }
  return undefined
}

/** A reversal has a negative amount. */
const listedPaymentOf = (payment: unknown): ListedPayment | undefined => {
  const receipt = receiptOf(textField(payment, 'transactionId'))
  const amountMinor = readSignedShillings(textField(payment, 'amount'))
  const at = providerInstant(textField(payment, 'trxDate') ?? '')
  if (receipt === undefined || amountMinor === undefined || at === undefined) return undefined
  return { receipt, amountMinor, at, references: [textField(payment, 'billreference') ?? []].flat() }
}

/** Undefined for an incomplete list, which would show differences that do not exist. */
export const listPaidIn = async (
  send: Send,
  shortcode: string,
  { start, end, skipsUnreadable = false }: Parameters<CollectionAdapter['listPaidIn']>[0],
): Promise<ListedPayment[] | undefined> => {
  const payments = await readList(send, shortcode, { start, end })
  const listed = payments?.map(listedPaymentOf) ?? []
  const read = listed.flatMap((payment) => payment ?? [])
  if (payments === undefined || (read.length < payments.length && !skipsUnreadable)) return undefined
  return read.filter(({ at }) => at >= start && at < end)
}

/** Finds the payment of a prompt whose response was lost. No entry proves nothing. A person must decide between two. */
export const findPaidIn = async (send: Send, shortcode: string, attempt: Attempt, now: Date): Promise<Evidence> => {
  const end = Math.min(now.getTime(), attempt.at.getTime() + promptMs)
  const around = { start: new Date(attempt.at.getTime() - marginMs), end: new Date(end + marginMs) }
  const listed = await readList(send, shortcode, around)
  if (listed === undefined) return unknown('not_listed', 'The provider did not list what was paid in.')
  const payments = listed.filter((each) => textField(each, 'billreference') === attempt.reference)
  const [only] = payments
  if (payments.length !== 1)
    return unknown(payments.length === 0 ? 'not_listed' : 'listed_twice', 'The list of payments does not decide it.')
  const receipt = receiptOf(textField(only, 'transactionId'))
  const amountMinor = readShillings(textField(only, 'amount'))
  if (receipt === undefined || amountMinor === undefined)
    return unknown('unreadable', 'The list of payments could not be understood.')
  return { kind: 'succeeded', receipt, amountMinor }
}

const readOtherCode = (code: string): Evidence => {
  if (code === stillUnderWay) return { kind: 'pending' }
  const known = collectionFailure(code)
  return known
    ? { kind: 'failed', ...known, providerStatus: code }
    : unknown(safeCode(code), 'The provider gave a result code that proves nothing.', code)
}

const readPaid = (callback: unknown): Evidence => {
  const amount = metadataItem(callback, 'Amount')
  return succeeded(receiptOf(metadataItem(callback, 'MpesaReceiptNumber')), amount === undefined ? null : readShillings(amount))
}

export const readCollectionDelivery = (kind: DeliveryKind, body: unknown): Delivery => {
  const callback = field(field(body, 'Body'), 'stkCallback')
  const provider = {
    request: textField(callback, 'CheckoutRequestID') ?? null,
    conversation: textField(callback, 'MerchantRequestID') ?? null,
  }
  if (kind === 'timeout') return { evidence: unknown('queue_timeout', 'The provider has not decided in time.'), provider }
  const code = textField(callback, 'ResultCode')
  if (code === undefined) return { evidence: unknown('unreadable', 'The delivery could not be understood.'), provider }
  return { evidence: code === '0' ? readPaid(callback) : readOtherCode(code), provider }
}

/** Lacks receipt and amount, which the callback may deliver. 500.001.1001 proves nothing: existing payments get it too. */
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

/** Codes for a prompt that reached no phone. Other codes in this response are not result codes. */
const noPromptCodes = new Set(['1001', '1025', '9999'])

/** A refusal if the phone already has a prompt, or if the response itself contains a failure code. */
const refusalOf = (answer: Exchange): Submission | undefined => {
  if (answer.kind !== 'answer') return undefined
  const message = textField(answer.body, 'errorMessage') ?? textField(answer.body, 'ResponseDescription')
  const code = /unable to lock subscriber/i.test(message ?? '') ? '1001' : textField(answer.body, 'ResponseCode')
  const known = code !== undefined && noPromptCodes.has(code) ? collectionFailure(code) : undefined
  return known && { kind: 'refused', ...known, message: safeMessage(message, known.message) }
}

export const createCollectionRail = (options: DarajaOptions, send: Send, clock: Clock): CollectionAdapter => {
  /** Uses the current time instead of the attempt's, because the provider rejects old timestamps. */
  const stkAuth = () => {
    const { shortcode, passkey } = options
    const timestamp = nairobiTimestamp(clock.now())
    const password = Buffer.from(`${shortcode}${passkey}${timestamp}`, 'utf8').toString('base64')
    return { BusinessShortCode: shortcode, Password: password, Timestamp: timestamp }
  }

  /** STK is not idempotent, as two sends are two prompts, so a prompt whose response was lost is never sent again. */
  const collect = async (instruction: CollectionInstruction): Promise<Submission> => {
    const amount = wholeShillings(instruction.amountMinor)
    if (amount === undefined) return refused('invalid_amount', 'M-PESA moves whole shillings only.')
    if (!mobileForm.test(instruction.phoneNumber))
      return refused('invalid_destination', 'The payer is not a Kenyan mobile number.')
    const order = {
      TransactionType: options.tillNumber === undefined ? 'CustomerPayBillOnline' : 'CustomerBuyGoodsOnline',
      Amount: amount,
      PartyA: instruction.phoneNumber,
      PartyB: options.tillNumber ?? options.shortcode,
      PhoneNumber: instruction.phoneNumber,
      CallBackURL: instruction.callbacks.result,
      AccountReference: freeText(instruction.reference, 12, 'TOPUP'),
      TransactionDesc: 'Top-up',
    }
    const permission = permissionFor(instruction.permission, order)
    const answer = await send('/mpesa/stkpush/v1/processrequest', { ...stkAuth(), ...order }, { permission })
    const refusal = refusalOf(answer)
    if (refusal) return refusal
    return readSubmission(answer, (body) => {
      const request = textField(body, 'CheckoutRequestID')
      return request === undefined ? undefined : { request, conversation: textField(body, 'MerchantRequestID') ?? null }
    })
  }

  const query = async (attempt: Attempt): Promise<Evidence> => {
    const request = attempt.provider.request
    if (request === null) return findPaidIn(send, options.shortcode, attempt, clock.now())
    return readCollectionQuery(await send('/mpesa/stkpushquery/v1/query', { ...stkAuth(), CheckoutRequestID: request }), request)
  }

  /** Prompts and deposits can have different shortcodes. */
  const shortcodes = [...new Set([options.shortcode, options.deposits?.shortcode ?? options.shortcode])]
  return {
    listPaidIn: async (period) => {
      const lists = await Promise.all(shortcodes.map((shortcode) => listPaidIn(send, shortcode, period)))
      return lists.every((list) => list !== undefined) ? lists.flatMap((list) => list ?? []) : undefined
    },
    ready: send.ready,
    collect,
    query,
    readDelivery: readCollectionDelivery,
  }
}

const readNotification =
  (shortcode: string) =>
  (body: unknown): DepositNotification | UnreadableNotification => {
    const receipt = receiptOf(textField(body, 'TransID'))
    const amountMinor = readShillings(textField(body, 'TransAmount'))
    const at = providerInstant(textField(body, 'TransTime') ?? '')
    // A payment to another organisation's paybill is not a deposit of ours.
    const isOurs = textField(body, 'BusinessShortCode') === shortcode
    if (receipt === undefined || !amountMinor || at === undefined || !isOurs)
      return { unreadable: true, receipt: receipt ?? null }
    const names = ['FirstName', 'MiddleName', 'LastName'].flatMap((name) => textField(body, name) ?? [])
    return {
      receipt,
      at,
      amountMinor,
      reference: (textField(body, 'BillRefNumber') ?? '').slice(0, 40),
      payerName: personName(names.join(' ')),
    }
  }

/** Some versions return a code, others only a sentence. In production, M-PESA takes a shortcode's callback URLs once. */
const readRegistration = (answer: Exchange): DepositRegistration => {
  if (answer.kind !== 'answer') return { urls: 'failed', problem: answer.message }
  const [code, said] = [
    textField(answer.body, 'ResponseCode') ?? textField(answer.body, 'ResponseStatus') ?? textField(answer.body, 'errorCode'),
    textField(answer.body, 'ResponseDescription') ?? textField(answer.body, 'errorMessage'),
  ]
  const isSuccess = code === undefined ? /^success/i.test(said ?? '') : /^(?:0+|1000)$/.test(code)
  if (answer.status >= 200 && answer.status < 300 && isSuccess) return { urls: 'registered', problem: null }
  const sentence = safeMessage(said, 'The answer could not be understood.')
  if (/already/i.test(sentence)) return { urls: 'kept', said: sentence, problem: null }
  const hint = lacksProduct(said) ? ' The app uses another C2B version: set MPESA_C2B_VERSION.' : ''
  return { urls: 'failed', problem: `${sentence}${hint}` }
}

/** C2B: a person pays to our paybill with an account number that we issued. */
export const createPaybillDeposits = (options: DarajaOptions, send: Send): DepositAdapter | null => {
  const { deposits } = options
  if (!deposits) return null
  const { shortcode, version, pullNumber } = deposits
  return {
    instructions: (code) => ({ paybill: shortcode, account_number: code }),
    register: async ({ confirmation, validation }) => {
      const answer = await send(`/mpesa/c2b/v${version}/registerurl`, {
        ShortCode: shortcode,
        // If our validation does not respond, M-PESA accepts the payment. A deposit without a top-up waits for an operator.
        ResponseType: 'Completed',
        ConfirmationURL: confirmation,
        ValidationURL: validation,
      })
      const registered = readRegistration(answer)
      if (registered.urls === 'failed' || pullNumber === null) return registered
      const list = await send('/pulltransactions/v1/register', {
        ShortCode: shortcode,
        RequestType: 'Pull',
        NominatedNumber: pullNumber,
        CallBackURL: confirmation,
      })
      const { problem } = readRegistration(list)
      return { ...registered, problem: problem && `M-PESA did not register the list of payments: ${problem}` }
    },
    readNotification: readNotification(shortcode),
  }
}
