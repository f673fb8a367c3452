import { afterAll, describe, expect, test } from 'vitest'
import { tools } from '../../src/mcp/tools.ts'
import { startAdministered } from '../admin/administrators.ts'
import type { Json } from '../harness/client.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { createKey, type Person, signIn } from '../harness/people.ts'
import { createTurns, type Sent, slowness, type Turns } from '../harness/turns.ts'
import { playExamples } from './example-scene.ts'

const { service, admin, second, wallets } = await startAdministered({ env: { RATE_LIMIT_ENABLED: 'false' } })
const turns = createTurns()
afterAll(async () => {
  turns.close()
  await service.close()
})

/** The maximum turn of the event loop, in which one request keeps all others waiting, on the machine of docs/security.md. */
const maxMs = 50
/** Compares a slow turn with a fixed piece of work: other tests and other machines share the processor. */
const onThatMachine = (turns: Turns): Turns =>
  turns.longestMs < maxMs ? turns : { ...turns, longestMs: turns.longestMs / slowness() }

const person = await signIn(service.api)
await credit(service, person.accountId, 900_000_000n)
const payee = await newBeneficiary(person.api)
const json = { 'content-type': 'application/json' }
const csv = { 'content-type': 'text/csv' }

type Ask = { path: string; expected?: number; by?: Person } & Partial<Sent>
let serial = 0
const measure = async ({ path, by = person, method = 'GET', headers, body }: Ask): Promise<Turns> => {
  serial += 1
  const own = { cookie: `service_session=${by.cookie}`, origin: service.api.url, 'idempotency-key': `turn-${serial}` }
  const sent = { method, headers: { ...own, ...headers }, ...(body !== undefined && { body }) }
  return onThatMachine(await turns.measure(service.api.url + path, sent))
}
const send = async (ask: Ask): Promise<Turns> => {
  const measured = await measure(ask)
  const { path, expected = ask.method === undefined ? 200 : 201 } = ask
  expect([path, measured.status, measured.text]).toEqual([path, expected, measured.text])
  return measured
}

const figures: string[] = []
afterAll(() => {
  if (process.env.SHOW_TURNS) console.log(figures.join('\n'))
})

/** The shortest of a few turns: other work in the process, such as garbage collection, is not the request's. */
const longest = async (name: string, ask: () => Promise<Ask> | Ask, times = 2): Promise<number> => {
  const all: Turns[] = []
  const isLong = () => Math.min(...all.map(({ longestMs }) => longestMs)) >= maxMs
  while (all.length < times || (all.length < 6 && isLong())) all.push(await send(await ask()))
  const [first, turn, whole] = [
    all[0]?.longestMs,
    ...(['longestMs', 'totalMs'] as const).map((of) => Math.min(...all.map((one) => one[of]))),
  ]
  figures.push(`| ${name} | ${first?.toFixed(0)} | ${turn?.toFixed(0)} | ${whole?.toFixed(0)} |`)
  return turn ?? Number.NaN
}

// Runs before the lists, because it would send their thousands of payments.
describe('every operation with the longest texts that its body and its address take', () => {
  // For a normaliser each mark is one more letter: the most expensive text of this length.
  const textOf = (length: number) => 'a\u0301\u0316'.repeat(Math.ceil(length / 5)).slice(0, length / 1.7)
  const filled = (value: Json, length: number): Json => {
    if (typeof value === 'string') return textOf(length)
    if (Array.isArray(value)) return value.map((one) => filled(one, length / value.length))
    if (typeof value !== 'object' || value === null) return value
    const entries = Object.entries(value)
    return Object.fromEntries(entries.map(([key, inner]) => [key, filled(inner, length / entries.length)]))
  }
  /** Texts that share the room, and each text alone in it. */
  const longestOf = (value: Json, length: number): Json[] => {
    if (typeof value !== 'object' || value === null) return [filled(value, length)]
    return [filled(value, length), ...Object.keys(value).map((key) => ({ ...value, [key]: filled(value[key], length) }))]
  }
  const leftOut = new Set(['accounts.close', 'sign_in.logout', 'notifications.stream'])
  const large = new Set(['payment_batches.create', 'admin.upload_statement'])

  test('takes no longer than any other', async () => {
    const document = (await service.api.get('/openapi.json')).body
    const all = Object.entries<Record<string, Json>>(document.paths).flatMap(([path, ofPath]) =>
      Object.entries(ofPath).map(([method, operation]) => ({ path, method, id: String(operation.operationId) })),
    )
    const played: Record<string, Json> = await playExamples(service, all, [admin, second])
    const by = await signIn(service.api, wallets[1])
    const slow: [string, number][] = []
    let worst = { id: '', longestMs: 0 }
    let sent = 0
    for (const { id, path, method } of all.filter((one) => !leftOut.has(one.id))) {
      const { request, parameters = {} } = played[id]
      const concrete = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(parameters[name]))
      const query = Object.keys(parameters).filter((name) => !path.includes(`{${name}}`))
      const addresses = [concrete, ...query.map((name) => `${concrete}?${name}=${'%CC%81'.repeat(1_300)}`)]
      const bodies = request === undefined ? [undefined] : longestOf(request, large.has(id) ? 1_000_000 : 64_000)
      for (const address of addresses)
        for (const body of address === concrete ? bodies : bodies.slice(0, 1)) {
          const ask = () =>
            measure({
              path: address,
              by,
              method: method.toUpperCase(),
              ...(body !== undefined && { headers: json, body: JSON.stringify(body) }),
            })
          let taken = await ask()
          for (let again = 0; again < 2 && taken.longestMs >= maxMs; again++) taken = await ask()
          sent += 1
          if (taken.longestMs >= maxMs) slow.push([`${id} ${address.slice(0, 80)}`, taken.longestMs])
          worst = worst.longestMs > taken.longestMs ? worst : { ...taken, id }
        }
    }
    figures.push(`| ${sent} requests with longest texts, slowest ${worst.id} | | ${worst.longestMs.toFixed(0)} | |`)
    expect(slow).toEqual([])
    expect(sent).toBeGreaterThan(250)
  })

  test('nor does a tool for agents, with its arguments', async () => {
    const key = await createKey(person)
    const headers = {
      ...json,
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-06-18',
      authorization: `Bearer ${key.key}`,
    }
    const slow: [string, number][] = []
    for (const { name, input } of tools)
      for (const given of longestOf(Object.fromEntries(Object.keys(input.shape).map((field) => [field, 'x'])), 64_000)) {
        const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } }
        const ask = async () =>
          onThatMachine(await turns.measure(`${service.api.url}/mcp`, { method: 'POST', headers, body: JSON.stringify(call) }))
        let taken = await ask()
        for (let again = 0; again < 2 && taken.longestMs >= maxMs; again++) taken = await ask()
        expect([name, taken.status]).toEqual([name, 200])
        if (taken.longestMs >= maxMs) slow.push([`${name} ${Object.keys(given).join(' ')}`, taken.longestMs])
      }
    expect(slow).toEqual([])
  })
})

