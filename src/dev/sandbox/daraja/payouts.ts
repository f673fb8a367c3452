import { randomBytes, randomUUID } from 'node:crypto'
import { z } from 'zod'
import { decimalShillings, nairobiTimestamp } from '../../../rails/fields.ts'
import type { Order } from '../book.ts'
import type { Render } from '../emulator.ts'
import { describe, dottedTime, wireNumber } from '../format.ts'
import { type EmulatedAnswer, gatewayError } from '../gateway.ts'
import { acceptOrder } from '../perform.ts'
import { sameText } from '../secrets.ts'
import { amount, type Daraja, endpoint, initiated, mobile, organisation } from './credentials.ts'

const keyValuePairs = (values: Record<string, unknown>) => Object.entries(values).map(([Key, Value]) => ({ Key, Value }))
const queueReference = { Key: 'QueueTimeoutURL', Value: 'https://internalapi.safaricom.co.ke/mpesa/b2cresults/v1/submit' }

const publicName = ({ party, payee }: Order): string => (payee === null ? party : `${party} - ${payee}`)

export type Ids = { key: string; conversation: string }

const noTransaction = 'OAK0000000'

type ResultParts = { transactionId?: string; resultCode?: string | number; parameters?: unknown; reference?: unknown }

/** Omits missing parts, as the provider does. */
export const result = (
  { key, conversation }: Ids,
  code: string,
  { transactionId = noTransaction, resultCode = wireNumber(code), parameters, reference }: ResultParts = {},
) => ({
  Result: {
    ResultType: 0,
    ResultCode: resultCode,
    ResultDesc: describe(code),
    OriginatorConversationID: key,
    ConversationID: conversation,
    TransactionID: transactionId,
    ...(parameters !== undefined && { ResultParameters: { ResultParameter: parameters } }),
    ...(reference !== undefined && { ReferenceData: { ReferenceItem: reference } }),
  },
})

/** Numbers are JSON numbers, a single reference item is a bare object, and a failure has no parameters. */
export const renderB2c: Render = (order, { amountMinor, receipt }) => {
  const told = { transactionId: receipt, reference: queueReference }
  if (order.code !== '0') return result(order, order.code, told)
  const parameters = keyValuePairs({
    TransactionAmount: wireNumber(decimalShillings(amountMinor)),
    TransactionReceipt: receipt,
    B2CRecipientIsRegisteredCustomer: 'Y',
    B2CChargesPaidAccountAvailableFunds: -4510,
    ReceiverPartyPublicName: publicName(order),
    TransactionCompletedDateTime: dottedTime(order.at),
    B2CUtilityAccountAvailableFunds: 10116,
    B2CWorkingAccountAvailableFunds: 900000,
  })
  return result(order, '0', { ...told, parameters })
}

/** A success has text codes and arrays. A failure has numbers and a bare object. */
export const renderB2b: Render = (order, { amountMinor, receipt }) => {
  if (order.code !== '0') {
    const parameters = { Key: 'BOCompletedTime', Value: wireNumber(nairobiTimestamp(order.at)) }
    return result(order, order.code, { parameters, reference: queueReference })
  }
  const parameters = keyValuePairs({
    DebitAccountBalance: '{Amount={CurrencyCode=KES, MinimumAmount=618683, BasicAmount=6186.83}}',
    Amount: decimalShillings(amountMinor),
    DebitPartyAffectedAccountBalance: 'Working Account|KES|346568.83|6186.83|340382.00|0.00',
    TransCompletedTime: nairobiTimestamp(order.at),
    DebitPartyCharges: '',
    ReceiverPartyPublicName: publicName(order),
    Currency: 'KES',
    InitiatorAccountCurrentBalance: '{Amount={CurrencyCode=KES, MinimumAmount=618683, BasicAmount=6186.83}}',
  })
  const reference = [{ Key: 'BillReferenceNumber', Value: '19008' }, queueReference]
  return result(order, '0', { transactionId: receipt, resultCode: '0', parameters, reference })
}

export const renderTimeout = (order: Order) => ({
  Result: {
    ...result(order, '1', { transactionId: '' }).Result,
    ResultType: 1,
    ResultDesc: 'The request timed out in the queue.',
  },
})

const statusWord = { under_way: 'Initiated', moved: 'Completed', refused: 'Declined' } as const

/** The envelope contains the ids of the query, not of the payment. */
const renderStatus = (order: Order | undefined, query: Ids, code: string) => {
  const reference = { Key: 'Occasion' }
  if (!order || code !== '0') return result(query, code, { reference })
  const parameters = [
    { Key: 'DebitPartyName', Value: '600998 - Sandbox' },
    { Key: 'DebitPartyName', Value: '600998 - Sandbox' },
    { Key: 'CreditPartyName', Value: publicName(order) },
    { Key: 'ConversationID', Value: order.conversation },
    { Key: 'Amount', Value: wireNumber(decimalShillings(order.amountMinor)) },
    ...(order.state === 'moved' ? [{ Key: 'ReceiptNo', Value: order.receipt }] : [{ Key: 'ReceiptNo' }]),
    { Key: 'FinalisedTime', Value: wireNumber(nairobiTimestamp(order.at)) },
    { Key: 'TransactionStatus', Value: statusWord[order.state] },
    { Key: 'TransactionReason' },
  ]
  return result(query, code, { parameters, reference })
}

