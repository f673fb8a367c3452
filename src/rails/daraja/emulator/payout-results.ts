import type { Order } from '../../../dev/sandbox/book.ts'
import { localTime, shillings, wireNumber } from '../../../dev/sandbox/format.ts'
import type { Render } from '../../../dev/sandbox/perform.ts'
import { describe } from '../../../dev/sandbox/result-codes.ts'

const parameters = (values: Record<string, unknown>) => Object.entries(values).map(([Key, Value]) => ({ Key, Value }))
const queueReference = { Key: 'QueueTimeoutURL', Value: 'https://internalapi.safaricom.co.ke/mpesa/b2cresults/v1/submit' }

/** The number, and behind it the name of its holder where there is one. */
const publicName = ({ party, payee }: Order): string => (payee === null ? party : `${party} - ${payee}`)

const envelope = (order: Order, code: number | string, transactionId: string) => ({
  ResultType: 0,
  ResultCode: code,
  ResultDesc: describe(order.code),
  OriginatorConversationID: order.key,
  ConversationID: order.conversation,
  TransactionID: transactionId,
})

/** Numbers as numbers, one reference item as a bare object, and no parameters in a failure. */
export const renderB2c: Render = (order, settled) => {
  const ReferenceData = { ReferenceItem: queueReference }
  const result = envelope(order, wireNumber(order.code), settled.receipt)
  if (order.code !== '0') return { Result: { ...result, ReferenceData } }
  const ResultParameter = parameters({
    TransactionAmount: wireNumber(shillings(settled.amountMinor)),
    TransactionReceipt: settled.receipt,
    B2CRecipientIsRegisteredCustomer: 'Y',
    B2CChargesPaidAccountAvailableFunds: -4510,
    ReceiverPartyPublicName: publicName(order),
    TransactionCompletedDateTime: localTime(order.at).dotted,
    B2CUtilityAccountAvailableFunds: 10116,
    B2CWorkingAccountAvailableFunds: 900000,
  })
  return { Result: { ...result, ResultParameters: { ResultParameter }, ReferenceData } }
}

/** B2B is inconsistent: text codes and lists in a success, numbers and a bare object in a failure. */
export const renderB2b: Render = (order, settled) => {
  if (order.code !== '0') {
    const bare = { Key: 'BOCompletedTime', Value: wireNumber(localTime(order.at).compact) }
    const result = envelope(order, wireNumber(order.code), 'OAK0000000')
    return {
      Result: { ...result, ResultParameters: { ResultParameter: bare }, ReferenceData: { ReferenceItem: queueReference } },
    }
  }
  const ResultParameter = parameters({
    DebitAccountBalance: '{Amount={CurrencyCode=KES, MinimumAmount=618683, BasicAmount=6186.83}}',
    Amount: shillings(settled.amountMinor),
    DebitPartyAffectedAccountBalance: 'Working Account|KES|346568.83|6186.83|340382.00|0.00',
    TransCompletedTime: localTime(order.at).compact,
    DebitPartyCharges: '',
    ReceiverPartyPublicName: publicName(order),
    Currency: 'KES',
    InitiatorAccountCurrentBalance: '{Amount={CurrencyCode=KES, MinimumAmount=618683, BasicAmount=6186.83}}',
  })
  const ReferenceItem = [{ Key: 'BillReferenceNumber', Value: '19008' }, queueReference]
  return {
    Result: { ...envelope(order, '0', settled.receipt), ResultParameters: { ResultParameter }, ReferenceData: { ReferenceItem } },
  }
}

/** The queue's time-out was reached; the order itself continues. */
export const renderTimeout = (order: Order) => ({
  Result: {
    ResultType: 1,
    ResultCode: 1,
    ResultDesc: 'The request timed out in the queue.',
    OriginatorConversationID: order.key,
    ConversationID: order.conversation,
    TransactionID: '',
  },
})

const statusWord = { under_way: 'Initiated', moved: 'Completed', refused: 'Declined' } as const

/** A query's own ids, which its answer carries. */
export type QueryIds = { key: string; conversation: string }

/** What every answer to an initiator's query begins with; TransactionID is the value for no transaction. */
export const queryEnvelope = (query: QueryIds, code: string) => ({
  ResultType: 0,
  ResultCode: wireNumber(code),
  ResultDesc: describe(code),
  OriginatorConversationID: query.key,
  ConversationID: query.conversation,
  TransactionID: 'OAK0000000',
})

/** The result of an order that the provider has already. */
export const renderDuplicate = (ids: QueryIds) => ({ Result: queryEnvelope(ids, '15') })

/** The answer to a status query about an order, known or unknown. The envelope's ids are the query's, not the payment's. */
export const renderStatus = (order: Order | undefined, query: QueryIds, code: string) => {
  const result = { ...queryEnvelope(query, code), ReferenceData: { ReferenceItem: { Key: 'Occasion' } } }
  if (!order || code !== '0') return { Result: result }
  const ResultParameter = [
    { Key: 'DebitPartyName', Value: '600998 - Sandbox' },
    { Key: 'DebitPartyName', Value: '600998 - Sandbox' },
    { Key: 'CreditPartyName', Value: publicName(order) },
    { Key: 'ConversationID', Value: order.conversation },
    { Key: 'Amount', Value: wireNumber(shillings(order.amountMinor)) },
    ...(order.state === 'moved' ? [{ Key: 'ReceiptNo', Value: order.receipt }] : [{ Key: 'ReceiptNo' }]),
    { Key: 'FinalisedTime', Value: wireNumber(localTime(order.at).compact) },
    { Key: 'TransactionStatus', Value: statusWord[order.state] },
    { Key: 'TransactionReason' },
  ]
  return { Result: { ...result, ResultParameters: { ResultParameter } } }
}
