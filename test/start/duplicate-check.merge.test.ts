import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RailOptions } from '../../src/app-rails.ts'
import { type Client, createClient } from '../harness/client.ts'
import { freePort } from '../harness/ports.ts'
import { createTestDatabase, type TestDatabase } from '../harness/postgres.ts'
import { programs } from '../harness/programs.ts'
import { killAll, spawnServer } from './process.ts'

let database: TestDatabase
let folder: string
let control: Client
let real: Record<string, string>
beforeAll(async () => {
  database = await createTestDatabase()
  folder = await mkdtemp(join(tmpdir(), 'duplicates-'))
  const sandbox = spawnServer(
    { SANDBOX_URL: `http://127.0.0.1:${await freePort()}`, DATA_DIR: join(folder, 'provider'), SANDBOX_DELAY_MS: '10' },
    { command: [process.execPath, programs.sandbox] },
  )
  const [, url = ''] = await sandbox.waitForOutput(/(http:\/\/\S+)\/control/)
  control = createClient(`${url}/control`)
  const { MPESA, PESALINK }: RailOptions = (await control.get('/options')).body
  // An operator's settings for real providers. The emulator is only an address to the adapters.
  real = {
    DATABASE_URL: database.url,
    DATA_DIR: join(folder, 'service'),
    OPERATOR_URL: 'https://callbacks.example',
    RAILS: 'daraja,pesalink',
    DARAJA_B2C_REPEATS: 'true',
    PESALINK_REFERENCE_IS_UNIQUE: 'true',
    DARAJA_URL: url,
    DARAJA_CONSUMER_KEY: MPESA.consumerKey,
    DARAJA_CONSUMER_SECRET: MPESA.consumerSecret,
    DARAJA_SHORTCODE: MPESA.shortcode,
    DARAJA_PASSKEY: MPESA.passkey,
    DARAJA_INITIATOR_NAME: MPESA.initiatorName,
    DARAJA_INITIATOR_PASSWORD: MPESA.initiatorPassword,
    DARAJA_CERTIFICATE: MPESA.certificatePem,
    PESALINK_URL: url,
    PESALINK_API_KEY: PESALINK.apiKey,
    PESALINK_MERCHANT_CODE: PESALINK.merchantCode,
    PESALINK_CONSUMER_SECRET: PESALINK.consumerSecret,
    PESALINK_PRIVATE_KEY: PESALINK.privateKeyPem,
    PESALINK_ACCOUNT_NUMBER: PESALINK.source.accountNumber,
    PESALINK_ACCOUNT_NAME: PESALINK.source.name,
  }
})
afterAll(async () => {
  await killAll()
  await database.drop()
  await rm(folder, { recursive: true, force: true })
})

const phone = '0722000999'
const rails = ['MPESA_B2C', 'PESALINK']
const refuses = (rail: string) => `${rail} rejects a duplicate order`

const admin = async (words: readonly string[], settings: Record<string, string> = {}) => {
  const run = spawnServer({ ...real, ...settings }, { command: [process.execPath, programs.admin, ...words] })
  const { code } = await run.ended
  return { code, lines: run.stdout().trim().split('\n'), stderr: run.stderr() }
}
const check = () => admin(['rails', 'check', '--duplicate', phone])
const untested = async () => (await admin(['rails', 'check'])).lines.filter((line) => line.includes('rejects a duplicate order'))

/** A start's warnings about settings without effect yet. */
const warnings = async () => {
  const server = spawnServer(real)
  await server.ready()
  server.kill('SIGTERM')
  await server.ended
  return [...server.stdout().matchAll(/(\w+) has no effect yet/g)].map(([, setting]) => setting)
}

/** Orders to the phone that the provider accepted. */
const orders = async () => (await control.get('/movements')).body.data.length

test('npm run admin -- rails check --duplicate opens the repeats of a provider that refuses duplicates, and of no other', async () => {
  expect(await warnings()).toEqual(['DARAJA_B2C_REPEATS', 'PESALINK_REFERENCE_IS_UNIQUE'])
  const waits = rails.map((rail) => `FAILED  ${refuses(rail)}: not tested: run rails check --duplicate <your phone>`)
  expect(await untested()).toEqual(waits)

  // A provider that accepts the same order twice.
  for (const rail of rails) await control.post('/rules', { effect: 'pay_again', rail, times: null })
  const paidTwice = await check()
  expect(paidTwice.code).toBe(1)
  for (const rail of rails)
    expect(paidTwice.lines).toContain(
      `FAILED  ${refuses(rail)}: the provider accepted the order twice: leave the setting off, and check the statement for a second payment`,
    )
  expect(await untested()).toEqual(waits)

  // A provider that does not answer the first order: nothing was tested.
  await control.delete('/rules')
  for (const rail of rails) await control.post('/rules', { effect: 'error_500', rail, times: 1 })
  const untaken = await check()
  expect(untaken.code).toBe(1)
  for (const rail of rails)
    expect(untaken.lines).toContainEqual(
      expect.stringMatching(`^FAILED  ${refuses(rail)}: the provider did not accept the first order`),
    )
  expect(await untested()).toEqual(waits)

  const before = await orders()
  const passed = await check()
  expect(passed).toEqual({
    code: 0,
    lines: [
      ...rails.map((rail) => `ok      ${refuses(rail)}`),
      'The provider’s statement will list these test payments. Resolve them as your own.',
    ],
    stderr: '',
  })
  await expect.poll(orders).toBe(before + 2)
  expect(await untested()).toEqual([])
  expect(await warnings()).toEqual([])
})

test('it refuses a phone that is none, and a configuration without a real rail, in a sentence and with exit code 2', async () => {
  const wrong = await admin(['rails', 'check', '--duplicate', '12345'])
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('"12345" is not a Kenyan mobile number')])
  const emulated = await admin(['rails', 'check', '--duplicate', phone], { RAILS: 'sandbox' })
  expect([emulated.code, emulated.stderr]).toEqual([2, expect.stringContaining('RAILS has no real rail')])
})
