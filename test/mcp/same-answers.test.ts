import { describe, expect, test } from 'vitest'
import { tools } from '../../src/mcp/tools.ts'
import { fund, newBeneficiary } from '../harness/money.ts'
import { createKey, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'

const service = await openService()
const person = await signIn(service.api)
await fund(service, person, 10_000_000n)
const payee = await newBeneficiary(person.api, { display_name: 'Wanjiru Kamau' })
const key = await createKey(person)
const payment = (await key.api.post('/v1/payments', { beneficiary_id: payee, amount_minor: '10000' })).body.id
await person.api.post('/v1/spending-policies', { name: 'Ask', approval_threshold_minor: '50000' })

let serial = 0
const order = (amount: string) => {
  serial += 1
  return {
    idempotency_key: `key ${serial}`,
    account_reference: `Invoice ${serial + 100}`,
    beneficiary_id: payee,
    amount_minor: amount,
  }
}
const proposal = () => {
  serial += 1
  const destination = `2547${31_000_000 + serial}`
  return { idempotency_key: `payee ${serial}`, display_name: 'Otieno', payment_rail: 'MPESA_B2C', destination }
}
const waiting = async () =>
  (await key.api.post('/v1/payments', { ...order('60000'), idempotency_key: undefined })).body.id as string

/** At least one call of each tool that does not wait, and each kind of refusal. A call that changes something is another one each time. */
const calls: readonly (readonly [tool: string, input: () => object | Promise<object>])[] = [
  ['get_credential', () => ({})],
  ['get_balance', () => ({})],
  ['list_beneficiaries', () => ({})],
  ['list_beneficiaries', () => ({ name: 'nobody' })],
  ['propose_beneficiary', () => proposal()],
  ['simulate_payment', () => ({ beneficiary_id: payee, amount: '250.00' })],
  ['create_payment', () => order('1100')],
  ['create_payment', () => order('60000')],
  ['create_payment', () => ({ ...order('1'), beneficiary_id: 'bnf_none' })],
  ['get_payment', () => ({ payment_id: payment })],
  ['get_payment', () => ({ payment_id: 'pay_none' })],
  ['get_payment', () => ({ payment: 1 })],
  ['list_payments', () => ({ limit: 1, beneficiary_id: payee, created_before: '2026-01-01T00:00:00Z' })],
  ['cancel_payment', async () => ({ payment_id: await waiting() })],
  [
    'create_payment_batch',
    () => ({ idempotency_key: order('1').idempotency_key, items: [{ beneficiary_id: payee, amount_minor: '700' }] }),
  ],
  ['get_payment_batch', () => ({ batch_id: 'bat_none' })],
  ['list_approvals', () => ({ status: 'approved' })],
  ['list_mandates', () => ({})],
  ['request_topup', () => ({ idempotency_key: order('1').idempotency_key, amount: '10.00', phone_number: '254712345678' })],
  ['get_topup', () => ({ topup_id: 'top_none' })],
  ['list_events', () => ({ limit: 1, after: 'evt_none' })],
]

const accept = 'application/json, text/event-stream'
const years = {
  2025: { headers: () => ({ accept, 'mcp-protocol-version': '2025-06-18' }), more: {} },
  2026: {
    headers: (name: string) => ({ accept, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': name }),
    more: {
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': { name: 'agent', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': {},
      },
    },
  },
} as const

/** Longer than an id of which an answer is kept: the protocol's own code answers. */
const longId = 'x'.repeat(101)

/** What differs between two calls that do the same: ids, times, and the numbers of the test's own orders. */
const alike = (text: string, id: unknown): string =>
  text
    .replace(`"id":${JSON.stringify(id)}`, 'ID')
    .replaceAll(/\b[a-z]{2,4}_[0-9a-hjkmnp-tv-z]{26}\b/g, 'an id')
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'a request')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'a time')
    .replaceAll(/Invoice \d+|\*+\d{3,4}\b/g, 'a number')

const unlike = new Set(['date', 'x-request-id', 'content-length', 'ratelimit-remaining', 'ratelimit-reset'])

describe.each([2025, 2026] as const)('to a client of %i', (year) => {
  const call = async (id: unknown, name: string, input: object) => {
    const { headers, more } = years[year]
    const body = { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: input, ...more } }
    const answer = await service.api.post('/mcp', body, { bearer: key.key, headers: headers(name) })
    return {
      status: answer.status,
      headers: [...answer.headers].filter(([header]) => !unlike.has(header)),
      text: alike(answer.text, id),
    }
  }

  test.each(calls)('%s is answered with the bytes of the protocol’s own code', async (name, input) => {
    const byProtocol = await call(longId, name, await input())
    expect(byProtocol.status).toBe(200)
    expect(byProtocol.text).toContain('ID')
    for (const id of [1, 'a"b', 3]) expect(await call(id, name, await input())).toEqual(byProtocol)
  })
})

test('a key that was revoked gets no answer that is kept', async () => {
  const revoked = await createKey(person)
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'get_balance', arguments: {} } }
  const statusOf = async () =>
    (await service.api.post('/mcp', body, { bearer: revoked.key, headers: years[2025].headers() })).status
  for (const _ of [1, 2, 3]) expect(await statusOf()).toBe(200)
  await person.api.delete(`/v1/accounts/me/api-keys/${revoked.id}`)
  expect(await statusOf()).toBe(401)
})

test('every tool that does not wait is compared', () => {
  const names = tools.flatMap(({ name, waits }) => (waits ? [] : [name]))
  expect([...new Set(calls.map(([name]) => name))].toSorted()).toEqual(names.toSorted())
})
