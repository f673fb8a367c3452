import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createRailSandbox, type RailSandbox } from '../../src/dev/sandbox/rail-sandbox.ts'
import { createSandboxTime, createTimerScheduler } from '../../src/dev/sandbox/scheduler.ts'
import { createMovableClock } from '../../src/lib/clock.ts'
import { type Client, createClient } from '../harness/client.ts'
import { newBeneficiary } from '../harness/money.ts'
import { createKey, signIn } from '../harness/people.ts'
import { freePort } from '../harness/ports.ts'
import { createTestDatabase, type TestDatabase } from '../harness/postgres.ts'
import { killAll, spawnServer } from './process.ts'

let database: TestDatabase
let folder: string
let sandbox: RailSandbox
let sandboxUrl: string
beforeAll(async () => {
  database = await createTestDatabase()
  folder = await mkdtemp(join(tmpdir(), 'shared-token-'))
  const [clock, scheduler] = [createMovableClock(), createTimerScheduler()]
  const moveTime = createSandboxTime(clock, scheduler, join(folder, 'sandbox'))
  sandbox = createRailSandbox({ scheduler, clock, delayMs: 20, moveTime, home: 'http://localhost' })
  sandboxUrl = await sandbox.listen()
})
afterEach(killAll)
afterAll(async () => {
  await sandbox.close()
  await database.drop()
  await rm(folder, { recursive: true, force: true })
})

const until = async (what: string, holds: () => Promise<boolean>): Promise<void> => {
  for (const giveUp = performance.now() + 120_000; performance.now() < giveUp; await wait(100))
    if (await holds().catch(() => false)) return
  throw new Error(`it never came to ${what}`)
}

test('three processes of a provider whose new token ends the one before it fetch one, and one more when it is refused; each payment is sent once', {
  timeout: 300_000,
}, async () => {
  sandbox.tokens.MPESA.invalidatePreviousOnIssue()
  const ports = [await freePort(), await freePort(), await freePort()]
  const operatorPorts = [await freePort(), await freePort(), await freePort()]
  const shared = {
    DATABASE_URL: database.url,
    DATA_DIR: folder,
    SANDBOX_URL: sandboxUrl,
    PUBLIC_URL: `http://localhost:${ports[0]}`,
    OPERATOR_URL: `http://127.0.0.1:${operatorPorts[0]}`,
    RATE_LIMIT_ENABLED: 'false',
    LOG_LEVEL: 'info',
  }
  for (const [index, port] of ports.entries()) {
    const server = spawnServer({ ...shared, PORT: String(port), OPERATOR_PORT: String(operatorPorts[index]) })
    await server.waitForOutput(/is ready after/)
  }
  const person = await signIn(createClient(shared.PUBLIC_URL))
  const topup = await person.api.post('/v1/topups/initiate', { amount_minor: '20000000', phone_number: '254722000001' })
  await until('a top-up', async () => (await person.api.get(`/v1/topups/${topup.body.id}`)).body.status === 'succeeded')
  const { credentials } = (await createKey(person)).api
  const clients = ports.map((port) => createClient(`http://localhost:${port}`, credentials))

  let serial = 0
  const ids: string[] = []
  const pay = async (api: Client, payee: { payment_rail: string; destination: string }) => {
    const beneficiary_id = await newBeneficiary(person.api, payee)
    const answer = await api.post('/v1/payments', { beneficiary_id, amount_minor: '10000' })
    expect(answer.status).toBe(201)
    ids.push(answer.body.id)
  }
  const payAtEach = async (count: number) => {
    for (let round = 0; round < count; round += 1)
      await Promise.all(
        clients.map((api) => {
          serial += 1
          const payee =
            serial % 3 === 0
              ? { payment_rail: 'MPESA_B2B', destination: String(400_000 + serial), account_reference: 'A1' }
              : { payment_rail: 'MPESA_B2C', destination: `2547220${String(10_000 + serial)}` }
          return pay(api, payee)
        }),
      )
    await until('the last payment', async () => {
      const { data } = (await person.api.get('/v1/payments?status=succeeded&limit=100')).body
      return data.length === ids.length
    })
  }
  await payAtEach(5)
  expect(sandbox.tokens.MPESA.issued()).toBe(1)
  for (let refusals = 1; refusals <= 2; refusals += 1) {
    sandbox.tokens.MPESA.revokeAll()
    await payAtEach(2)
    expect(sandbox.tokens.MPESA.issued()).toBe(1 + refusals)
  }
  // The top-up's prompt does not pay anyone.
  expect(sandbox.movements().filter(({ rail }) => rail !== 'MPESA_STK')).toHaveLength(ids.length)
  expect(new Set(sandbox.movements().map(({ key }) => key)).size).toBe(ids.length + 1)

  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  const [senders] = (await client.query('select count(distinct sender_id)::int as count from rail_attempts')).rows
  const [stored] = (await client.query(`select token_ciphertext as sealed from provider_tokens where provider = 'MPESA'`)).rows
  await client.end()
  // Otherwise one process would have sent everything, and shared nothing.
  expect(senders.count).toBeGreaterThan(1)
  expect(stored.sealed.length).toBeGreaterThan(28)
})
