import { describe, expect, test } from 'vitest'
import { readCollectionDelivery } from '../../src/rails/daraja/collection.ts'
import { readPayoutDelivery } from '../../src/rails/daraja/payout.ts'
import { parseJson, readReturned } from '../../src/rails/fields.ts'
import { type Outcome, outcomeOf } from '../../src/rails/outcomes.ts'
import { readTransferDelivery } from '../../src/rails/pesalink/payout.ts'

describe('a word for an outcome means the same at every provider, however it is spelled', () => {
  // From the documentation of Daraja (transaction status), Jenga (PesaLink), SumUp, pawaPay, PayU Payouts, Airwallex, dLocal, Wise, and ISO 20022.
  test.each<[Outcome | undefined, ...string[]]>([
    ['paid', 'Completed', 'COMPLETED', 'completed.', 'SUCCESS', 'Successful', 'SUCCESSFUL', 'SETTLED', 'ACSC', 'ACCC'],
    [
      'pending',
      'Initiated',
      'Authorized',
      'PENDING',
      'IN PROGRESS',
      'in-progress',
      'QUEUED',
      'SUBMITTED',
      'ACCEPTED',
      'NEW',
      'ACSP',
    ],
    ['returned', 'Reversed', 'REFUNDED', 'returned', 'BOUNCED', 'RETURNED_TO_SENDER', 'Returned to sender'],
    ['ended', 'Declined', 'Cancelled', 'CANCELED', 'Expired', 'FAILED', 'FAILURE', 'REJECTED', 'RJCT'],
    [
      undefined,
      'Return Initiated',
      'SUSPENDED',
      'Seized',
      'partially_refunded',
      'not completed',
      'UNSUCCESSFUL',
      'reversal failed',
      '',
    ],
  ])('%s', (outcome, ...words: string[]) => {
    for (const word of words) expect([word, outcomeOf(word)]).toEqual([word, outcome])
  })
})

test.each([
  ['-1275.00', 127_500n],
  ['1,275.00', 127_500n],
  ['KES 1275.00', 127_500n],
  [-1275.0, 127_500n],
  ['', undefined],
  ['all of it', undefined],
  ['0', undefined],
])('what came back as %s is read as %s', (stated, amount) => {
  expect(readReturned(stated)).toBe(amount)
})

describe('a shape that says plainly what happened is read', () => {
  const transfer = { state: 'Successful', reference: '123456789012', transactionId: 'PLX1', amount: '1,001.00' }
  const other = { ...transfer, reference: '999999999999', transactionId: 'PLX9', amount: '7.00' }
  const paid = { kind: 'succeeded', receipt: 'PLX1', amountMinor: 100_100n }
  test.each<[string, unknown, object]>([
    ['as an object', { data: transfer }, paid],
    ['as a list of one', { data: [transfer] }, paid],
    ['as a list in which one has our reference', { data: [other, transfer] }, paid],
    ['as a list of others', { data: [other, other] }, { kind: 'unknown' }],
    ['without an envelope', transfer, paid],
    ['behind a byte order mark', parseJson(`\ufeff${JSON.stringify({ data: transfer })}`), paid],
    ['with the word under another name', { data: { ...transfer, state: undefined, status: 'COMPLETED' } }, paid],
    ['with an unknown word', { data: { ...transfer, state: 'SEIZED' } }, { kind: 'unknown', providerStatus: 'SEIZED' }],
  ])('PesaLink: %s', (_, body, evidence) => {
    expect(readTransferDelivery([])('result', body, { reference: '123456789012' }).evidence).toMatchObject(evidence)
  })

  const attempt = { orderId: 'o', rail: 'MPESA_B2C', reference: '1', provider: { request: 'o', conversation: 'AG_1' } } as const
  const result = { ResultCode: 0, OriginatorConversationID: 'o', ConversationID: 'AG_1', TransactionID: 'UKX1' }
  const status = { ReceiptNo: 'UKX1', Amount: '1,001.00', ConversationID: 'AG_1' }
  test.each<[string, object, object]>([
    [
      'a list',
      [
        { Key: 'TransactionReceipt', Value: 'UKX1' },
        { Key: 'TransactionAmount', Value: 1001 },
      ],
      {},
    ],
    ['one pair', { Key: 'TransactionAmount', Value: '1,001.00' }, {}],
    ['an object of names', { TransactionReceipt: 'UKX1', TransactionAmount: '1001.00' }, {}],
    ['a status in capitals', { ...status, TransactionStatus: 'COMPLETED' }, {}],
    ['a status in another word', { ...status, TransactionStatus: 'Successful' }, {}],
    ['a status that was reversed', { ...status, TransactionStatus: 'Reversed' }, { kind: 'returned' }],
  ])('M-PESA result: %s', (_, parameters, more) => {
    for (const ResultParameters of [{ ResultParameter: parameters }, ...(Array.isArray(parameters) ? [] : [parameters])])
      expect(readPayoutDelivery('result', { Result: { ...result, ResultParameters } }, attempt).evidence).toMatchObject({
        ...{ kind: 'succeeded', receipt: 'UKX1', amountMinor: 100_100n },
        ...more,
      })
  })

  test('M-PESA prompt: items as an object of names', () => {
    const stkCallback = { ResultCode: '0', CallbackMetadata: { Item: { Amount: '1,001.00', MpesaReceiptNumber: 'UKX1' } } }
    expect(readCollectionDelivery('result', { Body: { stkCallback } }).evidence).toEqual({
      ...{ kind: 'succeeded', receipt: 'UKX1', amountMinor: 100_100n },
    })
  })
})
