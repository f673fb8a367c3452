import { expect, test } from 'vitest'
import { readCollectionDelivery, readCollectionQuery } from '../../src/rails/daraja/collection.ts'
import { readPayoutDelivery } from '../../src/rails/daraja/payout.ts'
import { readTransferDelivery } from '../../src/rails/pesalink/payout.ts'
import type { Evidence } from '../../src/rails/rail.ts'
import * as seen from './deliveries.ts'

type Row = [name: string, body: unknown, evidence: Partial<Evidence>]

test.each<Row>([
  ['a success', seen.stkSuccess, { kind: 'succeeded', receipt: 'NLJ7RT61SV', amountMinor: 100n }],
  ['a cancelled prompt', seen.stkCancelled, { kind: 'failed', providerCode: '1032' }],
  ['a code as text', { Body: { stkCallback: { ResultCode: '1037' } } }, { kind: 'failed', providerCode: '1037' }],
  [
    'an unknown operator',
    { Body: { stkCallback: { ResultCode: 'SFC_IC0003' } } },
    { kind: 'failed', providerCode: 'SFC_IC0003' },
  ],
  ['a prompt under way', { Body: { stkCallback: { ResultCode: 4999 } } }, { kind: 'pending' }],
  ['an unlisted code', { Body: { stkCallback: { ResultCode: 31337 } } }, { kind: 'unknown', code: '31337' }],
  ['a name of Object.prototype', { Body: { stkCallback: { ResultCode: 'constructor' } } }, { kind: 'unknown' }],
  ['a success without metadata', { Body: { stkCallback: { ResultCode: 0 } } }, { kind: 'unknown', code: 'no_receipt' }],
  [
    'a success with one bare item',
    { Body: { stkCallback: { ResultCode: 0, CallbackMetadata: { Item: { Name: 'MpesaReceiptNumber', Value: 'A1' } } } } },
    { kind: 'succeeded', receipt: 'A1', amountMinor: null },
  ],
  ['an empty body', {}, { kind: 'unknown', code: 'unreadable' }],
])('STK callback: %s', (_name, body, evidence) => {
  expect(readCollectionDelivery('result', body).evidence).toMatchObject(evidence)
})

test.each<Row>([
  ['a success', { ResponseCode: '0', ResultCode: '0', CheckoutRequestID: 'ws_1' }, { kind: 'succeeded', receipt: null }],
  ['a success of another request', { ResultCode: '0', CheckoutRequestID: 'ws_2' }, { kind: 'unknown', code: 'other_request' }],
  ['a failure', { ResultCode: '1032', CheckoutRequestID: 'ws_1' }, { kind: 'failed', providerCode: '1032' }],
  ['under way', { ResultCode: '4999' }, { kind: 'pending' }],
  ['the catch-all error', { errorCode: '500.001.1001' }, { kind: 'pending' }],
  ['another error beside a code', { errorCode: '404.001.01', ResultCode: '1032' }, { kind: 'unknown', code: '404.001.01' }],
  ['an unlisted code', { ResultCode: '12' }, { kind: 'unknown' }],
  ['no code', {}, { kind: 'unknown' }],
])('STK query: %s', (_name, body, evidence) => {
  expect(readCollectionQuery({ kind: 'answer', status: 200, body }, 'ws_1')).toMatchObject(evidence)
})

