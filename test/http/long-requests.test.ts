import { describe, expect, test } from 'vitest'
import { signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'

const service = await openService()
const person = await signIn(service.api)

const names = (count: number, name = 'c') => Array.from({ length: count }, (_, index) => `${name}${index}`)
const object = (count: number, name?: string) => Object.fromEntries(names(count, name).map((key) => [key, '1']))

/** The maximum length of an answer to a refused request. */
const longestAnswer = 64 * 1024
type Faults = { fields: { path: string; message: string }[]; more?: number }

describe('what is wrong is named up to a hundred times and counted beyond, in a short answer', () => {
  const refused = async (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Faults> => {
    const raw = typeof body === 'string' ? body : JSON.stringify(body)
    const answer = await person.api.call('POST', path, { raw, headers })
    expect([answer.status, answer.body.error]).toEqual([400, 'invalid_request'])
    expect(answer.text.length).toBeLessThan(longestAnswer)
    return answer.body.details
  }

  test('fields that are not known', async () => {
    const few = await refused('/v1/workspaces', { name: 'A', ...object(100) })
    expect([few.fields.length, few.more]).toEqual([100, undefined])
    const many = await refused('/v1/workspaces', { name: 'A', ...object(5_000) })
    expect([many.fields.length, many.more]).toEqual([100, 4_900])
    const unread = await refused('/v1/accounts/me/passkeys/options', object(5_000))
    expect([unread.fields.length, unread.more]).toEqual([100, 4_900])
    const ofAList = await refused('/v1/payment-batches', { items: [{}], ...object(70_000) })
    expect(ofAList.fields).toHaveLength(100)
    const long = await refused('/v1/workspaces', { name: 'A', ['x'.repeat(60_000)]: '1' })
    expect(long.fields[0]?.path).toHaveLength(200)
  })

  test('parameters that are not known', async () => {
    const { status, body } = await person.api.get(`/v1/payments?${names(900).join('&')}`)
    expect([status, body.details.fields.length, body.details.more]).toEqual([400, 100, 800])
  })

  test('names of metadata, and items of lists', async () => {
    const metadata = await refused('/v1/payments', { beneficiary_id: 'x', amount_minor: '1', metadata: object(4_000, '\u200b') })
    expect(metadata.fields).toHaveLength(100)
    const types = await refused('/v1/spending-policies', { name: 'A', payment_types: names(5_000, 'X ') })
    expect(types.fields.length).toBeLessThanOrEqual(100)
  })

  test('rows of a list of payments', async () => {
    const { status, body, text } = await person.api.post('/v1/payment-batches', { items: Array(1_000).fill({ amount_minor: 5 }) })
    expect([status, body.details.items.length]).toEqual([400, 100])
    expect(body.details.more).toBeGreaterThanOrEqual(1_900)
    expect(text.length).toBeLessThan(longestAnswer)
  })

  test('columns of a list of payments: at most 64 are read', async () => {
    const csv = { 'content-type': 'text/csv' }
    const header = await refused('/v1/payment-batches', `${names(5_000).join(',')}\n1\n`, csv)
    expect(header).toMatchObject({ fields: [{ path: 'body', message: 'has 5000 columns: at most 64 are read' }] })
    const known = await refused('/v1/payment-batches', `${names(64).join(',')}\n1\n`, csv)
    expect(known.fields.length).toBeGreaterThanOrEqual(64)
    const longer = await refused('/v1/payment-batches', `${names(40_000).join(',')}\n1\n`, csv)
    expect(longer.fields).toMatchObject([{ path: 'body' }])
    const commas = await refused('/v1/payment-batches', `amount,destination\n${','.repeat(900_000)}\n`, csv)
    expect(commas.fields[0]?.path).toBe('body')
  })
})

test('a column with the name of a part of every object is a column that is not known', async () => {
  for (const name of ['__proto__', 'constructor', 'toString', 'metadata.__proto__']) {
    const raw = `display_name,destination,amount,${name}\nAsha,0722000111,10,polluted\n`
    const { status, body } = await person.api.call('POST', '/v1/payment-batches', {
      raw,
      headers: { 'content-type': 'text/csv' },
    })
    const [first] = body.details.fields ?? body.details.items
    expect([name, status, first.message]).toEqual([name, 400, expect.stringMatching(/is not a known (?:column|field)/)])
  }
})

describe('a text is refused by its length before anything else is done with it', () => {
  // 64 KB of marks take half a second to normalise. A refusal by length normalises nothing.
  const marks = `a${'\u0301\u0327'.repeat(14_000)}`
  test.each<[string, string, (text: string) => unknown]>([
    ['name', '/v1/workspaces', (name) => ({ name })],
    ['terms.description', '/v1/intent-mandates/prepare', (description) => ({ address: '0x', terms: { description } })],
    ['narrative', '/v1/payments', (narrative) => ({ narrative })],
    ['metadata.note', '/v1/payments', (note) => ({ metadata: { note } })],
    ['display_name', '/v1/beneficiaries', (text) => ({ display_name: text })],
  ])('%s of %s', async (field, path, body) => {
    const answer = await person.api.post(path, body(marks))
    expect(answer.status).toBe(400)
    const faults: Faults['fields'] = answer.body.details.fields
    const own = faults.filter((fault) => fault.path === field)
    expect(own).toEqual([{ path: field, message: expect.stringMatching(/^must have at most \d+ characters$/) }])
  })

  test('a name of the allowed length is kept, however its letters are written', async () => {
    const decomposed = 'e\u0301'.repeat(120)
    const answer = await person.api.post('/v1/workspaces', { name: ` ${decomposed} ` })
    expect([answer.status, answer.body.workspace.name]).toEqual([201, 'é'.repeat(120)])
  })
})
