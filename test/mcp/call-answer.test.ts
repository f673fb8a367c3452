import { afterAll, beforeAll, expect, test } from 'vitest'
import { fund, newBeneficiary } from '../harness/money.ts'
import { createKey, type Key, signIn } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'

let service: TestService
let key: Key
let payment: string
beforeAll(async () => {
  service = await startService()
  const person = await signIn(service.api)
  await fund(service, person, 1_000_000n)
  key = await createKey(person)
  const order = { beneficiary_id: await newBeneficiary(person.api), amount_minor: '10000' }
  payment = (await key.api.post('/v1/payments', order)).body.id
  await service.settle()
})
afterAll(() => service.close())

const json = 'application/json; charset=utf-8'

/** As clients of 2025 ask. */
const call = (name: string, input: object, bearer = key.key) =>
  service.api.post(
    '/mcp',
    { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name, arguments: input } },
    { bearer, headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-06-18' } },
  )

test('the call of a tool that does not wait is answered with JSON', async () => {
  const { status, headers, body } = await call('get_payment', { payment_id: payment })
  expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([200, json, 'no-store'])
  expect(body).toMatchObject({
    jsonrpc: '2.0',
    id: 7,
    result: { structuredContent: { payment_id: payment, status: 'succeeded' } },
  })
})

test('a refusal is JSON too, with the tool’s own answer', async () => {
  const { headers, body } = await call('get_payment', { payment_id: 'pay_none' })
  expect(headers.get('content-type')).toBe(json)
  expect(body.result).toMatchObject({ isError: true })
  expect(JSON.parse(body.result.content[0].text)).toMatchObject({ status: 'refused', refusal: { code: 'not_found' } })
})

test('a tool that may wait is answered with a stream, which can be kept alive', async () => {
  const { headers, text } = await call('get_payment', { payment_id: payment, wait_seconds: 25 })
  expect(headers.get('cache-control')).toBe('no-store')
  expect(headers.get('content-type')).toMatch(/^text\/event-stream/)
  expect(text).toContain('"status":"succeeded"')
})

test('a credential that was revoked calls nothing', async () => {
  const person = await signIn(service.api)
  const revoked = await createKey(person)
  await person.api.delete(`/v1/accounts/me/api-keys/${revoked.id}`)
  expect((await call('get_credential', {}, revoked.key)).status).toBe(401)
})
