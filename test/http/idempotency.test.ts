import { expect, test } from 'vitest'
import type { Answer, Client } from '../harness/client.ts'
import { credit } from '../harness/money.ts'
import { createKey, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'
import { sendRaw } from './raw.ts'

const first = await openService()
const second = await openService({ database: first.database, clock: first.clock })

const payee = { type: 'supplier', display_name: 'Acme', payment_rail: 'MPESA_B2C', destination: '0712345678' }
const create = (api: Client, key: string, fields: object = {}): Promise<Answer> =>
  api.post('/v1/beneficiaries', { ...payee, ...fields }, { key })
const countOf = async (api: Client, path = '/v1/beneficiaries'): Promise<number> => (await api.get(path)).body.data.length
const replayed = (answer: Answer) => answer.headers.get('idempotency-replayed')

test('the same key with the same body gives the first answer again, byte for byte, and has no second effect', async () => {
  const { api } = await signIn(first.api)
  const answer = await create(api, 'once')
  expect([answer.status, replayed(answer)]).toEqual([201, null])
  const again = await create(second.api.as(api.credentials), 'once')
  expect([again.status, again.text, replayed(again)]).toEqual([201, answer.text, 'true'])
  expect(again.headers.get('content-type')).toBe(answer.headers.get('content-type'))
  expect(again.headers.get('x-request-id')).not.toBe(answer.headers.get('x-request-id'))
  expect(await countOf(api)).toBe(1)
  await first.settle()
  const published = (await api.get('/v1/notifications')).body.data.filter(
    (event: { type: string }) => event.type === 'beneficiary.created',
  )
  expect(published).toHaveLength(1)
})

test('another order of fields or other white space is the same body; another value is not', async () => {
  const { api } = await signIn(first.api)
  const answer = await create(api, 'order')
  const reordered = await api.call('POST', '/v1/beneficiaries', {
    raw: JSON.stringify(Object.fromEntries(Object.entries(payee).reverse()), null, 2),
    key: 'order',
  })
  expect([reordered.text, replayed(reordered)]).toEqual([answer.text, 'true'])
  const other = await create(api, 'order', { display_name: 'Acne' })
  expect([other.status, other.body.error, other.body.details.reason]).toEqual([409, 'conflict', 'idempotency'])
  expect(await countOf(api)).toBe(1)
})

test('an encoded path is the same path, and no body the same as an empty one', async () => {
  const { api } = await signIn(first.api)
  const payeeId = (await create(api, 'encoded')).body.id
  const again = await api.post('/v1/%62eneficiaries', payee, { key: 'encoded' })
  expect([again.status, again.body.id, replayed(again)]).toEqual([201, payeeId, 'true'])
  const account = (await api.get('/v1/accounts/me')).body.id
  await credit(first, account, 100_000n)
  const payment = { beneficiary_id: payeeId, amount_minor: '1000' }
  const paid = await api.post('/v1/payments', payment, { key: 'paid' })
  const repeated = await api.post('/v1/%70ayments', payment, { key: 'paid' })
  expect([repeated.status, repeated.text, replayed(repeated)]).toEqual([201, paid.text, 'true'])
  const { id } = (await api.post('/v1/accounts/me/api-keys', { name: 'Agent' })).body
  const rotated = await api.post(`/v1/accounts/me/api-keys/${id}/rotate`, undefined, { key: 'rotated' })
  const empty = await api.post(`/v1/accounts/me/api-keys/${id}/rotate`, {}, { key: 'rotated' })
  expect([empty.status, empty.body.id, replayed(empty)]).toEqual([201, rotated.body.id, 'true'])
})

test('of fifty concurrent requests over two processes one has the effect, and all have the same answer', async () => {
  const { api } = await signIn(first.api)
  const clients = [api, second.api.as(api.credentials)]
  const answers = await Promise.all(Array.from({ length: 50 }, (_, index) => create(clients[index % 2] ?? api, 'parallel')))
  expect(new Set(answers.map((answer) => answer.text)).size).toBe(1)
  expect(answers.map((answer) => answer.status)).toEqual(Array(50).fill(201))
  expect(answers.filter((answer) => replayed(answer) === null)).toHaveLength(1)
  expect(await countOf(api)).toBe(1)
})

test('a request that failed stores no key: the corrected request succeeds with it', async () => {
  const { api } = await signIn(first.api)
  expect((await create(api, 'corrected', { destination: '12' })).status).toBe(400)
  expect((await create(api, 'corrected')).status).toBe(201)
  const poor = { beneficiary_id: (await create(api, 'payee')).body.id, amount_minor: '100000' }
  expect((await api.post('/v1/payments', poor, { key: 'poor' })).status).toBe(402)
  expect((await api.post('/v1/payments', { ...poor, amount_minor: '200000' }, { key: 'poor' })).status).toBe(402)
})

test('a secret is shown once: the replay is the same answer without it', async () => {
  const { api } = await signIn(first.api)
  const answer = await api.post('/v1/accounts/me/api-keys', { name: 'Agent' }, { key: 'secret' })
  const again = await api.post('/v1/accounts/me/api-keys', { name: 'Agent' }, { key: 'secret' })
  const { key, ...rest } = answer.body
  expect(key).toMatch(/^service_live_/)
  expect([again.status, again.body, replayed(again)]).toEqual([201, rest, 'true'])
  const [stored] = await first.deps.db.query<{ isStored: boolean }>(
    'select exists (select from idempotency_keys where response like $1) as "isStored"',
    [`%${key}%`],
  )
  expect(stored?.isStored).toBe(false)
})

test('a replay needs no fresh proof, because it does nothing again; a new key does', async () => {
  const { cookie } = await signIn(first.api)
  const send = (key: string) => first.api.post('/v1/accounts/me/api-keys', { name: 'Agent' }, { key, cookie })
  const answer = await send('proven')
  first.clock.advance(601)
  const again = await send('proven')
  expect([again.status, again.body.id, replayed(again)]).toEqual([201, answer.body.id, 'true'])
  const other = await send('unproven')
  expect([other.status, other.body.error]).toEqual([403, 'step_up_required'])
})

test('a key belongs to one account, one grant, one workspace and one path', async () => {
  const person = await signIn(first.api)
  const agent = await createKey(person)
  const team = (await person.api.post('/v1/workspaces', { name: 'Team' })).body.workspace.id
  const answers = [
    await create(person.api, 'shared'),
    await create(agent.api, 'shared'),
    await create((await signIn(first.api)).api, 'shared'),
    await person.api.post('/v1/beneficiaries', payee, { key: 'shared', headers: { 'workspace-id': team } }),
    await person.api.post('/v1/accounts/me/api-keys', { name: 'Agent' }, { key: 'shared' }),
  ]
  expect(answers.map((answer) => [answer.status, replayed(answer)])).toEqual(answers.map(() => [201, null]))
  expect(new Set(answers.map((answer) => answer.body.id)).size).toBe(answers.length)
})

test('the credential may change in between, if account, grant and workspace stay the same', async () => {
  const person = await signIn(first.api)
  const answer = await create(person.api, 'roaming')
  const elsewhere = await signIn(first.api, person.wallet)
  expect((await create(elsewhere.api, 'roaming')).text).toBe(answer.text)
})

test.each([
  ['256 characters', 'k'.repeat(256)],
  ['nothing', ''],
  ['a letter beyond ASCII', 'schlüssel'],
])('a key of %s is refused and named', async (_what, key) => {
  const { api } = await signIn(first.api)
  const answer = await sendKey(api, key)
  expect([answer.status, answer.body.error, answer.body.details.fields[0].path]).toEqual([
    400,
    'invalid_request',
    'Idempotency-Key',
  ])
})

/** Sends header values over a socket that fetch would refuse. */
const sendKey = async (api: Client, key: string): Promise<{ status: number; body: Answer['body'] }> => {
  const body = JSON.stringify(payee)
  const head = [
    'POST /v1/beneficiaries HTTP/1.1',
    `Cookie: service_session=${api.credentials.cookie}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ]
  const answer = await sendRaw(api.url, [...head, `Idempotency-Key: ${key}`], body)
  return { status: answer.status, body: answer.text && JSON.parse(answer.text) }
}

test('a key of 255 characters is accepted, and a route that creates nothing ignores it', async () => {
  const { api } = await signIn(first.api)
  expect((await create(api, 'k'.repeat(255))).status).toBe(201)
  expect((await api.patch('/v1/accounts/me', { display_name: 'A' }, { key: 'k'.repeat(300) })).status).toBe(200)
})

test('a key is kept for a day, and then deleted', async () => {
  const { api } = await signIn(first.api)
  const answer = await create(api, 'day')
  first.clock.advance(86_400 - 1)
  await first.deps.jobs.sweep()
  expect((await create(api, 'day')).text).toBe(answer.text)
  first.clock.advance(2)
  await first.deps.jobs.sweep()
  const later = await create(api, 'day')
  expect([later.status, replayed(later)]).toEqual([201, null])
  expect(later.body.id).not.toBe(answer.body.id)
})

test('every operation that creates something for its caller honours a key', () => {
  const creating = first.routes.filter(
    ({ method, access, path }) => method === 'POST' && access !== 'public' && !path.startsWith('/v1/oauth'),
  )
  // Operations that end, decide, stop or ask: a second time they find the work done, and say so. A confirmation that then finds
  // nothing pending (of a change, of a separation) honours a key instead.
  const again =
    /\.(revoke|revoke_.*|cancel|decide.*|freeze.*|unfreeze|logout|simulate|replay|accept.*|preview|wallet_verify|end.*|suspend.*|reinstate.*|resolve.*|assign.*|enter_.*|.*_form|resolve|confirm|confirm_adjustment|reject.*|verify|prepare.*|prove|call)$/
  expect(
    creating.filter(({ idempotent, operation }) => !idempotent && !again.test(operation)).map(({ operation }) => operation),
    'add `idempotent: true` to the config of each; only what changes nothing the second time belongs into `again` above',
  ).toEqual([])
})

test('a header of one value that is sent twice is one if both are equal; else 400, and nothing is created', async () => {
  const person = await signIn(first.api)
  const body = JSON.stringify(payee)
  const { workspace } = (await person.api.get('/v1/workspaces/current')).body
  const send = (...lines: string[]) =>
    sendRaw(
      first.api.url,
      [
        'POST /v1/beneficiaries HTTP/1.1',
        `Content-Length: ${body.length}`,
        'Content-Type: application/json',
        ...lines,
        ...(lines.some((line) => /^authorization/i.test(line)) ? [] : [`Cookie: service_session=${person.cookie}`]),
      ],
      body,
    )
  const twice = await send('Idempotency-Key: dup-1', 'idempotency-key: dup-1', `Workspace-Id: ${workspace.id}`)
  const again = await send('Idempotency-Key: dup-1', `Workspace-Id: ${workspace.id}`, `workspace-id: ${workspace.id}`)
  expect([twice.status, again.status, again.headers['idempotency-replayed'], again.text]).toEqual([201, 201, 'true', twice.text])
  const { api: key } = await createKey(person, { permissions: ['beneficiary.manage', 'beneficiary.read'] })
  const bearer = `Authorization: Bearer ${key.credentials.bearer}`
  expect((await send(bearer, bearer, 'Idempotency-Key: dup-2')).status).toBe(201)
  for (const [name, ...lines] of [
    ['Idempotency-Key', 'Idempotency-Key: a', 'Idempotency-Key: b'],
    ['Workspace-Id', `Workspace-Id: ${workspace.id}`, 'Workspace-Id: wsp_01h455vb4pex5vsknk084sn02q'],
    ['Last-Event-ID', 'Last-Event-ID: a', 'Last-Event-ID: b'],
    ['Authorization', bearer, 'Authorization: Bearer service_live_other'],
  ] as const) {
    const { status, text } = await send(...lines)
    expect([status, JSON.parse(text).details.fields[0].path]).toEqual([400, name])
  }
  expect(await countOf(person.api)).toBe(2)
})