const item = (index: number) => ({
  beneficiary_id: payee,
  amount_minor: String(100 * (10 + index)),
  narrative: `Salary ${index} `.padEnd(140, 'x'),
  metadata: { note: 'x'.repeat(200) },
})
const listOf = (count: number, more: object = {}) =>
  JSON.stringify({ items: Array.from({ length: count }, (_, index) => item(index)), duplicates_intended: true, ...more })
const csvOf = (count: number) =>
  `display_name,destination,amount,narrative\n${Array.from({ length: count }, (_, index) => `Worker ${index},07${String(22_000_000 + index)},${10 + (index % 90)},Salary of March`).join('\n')}\n`

describe('a list of 1,000 payments', () => {
  test('is created from JSON', async () => {
    expect(
      await longest('list, JSON', () => ({ path: '/v1/payment-batches', method: 'POST', headers: json, body: listOf(1_000) })),
    ).toBeLessThan(maxMs)
  })
  test('is created from CSV', async () => {
    const body = csvOf(1_000)
    expect(
      await longest('list, CSV', () => ({
        path: '/v1/payment-batches?duplicates_intended=true',
        method: 'POST',
        headers: csv,
        body,
      })),
    ).toBeLessThan(maxMs)
  })
  const waiting = async () => {
    await person.api.post('/v1/spending-policies', { name: 'Ask', required_approval_count: 1 })
    return (await person.api.post('/v1/payment-batches', JSON.parse(listOf(1_000)))).body
  }
  test.each(['approve', 'reject'])('is decided: %s', async (decision) => {
    const ask = async () => {
      const { approval_id } = await waiting()
      const body = JSON.stringify({ decision })
      return { path: `/v1/approvals/${approval_id}/decide`, method: 'POST', headers: json, body, expected: 200 }
    }
    expect(await longest(decision, ask)).toBeLessThan(maxMs)
  })
  test('is cancelled', async () => {
    const ask = async () => {
      const { id } = await waiting()
      return { path: `/v1/payment-batches/${id}/cancel`, method: 'POST', headers: json, body: '{}', expected: 200 }
    }
    expect(await longest('cancel', ask)).toBeLessThan(maxMs)
  })
  test('is read, and its receipt', async () => {
    const { approval_id, id } = await waiting()
    expect(await longest('approval read', () => ({ path: `/v1/approvals/${approval_id}` }))).toBeLessThan(maxMs)
    expect(await longest('batch read', () => ({ path: `/v1/payment-batches/${id}` }))).toBeLessThan(maxMs)
  })
})

test('pages, searches, exports and statements of 3,000 payments', async () => {
  expect(await longest('search', () => ({ path: `/v1/payments?q=${'zq'.repeat(40)}` }))).toBeLessThan(maxMs)
  expect(await longest('page', () => ({ path: '/v1/payments?limit=100' }))).toBeLessThan(maxMs)
  expect(await longest('history', () => ({ path: '/v1/accounts/me/history?limit=100' }))).toBeLessThan(maxMs)
  expect(await longest('notifications', () => ({ path: '/v1/notifications?limit=100' }))).toBeLessThan(maxMs)
  expect(await longest('payments csv', () => ({ path: '/v1/payments', headers: { accept: 'text/csv' } }))).toBeLessThan(maxMs)
  expect(await longest('statement', () => ({ path: '/v1/accounts/me/statement' }))).toBeLessThan(maxMs)
  expect(
    await longest('statement csv', () => ({ path: '/v1/accounts/me/statement', headers: { accept: 'text/csv' } })),
  ).toBeLessThan(maxMs)
})

