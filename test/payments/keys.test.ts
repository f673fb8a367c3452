import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import type { Answer, Client, Json } from '../harness/client.ts'
import { credit, fund, newBeneficiary } from '../harness/money.ts'
import { createKey, type Key, type Person, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'
import { findBreaches } from '../harness/verify.ts'

const service = await openService({ env: { RATE_LIMIT_ENABLED: 'false' } })
const other = await openService({
  database: service.database,
  clock: service.clock,
  provider: service,
  env: { RATE_LIMIT_ENABLED: 'false' },
})
afterAll(async () => {
  expect(await findBreaches(service)).toEqual([])
})

let person: Person
let beneficiary: string
beforeEach(async () => {
  person = await signIn(service.api)
  await credit(service, person.accountId, 1_000_000n)
  beneficiary = await newBeneficiary(person.api)
})

const permissions = [
  'payment.create',
  'payment.read',
  'topup.create',
  'topup.read',
  'beneficiary.read',
  'key.manage',
  'account.read',
]
const keyFor = (creator: { api: Client }, own = permissions): Promise<Key> => createKey(creator, { permissions: own })

/** Requests that are repeated with one key: a payment, and a top-up. */
const creations: Record<string, { send: (api: Client, key: string, amount?: string) => Promise<Answer>; id: string }> = {
  payment: {
    id: 'existing_payment_id',
    send: (api, key, amount = '10000') =>
      api.post('/v1/payments', { beneficiary_id: beneficiary, amount_minor: amount }, { key }),
  },
  'top-up': {
    id: 'existing_topup_id',
    send: (api, key, amount = '10000') =>
      api.post('/v1/topups/initiate', { amount_minor: amount, phone_number: '254712345678' }, { key }),
  },
}
const isReplay = (answer: Answer, of: Answer) => {
  expect([answer.status, answer.text, answer.headers.get('idempotency-replayed')]).toEqual([201, of.text, 'true'])
}
const isConflict = (answer: Answer, details: Json = {}) => {
  expect([answer.status, answer.body.error]).toEqual([409, 'conflict'])
  expect(answer.body.details).toMatchObject({ reason: 'idempotency', ...details })
}
const payments = async (query = ''): Promise<Json[]> => (await person.api.get(`/v1/payments?limit=100${query}`)).body.data

describe.each(Object.entries(creations))('a %s', (what, { send, id }) => {
  test('is repeated byte for byte while workspace, account or grant is frozen, and nothing new is made', async () => {
    const key = await keyFor(person)
    const first = await send(key.api, 'once')
    expect(first.status).toBe(201)
    const grant = `/v1/accounts/me/grants/${key.grantId}`
    const freezes: [string, () => Promise<unknown>, () => Promise<unknown>][] = [
      [
        'workspace_frozen',
        () => person.api.post('/v1/workspaces/current/freeze', {}),
        () => person.api.post('/v1/workspaces/current/unfreeze'),
      ],
      ['grant_frozen', () => person.api.patch(grant, { frozen: true }), () => person.api.patch(grant, { frozen: false })],
      ['account_frozen', () => setStatus('frozen'), () => setStatus('active')],
    ]
    for (const [error, freeze, lift] of freezes) {
      await freeze()
      isReplay(await send(key.api, 'once'), first)
      isReplay(await send(other.api.as(key.api.credentials), 'once'), first)
      const fresh = await send(key.api, `new in ${error}`)
      expect([fresh.status, fresh.body.error]).toEqual([403, error])
      await lift()
    }
    // A refusal uses up no key.
    expect((await send(key.api, 'new in workspace_frozen')).status).toBe(201)
  })

  test('has one key for ever, whatever the credential: a new key repeats what its revoked one has made', async () => {
    const before = await keyFor(person)
    const first = await send(before.api, 'rotated')
    const after = await keyFor(person)
    // Both live: another program uses the same key.
    isConflict(await send(after.api, 'rotated'), { [id]: first.body.id })
    await person.api.delete(`/v1/accounts/me/api-keys/${before.id}`)
    isReplay(await send(after.api, 'rotated'), first)
    isConflict(await send(after.api, 'rotated', '20000'), { [id]: first.body.id })
    await service.settle()
    service.clock.advance(8 * 86_400)
    await service.deps.jobs.sweep()
    // The session has expired meanwhile.
    person = await signIn(service.api, person.wallet)
    isReplay(await send(after.api, 'rotated'), first)
    isReplay(await send(person.api, 'rotated'), first)
    const read = await person.api.get(what === 'payment' ? `/v1/payments/${first.body.id}` : `/v1/topups/${first.body.id}`)
    expect(read.body.idempotency_key).toBe('rotated')
  })

  test('is repeated to its own lineage and to a person, and to no other living grant', async () => {
    const root = await keyFor(person)
    const [child, sibling] = [await keyFor(root), await keyFor(root)]
    const stranger = await keyFor(person, ['payment.create', 'topup.create'])
    const first = await send(child.api, 'lineage')
    for (const api of [child.api, root.api, person.api]) isReplay(await send(api, 'lineage'), first)
    isConflict(await send(sibling.api, 'lineage'), { [id]: first.body.id })
    const hidden = await send(stranger.api, 'lineage')
    isConflict(hidden)
    expect(hidden.body.details[id]).toBeUndefined()
    const ofRoot = await send(root.api, 'of the root')
    isReplay(await send(child.api, 'of the root'), ofRoot)
    isConflict(await send(child.api, 'of the person').then(() => send(stranger.api, 'of the person')))
    expect((await send(person.api, 'by hand')).status).toBe(201)
    isConflict(await send(root.api, 'by hand'))
  })

  test('is made once by twenty requests of two grants over two processes', async () => {
    const [one, two] = [await keyFor(person), await keyFor(person)]
    const clients = [one.api, two.api, other.api.as(one.api.credentials), other.api.as(two.api.credentials)]
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => send(clients[index % 4] ?? one.api, 'at once')))
    const made = answers.filter(({ status }) => status === 201)
    expect(new Set(made.map(({ text }) => text)).size).toBe(1)
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(20 - made.length)
    expect(made).toHaveLength(10)
  })

  test('belongs to the workspace: the same key in another workspace, and another account’s, is another one', async () => {
    const first = await send(person.api, 'place')
    const someone = await signIn(service.api)
    await fund(service, someone, 100_000n)
    const own = await newBeneficiary(someone.api)
    const theirs =
      what === 'payment'
        ? await someone.api.post('/v1/payments', { beneficiary_id: own, amount_minor: '10000' }, { key: 'place' })
        : await send(someone.api, 'place')
    expect([theirs.status, theirs.headers.get('idempotency-replayed')]).toEqual([201, null])
    expect(theirs.body.id).not.toBe(first.body.id)
  })
})

test('a payment is found by its key, in its workspace alone', async () => {
  const made = await creations.payment?.send(person.api, 'invoice 4711')
  await creations.payment?.send(person.api, 'invoice 4712')
  expect((await payments('&idempotency_key=invoice%204711')).map(({ id }) => id)).toEqual([made?.body.id])
  expect(await payments('&idempotency_key=invoice%204713')).toEqual([])
  const someone = await signIn(service.api)
  expect((await someone.api.get('/v1/payments?idempotency_key=invoice%204711')).body.data).toEqual([])
})

test('a payment writes no row but its own for its key', async () => {
  const count = async () => (await service.deps.db.query<{ n: number }>('select count(*)::int as n from idempotency_keys'))[0]?.n
  const before = await count()
  await creations.payment?.send(person.api, 'no row')
  await creations['top-up']?.send(person.api, 'no row')
  expect(await count()).toBe(before)
})

const setStatus = (status: string) =>
  service.deps.db.query('update accounts set status = $1 where id = (select account_id from identities where subject = $2)', [
    status,
    person.wallet.address,
  ])
