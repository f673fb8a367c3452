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

/** Calls a tool as clients of 2025 do. */
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

const post = (message: object, headers: Record<string, string>) =>
  service.api.post('/mcp', { jsonrpc: '2.0', id: 7, ...message }, { bearer: key.key, headers })
const methods = [
  {
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'one', version: '1' } },
  },
  { method: 'tools/list' },
  { method: 'tools/call', params: { name: 'get_balance', arguments: null } },
  { method: 'tools/call', params: { name: 'get_payment', arguments: { payment_id: 'none', wait_seconds: 1 } } },
]
const stream = /^event: message\ndata: (.*)\n\n$/

test.each([
  ['application/json', 'json'],
  ['*/*', 'any'],
  ['', 'any'],
  ['application/*;q=0.5', 'json'],
  ['application/json, text/event-stream;q=0', 'json'],
  ['text/event-stream', 'stream'],
])('a client that takes "%s" gets each answer in its form', async (accept, form) => {
  for (const message of methods) {
    const { status, headers, text } = await post(message, { accept })
    const type = headers.get('content-type') ?? ''
    expect(status, text).toBe(200)
    if (form !== 'any') expect(type).toMatch(form === 'json' ? /^application\/json/ : /^text\/event-stream/)
    const { id, result } = JSON.parse(type.startsWith('application/json') ? text : (text.match(stream)?.[1] ?? ''))
    expect([id, result], text).toEqual([7, expect.any(Object)])
  }
})

const plainKeywords = /^(type|properties|required|items|enum|description|format|pattern|minimum|maximum|(min|max)(Length|Items))$/
type Schema = { properties?: Record<string, Schema>; items?: Schema; required?: string[]; [keyword: string]: unknown }
const keywordsIn = (schema: Schema): string[] => [
  ...Object.keys(schema),
  ...Object.values(schema.properties ?? {}).flatMap(keywordsIn),
  ...(schema.items ? keywordsIn(schema.items) : []),
]
const listTools = async (): Promise<{ name: string; inputSchema: Schema; outputSchema: Schema }[]> =>
  (await post({ method: 'tools/list' }, { accept: json })).body.result.tools

test('the schemas of all tools use plain keywords alone', async () => {
  for (const { name, inputSchema, outputSchema } of await listTools())
    for (const keyword of [...keywordsIn(inputSchema), ...keywordsIn(outputSchema)]) expect(keyword, name).toMatch(plainKeywords)
})

test('an optional argument that is null or empty is none, for each tool and inside lists, and a required one is wrong', async () => {
  for (const { name, inputSchema } of await listTools()) {
    const { properties = {}, required = [] } = inputSchema
    const optional = Object.keys(properties).filter((argument) => !required.includes(argument))
    for (const empty of [null, '', ' ']) {
      const input = Object.fromEntries(optional.map((argument) => [argument, empty]))
      const { result } = (await call(name, input)).body
      const fields = (result.structuredContent.refusal?.fields ?? []) as { path: string }[]
      // One of two optional amounts must be given.
      const named = fields.map(({ path }) => path).filter((path) => path !== 'amount')
      expect(named.toSorted(), name).toEqual(required.toSorted())
    }
  }
  const { beneficiary_id } = (await key.api.get(`/v1/payments/${payment}`)).body
  const item = { beneficiary_id, amount: '20', amount_minor: null, narrative: null, account_reference: '' }
  const batch = { idempotency_key: 'nulls', name: null, execute_at: '', items: [item] }
  expect((await call('create_payment_batch', batch)).body.result.structuredContent).toMatchObject({ status: 'processing' })
  const order = { beneficiary_id, amount: '30', metadata: { invoice: null, job: 'A' }, narrative: null, idempotency_key: 'null' }
  const made = (await call('create_payment', order)).body.result.structuredContent
  expect((await key.api.get(`/v1/payments/${made.payment_id}`)).body).toMatchObject({ metadata: { job: 'A' }, narrative: null })
})

test('every tool that has arguments refuses wrong ones with structured content, and says what to do next', async () => {
  for (const { name, inputSchema } of await listTools()) {
    const { result } = (await call(name, { unknown_argument: 1 })).body
    const { structuredContent: said, content } = result
    expect(said, name).toMatchObject({ status: 'refused', next: 'change_request', message: expect.any(String) })
    expect(JSON.parse(content[0].text), name).toEqual(said)
    expect(said.refusal.fields.map(({ path }: { path: string }) => path)).toContain('unknown_argument')
    expect(Object.keys(inputSchema), name).toContain('properties')
  }
})

test('every tool whose answer may be to wait takes wait_seconds, and the banks are known to the tool that takes one', async () => {
  const listed = await listTools()
  const waiting = listed.filter(({ inputSchema }) => inputSchema.properties?.wait_seconds).map(({ name }) => name)
  expect(waiting).toEqual([
    ...[
      'simulate_payment',
      'create_payment',
      'get_payment',
      'create_payment_batch',
      'get_payment_batch',
      'request_topup',
      'get_topup',
    ],
  ])
  const propose = listed.find(({ name }) => name === 'propose_beneficiary')?.inputSchema.properties
  expect(propose?.bank_code?.description).toMatch(/68 Equity/)
  expect(propose?.payment_rail?.description).toMatch(/MPESA_B2B: a paybill or till/)
  const topup = { idempotency_key: 'waited', amount: '50', phone_number: '0712345678' }
  const { id } = (await call('request_topup', topup)).body.result.structuredContent
  const waited = call('get_topup', { topup_id: id, wait_seconds: 20 })
  await service.settle()
  expect((await waited).text).toContain('"status":"succeeded"')
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