test('a statement of 10,000 lines', async () => {
  let upload = 0
  const ask = () => {
    upload += 1
    const lines = Array.from(
      { length: 10_000 },
      (_, index) => `Q${upload}X${String(index).padStart(8, '0')},2026-03-04 20:00:00,Completed,70.00,`,
    )
    const body = JSON.stringify({
      source: `s${upload}.csv`,
      statement: `Receipt No.,Completion Time,Transaction Status,Paid In,Withdrawn\n${lines.join('\n')}\n`,
    })
    return { path: '/v1/admin/reconciliations', method: 'POST', by: admin, headers: json, body }
  }
  expect(await longest('statement upload', ask)).toBeLessThan(maxMs)
})

describe('a text that is no table costs at most five times what a regular one costs, by size', () => {
  /** Repeated up to the size of a body. */
  const shapes = {
    'line feeds': '\n',
    'empty rows': ',,\n',
    'rows of one letter': 'a\n',
    'rows of 64 cells': `${'a,'.repeat(63)}a\n`,
    'a row without end': 'a,',
    'cells of spaces': `" ${' '.repeat(48_000)}",`,
    'short cells of spaces': `a,b,"${' '.repeat(8_000)}"\n`,
    'quotation marks': '"',
  }
  const rows = (count: number, row: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => row(index)).join('\n')
  const title = {
    list: 'name,phone,amount,narrative\n',
    statement: 'Receipt No.,Completion Time,Transaction Status,Paid In,Withdrawn\n',
  }
  const regular = {
    list: rows(1_000, (index) => `Worker ${index},07${22_000_000 + index},${10 + (index % 90)},${'Salary '.repeat(18)}`),
    statement: rows(9_000, (index) => `QQ${String(index).padStart(8, '0')},2026-03-04 20:00:00,Completed,70.00,`),
  }
  let uploads = 0
  const ask = {
    list: (text: string): Ask => ({ path: '/v1/payment-batches?dry_run=true', headers: csv, body: text }),
    statement: (text: string): Ask => {
      uploads += 1
      // The service would recognise the same statement.
      const statement = text.replaceAll('QQ', `QQ${uploads}Z`)
      return {
        path: '/v1/admin/reconciliations',
        by: admin,
        headers: json,
        body: JSON.stringify({ source: `${uploads}.csv`, statement }),
      }
    },
  }

  test.each(['list', 'statement'] as const)('as a %s', async (kind) => {
    const size = kind === 'list' ? 1_000_000 : 500_000
    const costOf = async (text: string): Promise<number> => {
      const costs = []
      for (let count = 0; count < 3; count++) costs.push((await measure({ method: 'POST', ...ask[kind](text) })).totalMs)
      return Math.min(...costs) / text.length
    }
    const usual = await costOf(title[kind] + regular[kind])
    const dear: [string, number][] = []
    for (const [name, piece] of Object.entries(shapes))
      for (const head of ['', title[kind]]) {
        const cost = (await costOf(head + piece.repeat(Math.floor(size / piece.length)))) / usual
        figures.push(`| ${kind}: ${name} | ${cost.toFixed(2)} |`)
        if (cost > 5) dear.push([name, cost])
      }
    expect(dear).toEqual([])
  })

  test('as members of JSON', async () => {
    const costOf = async (path: string, value: object): Promise<number> => {
      const body = JSON.stringify(value)
      const costs = []
      for (let count = 0; count < 3; count++) costs.push((await measure({ path, method: 'POST', headers: json, body })).totalMs)
      return Math.min(...costs) / body.length
    }
    const usual = await costOf('/v1/payment-batches?dry_run=true', JSON.parse(listOf(1_000)))
    const names = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 1]))
    const dear: [string, number][] = []
    for (const [path, value] of [
      ['/v1/accounts/me/api-keys', { name: 'a', permissions: Array(4_000).fill('payment.creat') }],
      ['/v1/spending-policies', { name: 'a', beneficiary_ids: Array(10_000).fill('ben') }],
      ['/v1/payments', { beneficiary_id: payee, amount_minor: '100', metadata: names(5_000) }],
      ['/v1/payments', names(5_000)],
      ['/v1/payment-batches', { items: Array(400_000).fill(0) }],
      ['/v1/payment-batches', { items: Array(800).fill(Array(500).fill({})) }],
      ['/v1/payment-batches', { items: Array(1_000).fill({ metadata: names(80) }) }],
    ] as const) {
      const cost = (await costOf(path, value)) / usual
      figures.push(`| ${path}: ${JSON.stringify(value).slice(0, 60)} | ${cost.toFixed(2)} |`)
      if (cost > 5) dear.push([path, cost])
    }
    expect(dear).toEqual([])
  })
})
