import { expect, test } from 'vitest'
import { createToolList } from '../../src/mcp/tool-list.ts'
import { createKey, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'

const service = await openService()
const key = await createKey(await signIn(service.api))

const protocol = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-06-18' }
const ask = (id: unknown, more: object = {}, bearer = key.key) =>
  service.api.post('/mcp', { jsonrpc: '2.0', id, method: 'tools/list', ...more }, { bearer, headers: protocol })

const lines = (text: string) => text.replace(/^event: message\ndata: /, '').trim()

test('the list is the same text for each request, with the id of the request', async () => {
  const ids = [1, 'a"b', 9_007_199_254_740_991, '1']
  const texts: string[] = []
  for (const id of ids) {
    const answer = await ask(id)
    expect(answer.status).toBe(200)
    const parsed = JSON.parse(lines(answer.text)) as { id: unknown; result: { tools: { name: string }[] } }
    expect(parsed.id).toBe(id)
    expect(parsed.result.tools.map(({ name }) => name)).toContain('create_payment')
    texts.push(answer.text.replace(`"id":${JSON.stringify(id)}`, 'ID'))
  }
  expect(new Set(texts).size).toBe(1)
})

test('a credential that was revoked gets no list, however often it was sent before', async () => {
  const person = await signIn(service.api)
  const revoked = await createKey(person)
  expect((await ask(1, {}, revoked.key)).status).toBe(200)
  await person.api.delete(`/v1/accounts/me/api-keys/${revoked.id}`)
  expect((await ask(1, {}, revoked.key)).status).toBe(401)
})

test('is built once for each way of asking, and every other request is left to the protocol’s own code', async () => {
  const asked: unknown[] = []
  const answer = async ({ body }: { body: unknown }) => {
    asked.push(body)
    return Response.json(
      { jsonrpc: '2.0', id: (body as { id: unknown }).id, result: { tools: [] } },
      { headers: { 'x-kept': 'yes' } },
    )
  }
  const list = createToolList()
  const request = (id: unknown, more: object = {}) =>
    list({ body: { jsonrpc: '2.0', id, method: 'tools/list', ...more }, how: 'json' }, answer)
  const answers = await Promise.all([request(1), request(2), request('three')])
  expect(answers.map((one) => JSON.parse(String(one?.body)))).toEqual(
    [1, 2, 'three'].map((id) => ({ jsonrpc: '2.0', id, result: { tools: [] } })),
  )
  expect(answers[2]?.headers['x-kept']).toBe('yes')
  expect(asked).toHaveLength(1)
  await request(4, { params: { cursor: 'x' } })
  await request(5, { params: null })
  expect(asked).toHaveLength(3)
  for (const body of [
    [{ jsonrpc: '2.0', id: 1, method: 'tools/list' }],
    { jsonrpc: '2.0', id: null, method: 'tools/list' },
    { jsonrpc: '2.0', method: 'tools/list' },
    { jsonrpc: '2.0', id: 1, method: 'tools/call' },
    { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { cursor: 'x'.repeat(3_000) } },
  ])
    expect(await list({ body, how: 'json' }, answer)).toBeUndefined()
  expect(asked).toHaveLength(3)
})

test('an answer that is no list is not kept', async () => {
  let fails = true
  const answer = async ({ body }: { body: unknown }) => {
    if (fails) return new Response('{}', { status: 500 })
    return Response.json({ id: (body as { id: unknown }).id })
  }
  const list = createToolList()
  const request = () => list({ body: { jsonrpc: '2.0', id: 7, method: 'tools/list' }, how: 'json' }, answer)
  expect(await request()).toBeUndefined()
  fails = false
  expect(JSON.parse(String((await request())?.body))).toEqual({ id: 7 })
})
