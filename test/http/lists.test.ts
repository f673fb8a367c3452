import { expect, test } from 'vitest'
import { resolveParts } from '../harness/document.ts'
import { signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'

const names = Array.from({ length: 7 }, (_, index) => `Payee ${index}`)
const service = await openService()
const person = await signIn(service.api)
for (const [index, display_name] of names.entries()) {
  await person.api.post('/v1/beneficiaries', {
    type: 'supplier',
    display_name,
    payment_rail: 'MPESA_B2C',
    destination: `071234567${index}`,
  })
}

const list = (query: string) => person.api.get(`/v1/beneficiaries?${query}`)

test('pages follow each other, newest first, without a gap or a repetition, although rows are added in between', async () => {
  const seen: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { status, body } = await list(`limit=3${cursor && `&cursor=${cursor}`}`)
    expect([status, Object.keys(body)]).toEqual([200, ['data', 'next_cursor']])
    seen.push(...body.data.map((entry: { display_name: string }) => entry.display_name))
    if (cursor === '')
      await person.api.post('/v1/beneficiaries', {
        type: 'supplier',
        display_name: 'Late',
        payment_rail: 'MPESA_B2C',
        destination: '0712345699',
      })
    cursor = body.next_cursor
  }
  expect(seen).toEqual([...names].reverse())
})

test('a page with exactly the remaining rows has no next cursor', async () => {
  const { body } = await list('limit=8')
  expect([body.data.length, body.next_cursor]).toEqual([8, null])
})

test.each(['0', '101', '-1', '1.5', 'abc', ''])('limit=%s is refused and named', async (limit) => {
  const { status, body } = await list(`limit=${limit}`)
  expect([status, body.error, body.details.fields[0].path]).toEqual([400, 'invalid_request', 'limit'])
})

test('a limit that is given twice is refused', async () => {
  expect((await list('limit=1&limit=2')).status).toBe(400)
})

const cursorOf = async (api = person.api, path = '/v1/beneficiaries'): Promise<string> =>
  (await api.get(`${path}?limit=1`)).body.next_cursor

test('a cursor that was invented, cut or changed in any place is refused', async () => {
  const cursor = await cursorOf()
  const changed = [...cursor].map(
    (letter, index) => cursor.slice(0, index) + (letter === 'A' ? 'B' : 'A') + cursor.slice(index + 1),
  )
  // The last letter of base64url has meaningless bits: a change of those alone is the same cursor.
  for (const text of [...changed.slice(0, -1), cursor.slice(0, -4), `${cursor}AAAA`, 'AAAA', 'x'.repeat(200)]) {
    const { status, body } = await list(`cursor=${text}`)
    expect([text, status, body.error]).toEqual([text, 400, 'invalid_cursor'])
  }
  expect((await list(`cursor=${'x'.repeat(201)}`)).status).toBe(400)
})

test("a cursor of another list, of the list with other parameters, or of another account's list is refused", async () => {
  await person.api.post('/v1/accounts/me/api-keys', { name: 'one' })
  await person.api.post('/v1/accounts/me/api-keys', { name: 'two' })
  const ofKeys = await cursorOf(person.api, '/v1/accounts/me/api-keys')
  expect(await list(`cursor=${ofKeys}`)).toMatchObject({ status: 400, body: { error: 'invalid_cursor' } })
  const ofAll = await cursorOf()
  const message = 'The cursor is not valid for this list with these parameters.'
  expect(await list(`payment_rail=PESALINK&cursor=${ofAll}`)).toMatchObject({
    status: 400,
    body: { error: 'invalid_cursor', message, details: { param: 'cursor', fields: [{ path: 'cursor', message }] } },
  })
  expect(await list(`limit=2&cursor=${ofAll}`)).toMatchObject({ status: 200 })
  const stranger = await signIn(service.api)
  const answer = await stranger.api.get(`/v1/beneficiaries?cursor=${await cursorOf()}`)
  expect([answer.status, answer.body.error]).toEqual([400, 'invalid_cursor'])
})

test('every list of the API is paged the same way', async () => {
  const { paths } = resolveParts((await service.api.get('/openapi.json')).body)
  const lists = Object.entries<{ get?: { parameters?: { name: string }[] } }>(paths).filter(([path, item]) => {
    const names = item.get?.parameters?.map((parameter) => parameter.name) ?? []
    return names.includes('cursor') && !path.includes('{') && !path.startsWith('/v1/admin')
  })
  expect(lists.length).toBeGreaterThan(6)
  for (const [path] of lists) {
    const refused = await person.api.get(`${path}?cursor=AAAA`)
    expect([path, refused.status, refused.body.error]).toEqual([path, 400, 'invalid_cursor'])
    const answer = await person.api.get(`${path}?limit=1`)
    // A statement's page is surrounded by the balances and totals of its whole period.
    const page = path.endsWith('/statement') ? Object.keys(answer.body).slice(-2) : Object.keys(answer.body)
    expect([path, answer.status, page]).toEqual([path, 200, [path.endsWith('/statement') ? 'entries' : 'data', 'next_cursor']])
  }
})
