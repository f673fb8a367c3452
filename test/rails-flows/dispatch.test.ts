import pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { credit, newBeneficiary } from '../harness/money.ts'
import { type Person, signIn } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'
import { alerts, isLedgerSound, ordersTo, paymentOf } from './scene.ts'

/** Workers run by themselves here, as in production: the test measures which payments wait for others. */
let service: TestService
let people: Person[]
beforeEach(async () => {
  service = await startService({ env: { JOBS: 'inline' }, railTimeoutMs: 60_000, fixed: { RAIL_CONCURRENCY: 8 } })
  people = await Promise.all([0, 1, 2].map(() => signIn(service.api)))
  for (const { accountId } of people) await credit(service, accountId, 100_000_000n)
})
afterEach(async () => {
  expect(await isLedgerSound(service)).toBe(true)
  await service.close()
})

let serial = 0
const nextPhone = () => {
  serial += 1
  return `2547440${String(serial).padStart(5, '0')}`
}

const payTo = async (person: Person | undefined, destination: string, rail = 'MPESA_B2C'): Promise<string> => {
  if (!person) throw new Error('there is no payer')
  const beneficiary_id = await newBeneficiary(person.api, { payment_rail: rail, destination })
  const answer = await person.api.post('/v1/payments', { beneficiary_id, amount_minor: '10000' })
  if (answer.status !== 201) throw new Error(`a payment was refused: ${answer.text}`)
  return answer.body.id
}

const hang = (party?: string) =>
  service.sandbox.rules.add({ effect: 'drop', rail: 'MPESA_B2C', times: null, delay_ms: 0, ...(party && { party }) })

/** Sooner than the timeout of a hanging call. */
const isSent = (phone: string) => expect.poll(() => ordersTo(service, phone).length, { interval: 20 }).toBe(1)

/** Waits until this many payments wait for their next try. */
const waitForRetry = (count: number) =>
  expect.poll(async () => (await service.deps.db.query(`select from rail_attempts where state = 'not_sent'`)).length).toBe(count)

test('an accepted payment is sent at once, without waiting for the poll', async () => {
  const phone = nextPhone()
  await payTo(people[0], phone)
  await isSent(phone)
})

test('a rail on which every call hangs delays no payment by another rail', async () => {
  hang()
  for (let index = 0; index < 10; index += 1) await payTo(people[0], nextPhone())
  const phone = nextPhone()
  await payTo(people[1], phone, 'PESALINK')
  await isSent(phone)
})

/** All of these are due before the first is taken. */
const payAtOnce = async (payments: readonly (readonly [Person | undefined, string])[]) => {
  await service.deps.db.query(`insert into rail_pauses values ('MPESA_B2C', 'operator', 'a test', 'a test', now())`)
  for (const [person, phone] of payments) await payTo(person, phone)
  await service.deps.db.query('delete from rail_pauses')
}

const hangingPayments = (person: Person | undefined, count: number) =>
  Array.from({ length: count }, () => {
    const phone = nextPhone()
    hang(phone)
    return [person, phone] as const
  })

test('a tenant whose calls all hang does not block other tenants on the same rail', async () => {
  await payAtOnce(hangingPayments(people[0], 12))
  await expect
    .poll(async () => (await service.deps.db.query(`select from rail_attempts where state = 'sending'`)).length)
    .toBeGreaterThanOrEqual(4)
  const phone = nextPhone()
  await payTo(people[1], phone)
  await isSent(phone)
})

test('of the payments that are due at once each tenant gets a share, however many the others have', async () => {
  const phone = nextPhone()
  await payAtOnce([...hangingPayments(people[0], 9), ...hangingPayments(people[1], 9), [people[2], phone]])
  await isSent(phone)
})

test('an account that is locked delays only itself, and is served when it is free', async () => {
  const client = new pg.Client({ connectionString: service.database.url })
  await client.connect()
  const [locked, free] = people
  const phones = [nextPhone(), nextPhone()] as const
  const beneficiary_id = await newBeneficiary(locked?.api ?? service.api, { destination: phones[0] })
  service.sandbox.rules.add({ effect: 'spike_arrest', rail: 'MPESA_B2C', party: phones[0], times: 1, delay_ms: 0 })
  await locked?.api.post('/v1/payments', { beneficiary_id, amount_minor: '10000' })
  await waitForRetry(1)
  await client.query('begin')
  await client.query(
    `select pg_advisory_xact_lock(('x' || right(replace(account_id::text, '-', ''), 16))::bit(64)::bigint) from payments where dispatch_due_at is not null`,
  )
  service.clock.advance(6)
  await payTo(free, phones[1])
  await isSent(phones[1])
  expect(ordersTo(service, phones[0])).toHaveLength(0)
  await client.query('commit')
  await client.end()
  await isSent(phones[0])
})

test('a payment that cannot be prepared is tried again alone, raises an alert at the third failure, and delays no other', async () => {
  const phones = [nextPhone(), nextPhone(), nextPhone()]
  const { transaction } = service.deps.db
  const ids: string[] = []
  // All three are due in one claim: none is sent before the third exists.
  for (const [index, phone] of phones.entries()) {
    service.sandbox.rules.add({ effect: 'spike_arrest', rail: 'MPESA_B2C', party: phone, times: 1, delay_ms: 0 })
    ids.push(await payTo(people[2], phone))
    await waitForRetry(index + 1)
    const later = new Date(service.clock.now().getTime() + 600_000)
    await service.deps.db.query('update payments set dispatch_due_at = $1 where dispatch_due_at is not null', [later])
    service.clock.advance(2 ** (index + 1))
  }
  await service.deps.db.query(
    `update payments set mandate_id = gen_random_uuid() where id = (select id from payments where dispatch_due_at is not null order by id limit 1)`,
  )
  service.clock.advance(660)
  await isSent(phones[1] ?? '')
  await isSent(phones[2] ?? '')
  expect(service.deps.db.transaction).toBe(transaction)
  await expect.poll(() => alerts(service)).toContain('work_failing')
  expect((await paymentOf(people[2] ?? { api: service.api }, ids[0] ?? '')).status).toBe('processing')
  await service.deps.db.query(`update payments set mandate_id = null where dispatch_due_at is not null`)
  await expect.poll(() => ordersTo(service, phones[0] ?? '').length).toBe(1)
})
