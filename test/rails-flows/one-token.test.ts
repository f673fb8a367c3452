import { afterAll, beforeAll, expect, test } from 'vitest'
import { credit } from '../harness/money.ts'
import { type Person, signIn } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'
import { findBreaches } from '../harness/verify.ts'
import { alerts, ordersTo, pass, pay, paymentOf } from './scene.ts'

let processes: [TestService, TestService, TestService]
let person: Person
beforeAll(async () => {
  const first = await startService()
  const another = () => startService({ database: first.database, clock: first.clock, provider: first })
  processes = [first, await another(), await another()]
  person = await signIn(first.api)
  await credit(first, person.accountId, 100_000_000n)
})
afterAll(async () => {
  for (const process of processes.toReversed()) await process.close()
})

test('where a new token ends the one before it, three processes that send at once pay everything, once, and nobody is needed', async () => {
  const [first] = processes
  first.sandbox.tokens.MPESA.invalidatePreviousOnIssue()
  const phones = Array.from({ length: 45 }, (_, index) => `2547220009${String(index).padStart(2, '0')}`)
  const ids: string[] = []
  for (const [index, destination] of phones.entries()) {
    const payee =
      index % 3 === 0
        ? { payment_rail: 'MPESA_B2B', destination: `4009${String(index).padStart(2, '0')}`, account_reference: 'A1' }
        : { payment_rail: 'MPESA_B2C', destination }
    ids.push(await pay(person, payee, '10000'))
  }
  const statuses = async () => Promise.all(ids.map(async (id) => (await paymentOf(person, id)).status))
  for (let turn = 0; turn < 12 && (await statuses()).some((status) => status !== 'succeeded'); turn += 1) {
    await Promise.all(processes.map(({ deps }) => deps.jobs.drain()))
    await pass(first, 15)
  }
  expect(await statuses()).toEqual(ids.map(() => 'succeeded'))
  expect(first.sandbox.movements()).toHaveLength(ids.length)
  for (const [index, phone] of phones.entries()) if (index % 3 !== 0) expect(ordersTo(first, phone)).toHaveLength(1)
  expect(first.sandbox.tokens.MPESA.issued()).toBe(1)
  const { baseUrl, consumerKey, consumerSecret } = first.sandbox.options(first.sandboxUrl).MPESA
  const [sealed] = await first.deps.db.query<{ ciphertext: Buffer; keyId: string }>(
    `select token_ciphertext as ciphertext, token_key_id as "keyId" from provider_tokens where provider = 'MPESA'`,
  )
  if (!sealed) throw new Error('no token is shared')
  const token = first.deps.vault.open(sealed, ['provider_token', 'MPESA', baseUrl, consumerKey, consumerSecret])
  expect(token.length).toBeGreaterThan(20)
  expect(processes.flatMap(({ log }) => log).filter((line) => line.includes(token))).toEqual([])
  expect(processes.flatMap(alerts)).toEqual([])
  expect(await findBreaches(first)).toEqual([])
})
