import { randomBytes } from 'node:crypto'
import canonicalize from 'canonicalize'
import fc from 'fast-check'
import { compactVerify, importJWK } from 'jose'
import { describe, expect, test } from 'vitest'
import { inTx } from '../../src/db/client.ts'
import { canonicalJson } from '../../src/lib/canonical.ts'
import { shellOperator } from '../../src/modules/operators.ts'
import { retireSigningKey } from '../../src/modules/proof/service.ts'
import { holds, verifyReceipt } from '../../verifier/main.ts'
import { provesConsistency } from '../harness/consistency.ts'
import { newBeneficiary } from '../harness/money.ts'
import { openService, startService, type TestService } from '../harness/service.ts'
import { newPayer, receiptOf } from './receipts.ts'

const entry = (id: string) => `${id}:${randomBytes(32).toString('base64')}`
const first = entry('first')
const service = await openService({ env: { RECEIPT_KEYS: first } })
const person = await newPayer(service)
const beneficiary = await newBeneficiary(person.api)

const paid = async (from: TestService) => {
  const api = from.api.as({ cookie: person.cookie })
  const { id } = (await api.post('/v1/payments', { beneficiary_id: beneficiary, amount_minor: '1000' })).body
  return receiptOf(from, { api }, id)
}
const keysOf = async (from: TestService) => (await from.api.get('/.well-known/jwks.json')).body.keys
const startWith = (keys: string) =>
  startService({ database: service.database, clock: service.clock, provider: service, env: { RECEIPT_KEYS: keys } })

/** All of Unicode except single surrogates, often ASCII. fast-check's own unit `binary` takes a second to list them all. */
const character = fc.oneof(
  fc.string({ minLength: 1, maxLength: 1 }),
  fc
    .oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
    .map((point) => String.fromCodePoint(point)),
)

test('canonical JSON is that of RFC 8785, as an independent implementation writes it', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: character }), (value) => {
      expect(canonicalJson(value)).toBe(canonicalize(value))
    }),
  )
})

test('an independent JOSE library verifies a receipt’s signature with the published key', async () => {
  const { jws, ...document } = await paid(service)
  const [key] = await keysOf(service)
  expect(key).toEqual({ kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig', kid: 'first', x: key.x, iat: expect.any(Number) })
  const payload = Buffer.from(canonicalJson(document)).toString('base64url')
  const { protectedHeader } = await compactVerify(jws.replace('..', `.${payload}.`), await importJWK(key, 'EdDSA'))
  expect(protectedHeader).toEqual({ alg: 'EdDSA', kid: 'first', typ: 'payment-receipt' })
})

describe('a rotation of the keys that sign', () => {
  const second = entry('second')

  test('receipts under both keys hold; a retired key stays published with its end, and signs nothing later', async () => {
    const before = await paid(service)
    const paymentId = before.payment.id
    service.clock.advance(3_600)
    const next = await startWith(`${second},${first}`)
    try {
      // The receipt of an earlier payment, before the next seal: the new key signs an older head.
      const again = (await next.api.as({ cookie: person.cookie }).get(`/v1/payments/${paymentId}/receipt`)).body
      const after = await paid(next)
      expect(JSON.parse(Buffer.from(after.jws.split('.')[0], 'base64url').toString()).kid).toBe('second')
      service.clock.advance(86_400)
      const operator = shellOperator('a person')
      await inTx(next.deps.db, (tx) => retireSigningKey(tx, next.deps.receiptKeys, operator, 'first'))
      const keys = await keysOf(next)
      expect(keys.map(({ kid, exp }: { kid: string; exp?: number }) => [kid, exp !== undefined])).toEqual([
        ['first', true],
        ['second', false],
      ])
      expect(Date.parse(again.audit.head.sealed_at) / 1000).toBeLessThan(keys[1].iat - 300)
      for (const receipt of [before, again, after])
        expect(holds(await verifyReceipt(receipt, { keys, issuer: receipt.issuer })), receipt.jws).toBe(true)
      await expect(inTx(next.deps.db, (tx) => retireSigningKey(tx, next.deps.receiptKeys, operator, 'second'))).rejects.toThrow(
        /current key/,
      )
      await expect(inTx(next.deps.db, (tx) => retireSigningKey(tx, next.deps.receiptKeys, operator, 'third'))).rejects.toThrow(
        /third/,
      )
    } finally {
      await next.close()
    }
    const alone = await startWith(second)
    await alone.close()
  })

  test.each([
    ['a key that signed is missing', entry('third'), /lacks the key "second".*receipt-keys retire second/],
    [
      'another key has the id of one that signed',
      `${entry('second')},${first}`,
      /The key "second" in RECEIPT_KEYS is not the one/,
    ],
    ['the first one is retired', `${first},${second}`, /begins with the key "first", which is retired/],
  ])('the service does not start when %s', async (_what, keys, sentence) => {
    await expect(startWith(keys)).rejects.toThrow(sentence)
  })
})

describe('the head of the sealed log', () => {
  const readLog = async (query = '') => service.api.get(`/.well-known/audit-log${query}`)
  const bytes = (text: string) => Uint8Array.from(Buffer.from(text, 'hex'))

  test('is signed, and every head that was seen is proven to be the beginning of the next', async () => {
    const heads = []
    for (let seals = 0; seals < 5; seals += 1) {
      await paid(service)
      const { head } = (await readLog()).body
      heads.push(head)
    }
    const newest = heads.at(-1)
    for (const seen of heads) {
      const { head, consistency } = (await readLog(`?from=${seen.size}`)).body
      expect(head).toEqual(newest)
      expect(consistency.from).toBe(seen.size)
      const proof = {
        from: { size: seen.size, root: bytes(seen.root) },
        to: { size: head.size, root: bytes(head.root) },
        path: consistency.path.map(bytes),
      }
      expect(provesConsistency(proof)).toBe(true)
      expect(provesConsistency({ ...proof, from: { ...proof.from, root: bytes('00'.repeat(32)) } })).toBe(false)
    }
  })

  test('a size that was never signed is refused', async () => {
    expect((await readLog('?from=100000')).status).toBe(400)
    expect((await readLog('?from=0')).body.message).toBe('from: must be above 0')
    expect((await readLog('?from=100000')).body.details.param).toBe('from')
    expect((await readLog('?from=x')).status).toBe(400)
  })
})
