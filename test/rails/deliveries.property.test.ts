import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readCollectionDelivery, readCollectionQuery } from '../../src/rails/daraja/collection.ts'
import { readPayoutDelivery } from '../../src/rails/daraja/payout.ts'
import { readTransferDelivery } from '../../src/rails/pesalink/payout.ts'
import type { DeliveryKind, Evidence } from '../../src/rails/rail.ts'
import * as seen from './deliveries.ts'

type Reader = (kind: DeliveryKind, body: unknown) => { evidence: Evidence }

/** A B2B attempt with an unanswered submit: only its own result can come, so no ids are compared. */
const readEarly: Reader = (kind, body) =>
  readPayoutDelivery(kind, body, { ...seen.b2bAttempt, provider: { request: null, conversation: null } })

const readers: Reader[] = [
  readCollectionDelivery,
  (kind, body) => readPayoutDelivery(kind, body, seen.attempt),
  (kind, body) => readPayoutDelivery(kind, body, seen.b2bAttempt),
  readEarly,
  (kind, body) => readTransferDelivery(['1'])(kind, body, seen.attempt),
  (_kind, body) => ({ evidence: readCollectionQuery({ kind: 'answer', status: 200, body }, 'ws_1') }),
]

const deliveryKind = fc.constantFrom<DeliveryKind>('result', 'timeout')
const garbage = fc.oneof(fc.jsonValue(), fc.constant(undefined), fc.anything())

/** The provider's own field names around random values, so that the readers get past their first check. */
const dressed = fc.oneof(
  garbage.map((inner) => ({ Result: inner })),
  garbage.map((inner) => ({ Body: { stkCallback: inner } })),
  garbage.map((inner) => ({ data: inner })),
  fc.record({ Result: fc.record({ ResultCode: garbage, ResultParameters: garbage, TransactionID: garbage }) }),
  fc.record({ Result: fc.record({ ResultCode: fc.constant(null), ResultParameters: fc.record({ ResultParameter: garbage }) }) }),
  fc.record({ Body: fc.record({ stkCallback: fc.record({ ResultCode: fc.boolean(), CallbackMetadata: garbage }) }) }),
  fc.record({ data: fc.record({ state: garbage, reference: fc.constant(seen.attempt.reference), code: garbage }) }),
)

/** A code that happens to be a verdict is not garbage. */
const carriesVerdict = (body: unknown): boolean => {
  const text = JSON.stringify(body, (_key, value) => (typeof value === 'bigint' ? String(value) : value)) ?? ''
  return /"(ResultCode|code)":"?\s*\d{1,4}\s*"?[,}]/.test(text)
}

test('no malformed delivery makes a reader throw, and none is read as a success or a failure', () => {
  fc.assert(
    fc.property(deliveryKind, fc.oneof(garbage, dressed), (kind, body) => {
      for (const read of readers) {
        const { evidence } = read(kind, body)
        if (!carriesVerdict(body)) expect(['unknown', 'pending']).toContain(evidence.kind)
      }
    }),
    { numRuns: 2_000 },
  )
})

const paths = (value: unknown, path: string[] = []): string[][] =>
  typeof value === 'object' && value !== null
    ? [path, ...Object.entries(value).flatMap(([name, inner]) => paths(inner, [...path, name]))]
    : [path]

const replaced = (value: unknown, [name, ...rest]: string[], by: unknown): unknown => {
  if (name === undefined) return by
  if (Array.isArray(value)) return value.map((inner, index) => (String(index) === name ? replaced(inner, rest, by) : inner))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, key === name ? replaced(inner, rest, by) : inner]))
}

const successes = [
  seen.stkSuccess,
  seen.b2cSuccess,
  seen.b2bSuccess,
  seen.statusResult('Completed'),
  seen.pesalinkDelivery('Success', 0),
]
const failures = [
  seen.stkCancelled,
  seen.b2cUnregistered,
  seen.b2bFailure,
  seen.statusResult('Declined'),
  seen.pesalinkDelivery('Failed', 1),
]
const damage = fc.constantFrom<unknown>(undefined, null, {}, [], true, 'x', '', -1, 1e300, Number.NaN, [[]], { Key: 1 })

const damaged = (bodies: readonly unknown[]) =>
  fc
    .constantFrom(...bodies)
    .chain((body) => fc.tuple(fc.constant(body), fc.array(fc.tuple(fc.constantFrom(...paths(body)), damage), { maxLength: 3 })))
    .map(([body, hits]) => hits.reduce((result: unknown, [path, by]) => replaced(result, path, by), body))

test('a damaged success is never read as failed', () => {
  fc.assert(
    fc.property(damaged(successes), (body) => {
      for (const read of readers) expect(read('result', body).evidence.kind).not.toBe('failed')
    }),
    { numRuns: 2_000 },
  )
})

test('a damaged failure is never read as succeeded', () => {
  const askable = readers.filter((read) => read !== readEarly)
  fc.assert(
    fc.property(damaged(failures), (body) => {
      for (const read of askable) expect(read('result', body).evidence.kind).not.toBe('succeeded')
    }),
    { numRuns: 2_000 },
  )
  fc.assert(
    fc.property(damaged([seen.b2bFailure]), (body) => {
      expect(readEarly('result', body).evidence.kind).not.toBe('succeeded')
    }),
  )
})