test.each<Row>([
  ['a success', seen.b2cSuccess, { kind: 'succeeded', receipt: 'NLJ41HAY6Q', amountMinor: 1_000n }],
  [
    'a success without parameters',
    { Result: { ...seen.b2cSuccess.Result, ResultParameters: null } },
    { kind: 'unknown', code: 'no_amount' },
  ],
  [
    'completed, its amount left out',
    {
      Result: {
        ...seen.b2cSuccess.Result,
        ResultParameters: {
          ResultParameter: [
            { Key: 'TransactionStatus', Value: 'Completed' },
            { Key: 'ReceiptNo', Value: 'A1' },
          ],
        },
      },
    },
    { kind: 'unknown', code: 'no_amount' },
  ],
  [
    'a name that comes twice, first without its value',
    {
      Result: {
        ...seen.b2cSuccess.Result,
        ResultParameters: {
          ResultParameter: [{ Key: 'TransactionAmount' }, ...seen.b2cSuccess.Result.ResultParameters.ResultParameter],
        },
      },
    },
    { kind: 'succeeded', amountMinor: 1_000n },
  ],
  ['an unregistered receiver', seen.b2cUnregistered, { kind: 'failed', providerCode: '2040' }],
  ['completed', seen.statusResult('Completed'), { kind: 'succeeded', receipt: 'LKXXXX1234', amountMinor: 30_000n }],
  ['declined', seen.statusResult('Declined'), { kind: 'failed', providerCode: 'declined' }],
  ['cancelled', seen.statusResult('Cancelled'), { kind: 'failed', providerCode: 'cancelled' }],
  ['expired', seen.statusResult('Expired'), { kind: 'failed', providerCode: 'expired' }],
  ['initiated', seen.statusResult('Initiated'), { kind: 'pending' }],
  ['authorized', seen.statusResult('Authorized'), { kind: 'pending' }],
  ['a new status', seen.statusResult('Reviewed'), { kind: 'unknown', code: 'unknown_status' }],
  ['a status beside a refusal', seen.statusResult('Declined', { ResultCode: 2001 }), { kind: 'unknown', code: '2001' }],
  ['no such receipt', { Result: { ResultCode: 2032, OriginatorConversationID: 'other' } }, { kind: 'unknown' }],
  [
    'no such receipt, under our id',
    { Result: { ResultCode: 2032, OriginatorConversationID: seen.attempt.orderId } },
    { kind: 'unknown' },
  ],
  [
    'a failure under another id',
    { Result: { ResultCode: 1, OriginatorConversationID: 'other' } },
    { kind: 'unknown', code: 'other_request' },
  ],
])('B2C: %s', (_name, body, evidence) => {
  expect(readPayoutDelivery('result', body, seen.attempt).evidence).toMatchObject(evidence)
})

test.each<Row>([
  ['a success in text and lists', seen.b2bSuccess, { kind: 'succeeded', receipt: 'QKA81LK5CY', amountMinor: 19_000n }],
  ['a failure in numbers and a bare object', seen.b2bFailure, { kind: 'failed', providerCode: '2001' }],
])('B2B: %s', (_name, body, evidence) => {
  expect(readPayoutDelivery('result', body, seen.b2bAttempt).evidence).toMatchObject(evidence)
  const early = { ...seen.b2bAttempt, provider: { request: null, conversation: null } }
  expect(readPayoutDelivery('result', body, early).evidence).toMatchObject(evidence)
})

test.each([seen.b2cSuccess, seen.b2cUnregistered, seen.b2bFailure, seen.stkCancelled, {}])(
  'every delivery to the time-out URL is unknown, never failed',
  (body) => {
    expect(readPayoutDelivery('timeout', body, seen.attempt).evidence).toMatchObject({ kind: 'unknown', code: 'queue_timeout' })
    expect(readCollectionDelivery('timeout', body).evidence).toMatchObject({ kind: 'unknown', code: 'queue_timeout' })
  },
)

test.each<Row>([
  ['a success', seen.pesalinkDelivery('Success', 0), { kind: 'succeeded', receipt: '54154', amountMinor: 50_050n }],
  ['a documented failure', seen.pesalinkDelivery('Failed', 1), { kind: 'failed', providerCode: '1' }],
  ['a failure of unknown status', seen.pesalinkDelivery('Failed', 400105), { kind: 'unknown', code: '400105' }],
  ['money that came back', seen.pesalinkDelivery('Reversed', 0), { kind: 'returned', receipt: '54154' }],
  ['under way', seen.pesalinkDelivery('Pending', -1), { kind: 'pending' }],
  ['a new state', seen.pesalinkDelivery('Parked', 0), { kind: 'unknown' }],
  [
    'a success that names another reference, at the address of this payment',
    seen.pesalinkDelivery('Success', 0, { reference: '999999999999' }),
    { kind: 'succeeded' },
  ],
  [
    'a failure of another payment',
    seen.pesalinkDelivery('Failed', 1, { reference: '999999999999' }),
    { kind: 'unknown', code: 'other_request' },
  ],
])('PesaLink: %s', (_name, body, evidence) => {
  expect(readTransferDelivery(['1'])('result', body, seen.attempt).evidence).toMatchObject(evidence)
})

test('no evidence contains a person’s name or number', () => {
  const reason = { Key: 'TransactionReason', Value: 'Refused for 254708374149' }
  const body = seen.statusResult('Declined')
  body.Result.ResultParameters.ResultParameter.splice(0, 0, reason)
  const { evidence } = readPayoutDelivery('result', body, seen.attempt)
  expect(evidence).toEqual({
    kind: 'failed',
    providerStatus: 'Declined',
    code: 'provider_declined',
    providerCode: 'declined',
    message: 'Refused for *****',
  })
})
