import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkCallbackUrl } from '../../src/rails/check.ts'
import { checkDaraja } from '../../src/rails/daraja/adapter.ts'
import { checkPesalink } from '../../src/rails/pesalink/adapter.ts'
import type { RailCheck } from '../../src/rails/rail.ts'
import { startRails, type TestRails } from './harness.ts'

let rails: TestRails
beforeAll(async () => {
  rails = await startRails()
})
afterAll(() => rails.close())

const problems = async (checks: AsyncIterable<RailCheck>): Promise<(string | null)[]> => {
  const missingParts: (string | null)[] = []
  for await (const { problem } of checks) missingParts.push(problem)
  return missingParts
}
const now = { now: () => new Date() }

test('a complete configuration passes the check, and no money moves', async () => {
  expect(await problems(checkDaraja(rails.sandbox.options(rails.baseUrl).MPESA, { clock: now }))).toEqual([
    null,
    null,
    null,
    null,
  ])
  expect(await problems(checkPesalink(rails.sandbox.options(rails.baseUrl).PESALINK, { clock: now }))).toEqual([
    null,
    null,
    null,
    null,
  ])
  expect(rails.sandbox.orders()).toEqual([])
})

test('an address that ends with a slash is checked as payments use it', async () => {
  const baseUrl = `${rails.baseUrl}/`
  expect(await problems(checkDaraja(rails.sandbox.options(baseUrl).MPESA, { clock: now }))).toEqual([null, null, null, null])
  expect((await problems(checkPesalink(rails.sandbox.options(baseUrl).PESALINK, { clock: now })))[0]).toBeNull()
})

test('each missing part of the configuration has its sentence', async () => {
  const options = { ...rails.sandbox.options(rails.baseUrl).MPESA, consumerSecret: 'wrong', certificatePem: 'nonsense' }
  const ahead = { now: () => new Date(Date.now() + 600_000) }
  expect(await problems(checkDaraja(options, { clock: ahead }))).toEqual([
    expect.stringContaining('DARAJA_CONSUMER_SECRET'),
    expect.stringContaining('DARAJA_CERTIFICATE'),
    expect.stringMatching(/differs by (599|60\d) s/),
  ])
  const bank = { ...rails.sandbox.options(rails.baseUrl).PESALINK, failureCodes: [], privateKeyPem: 'nonsense' }
  expect(await problems(checkPesalink(bank, { clock: now }))).toEqual([
    null,
    expect.stringContaining('PESALINK_PRIVATE_KEY'),
    expect.stringContaining('PESALINK_FAILURE_CODES'),
    null,
  ])
  expect(checkCallbackUrl('http://127.0.0.1:3001', true).problem).toMatch(/OPERATOR_URL/)
  expect(checkCallbackUrl('https://pay.example', false).problem).toBeNull()
})