const payout = { ...initiated, PartyA: organisation, Occassion: z.string().max(100).default('') }

const B2c = z.object({
  ...payout,
  OriginatorConversationID: z.string().min(1).max(64),
  InitiatorName: z.string().min(1),
  CommandID: z.enum(['SalaryPayment', 'BusinessPayment', 'PromotionPayment']),
  Amount: amount(10n, 250_000n),
  PartyB: mobile,
})

const B2b = z.object({
  ...payout,
  Initiator: z.string().min(1),
  CommandID: z.enum(['BusinessPayBill', 'BusinessBuyGoods']),
  SenderIdentifierType: z.literal('4'),
  RecieverIdentifierType: z.enum(['2', '4']),
  Amount: amount(1n, 250_000n),
  PartyB: organisation,
  AccountReference: z.string().min(1).max(13),
  Requester: mobile.optional(),
})

const Status = z
  .object({
    ...initiated,
    Initiator: z.string().min(1),
    CommandID: z.literal('TransactionStatusQuery'),
    TransactionID: z.string().min(1).optional(),
    OriginalConversationID: z.string().min(1).optional(),
    PartyA: organisation,
    IdentifierType: z.enum(['1', '2', '4']),
  })
  .refine((query) => query.TransactionID !== undefined || query.OriginalConversationID !== undefined)

const accepted = (order: Ids, lost = false): EmulatedAnswer => ({
  status: 200,
  lost,
  body: {
    ConversationID: order.conversation,
    OriginatorConversationID: order.key,
    ResponseCode: '0',
    ResponseDescription: 'Accept the service request successfully.',
  },
})

const newConversation = (provider: Daraja): string =>
  `AG_${nairobiTimestamp(provider.clock.now()).slice(0, 8)}_${randomBytes(10).toString('hex')}`

/** The gateway accepts a request with a wrong initiator. The result is then 2001. */
export const isInitiator = (provider: Daraja, name: string, credential: string): boolean => {
  const { initiatorName, initiatorPassword } = provider.credentials.options
  const password = provider.credentials.decryptCredential(credential)
  return name === initiatorName && password !== undefined && sameText(password, initiatorPassword)
}

const acceptPayout = (
  provider: Daraja,
  rail: 'MPESA_B2C' | 'MPESA_B2B',
  request: z.output<typeof B2c> | z.output<typeof B2b>,
  { key, initiator }: { key: string; initiator: string },
): EmulatedAnswer => {
  const order = acceptOrder(provider, {
    rail,
    key,
    conversation: newConversation(provider),
    amountMinor: request.Amount * 100n,
    reference: request.Occassion,
    party: request.PartyB,
    account: request.PartyA,
    resultUrl: request.ResultURL,
    timeoutUrl: request.QueueTimeOutURL,
    ...(!isInitiator(provider, initiator, request.SecurityCredential) && { code: '2001' }),
  })
  return accepted(order, order.scenario.losesAnswer)
}

export const acceptAndReportLater = (
  provider: Daraja,
  url: string,
  body: (query: Ids) => unknown,
  key: string = randomUUID(),
): EmulatedAnswer => {
  const query = { key, conversation: newConversation(provider) }
  provider.scheduler.after(provider.delayMs, () => provider.deliver(url, body(query)))
  return accepted(query)
}

export const b2c = endpoint(B2c, (provider, request) => {
  const { OriginatorConversationID: key, InitiatorName: initiator, PartyB, ResultURL } = request
  if (provider.book.find(['MPESA_B2C'], key)) {
    const rule = provider.rules.takeMatching('repeat', { rail: 'MPESA_B2C', party: PartyB })
    if (rule === undefined) return gatewayError(500, '500.002.1001', 'Duplicate OriginatorConversationID.')
    // Some gateways accept a repeated request and report result 15, "Duplicate Detected".
    if (rule.effect === 'refuse_repeat_late') return acceptAndReportLater(provider, ResultURL, (ids) => result(ids, '15'), key)
  }
  return acceptPayout(provider, 'MPESA_B2C', request, { key, initiator })
})

export const b2b = endpoint(B2b, (provider, request) =>
  acceptPayout(provider, 'MPESA_B2B', request, { key: randomUUID(), initiator: request.Initiator }),
)

/** Reports the state when the result is sent, not when the query arrives. */
export const transactionStatus = endpoint(Status, (provider, query) => {
  return acceptAndReportLater(provider, query.ResultURL, (ids) => {
    const order = provider.book.find(['MPESA_B2C', 'MPESA_B2B'], query.OriginalConversationID ?? query.TransactionID ?? '')
    const codeIfKnown = order ? '0' : '2032'
    return renderStatus(order, ids, isInitiator(provider, query.Initiator, query.SecurityCredential) ? codeIfKnown : '2001')
  })
})
