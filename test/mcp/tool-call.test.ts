import { beforeEach, expect, test } from 'vitest'
import type { Exchange } from '../../src/mcp/exchange.ts'
import type { Said } from '../../src/mcp/run-tool.ts'
import { createToolCalls } from '../../src/mcp/tool-call.ts'

// The protocol's own code is stood in for by a function, to see what is asked of it.
let asked: { checked: boolean; said: Said | 'a bug' }[]
let runs: number
let calls: ReturnType<typeof createToolCalls>
beforeEach(() => {
  asked = []
  runs = 0
  calls = createToolCalls({
    mayAsk: () => false,
    answer: async ({ body }, run, checked) => {
      const said = await run().catch(() => 'a bug' as const)
      asked.push({ checked, said })
      return Response.json({ id: (body as { id: unknown }).id, said })
    },
  })
})

const topup = {
  id: 'top_1',
  status: 'pending',
  amount_minor: '100',
  received_minor: null,
  currency: 'KES',
  phone_number_mask: null,
  instructions: null,
  provider_receipt: null,
  failure_code: null,
  failure_message: null,
}

const exchange = (body: object, answer: () => unknown = () => topup): Exchange => ({
  body: { jsonrpc: '2.0', id: 1, method: 'tools/call', ...body },
  how: 'json',
  requestWith: () => new Request('http://localhost/mcp'),
  callerOf: () => ({
    call: async () => {
      runs += 1
      return { status: 200, replayed: false, retryAfterSeconds: undefined, body: answer() }
    },
    publicUrl: 'http://localhost',
    currency: 'KES',
    now: () => new Date(0),
    signal: new AbortController().signal,
  }),
  aborted: () => new AbortController().signal,
})
const read = (id: unknown = 1, answer?: () => unknown) =>
  calls(exchange({ id, params: { name: 'get_topup', arguments: { topup_id: 'top_1' } } }, answer))
const bodyOf = (known: Awaited<ReturnType<typeof calls>>) =>
  known && !(known instanceof Response) ? JSON.parse(String(known.body)) : undefined

test('the first call of a way is left to the protocol’s own code, which is then asked for one answer of each kind', async () => {
  expect(await read()).toBeUndefined()
  expect(runs).toBe(0)
  for (const id of [2, 'three']) expect(bodyOf(await read(id))).toMatchObject({ id, said: { structured: { id: 'top_1' } } })
  expect(runs).toBe(2)
  expect(asked).toHaveLength(2)
  expect(asked.every(({ checked }) => !checked)).toBe(true)
})

test('what a tool says cannot imitate a mark or leave its place', async () => {
  await read()
  const hostile = { ...topup, failure_message: '"},"id":9,"x":{"\\\u2028' }
  const answered = bodyOf(await read('"}', () => hostile))
  expect(answered.id).toBe('"}')
  expect(answered.said.structured.failure_message).toBe(hostile.failure_message)
  expect(JSON.parse(answered.said.text)).toEqual(answered.said.structured)
})

test('a bug is answered by the protocol’s own code, from the one run', async () => {
  await read()
  await read(2)
  asked = []
  runs = 0
  const broken = () => {
    throw new Error('a bug')
  }
  expect(await read(3, broken)).toBeInstanceOf(Response)
  expect(asked).toEqual([{ checked: true, said: 'a bug' }])
  expect(runs).toBe(1)
})

test('every other request is left to the protocol’s own code, and runs nothing', async () => {
  await read()
  const params = { name: 'get_topup', arguments: { topup_id: 'top_1' } }
  const others = [
    { id: 'x'.repeat(101), params },
    { id: null, params },
    { params: { ...params, task: {} } },
    { params: { name: 'get_topup', arguments: [] } },
    { params: { name: 'no_tool', arguments: {} } },
    { params: { name: 'wait_for_payment', arguments: { payment_id: 'pay_1' } } },
    { params: { ...params, _meta: { progressToken: 1 } } },
    { method: 'tools/list' },
  ]
  for (const other of others) expect(await calls(exchange(other))).toBeUndefined()
  expect(await calls({ ...exchange({ params }), how: 'another' })).toBeUndefined()
  expect(runs).toBe(0)
  expect(asked).toEqual([])
})

test('a client that may be asked in the middle of a call is answered by the protocol’s own code', async () => {
  const answer = async () => Response.json({})
  const asking = createToolCalls({ mayAsk: ({ name }) => name === 'get_topup', answer })
  const body = { params: { name: 'get_topup', arguments: {} } }
  for (const _ of [1, 2, 3]) expect(await asking(exchange(body))).toBeUndefined()
})
