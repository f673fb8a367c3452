import { afterAll, describe, expect, test } from 'vitest'
import { createBrowser } from '../../harness/browser.ts'
import type { Client } from '../../harness/client.ts'
import { credit, newBeneficiary } from '../../harness/money.ts'
import { createKey, newWallet, type Person, signIn, walletMessage } from '../../harness/people.ts'
import { openService } from '../../harness/service.ts'
import { openStream } from '../../harness/stream.ts'
import { findBreaches } from '../../harness/verify.ts'
import { continueWith, newPerson } from '../sign-in/providers.ts'

const administrator = newWallet()
const env = { ADMIN_ACCOUNTS: administrator.address }
const service = await openService({ env })
const second = await openService({ database: service.database, clock: service.clock, env })
afterAll(async () => {
  expect(await findBreaches(service)).toEqual([])
})

const manager = { permissions: ['account.read', 'account.manage'] }

const link = async (api: Client, wallet = newWallet()) => {
  const message = await walletMessage(api, wallet)
  return api.post('/v1/accounts/me/identities', { provider: 'wallet', message, signature: await wallet.signMessage({ message }) })
}
const verifyWith = async (api: Client, wallet = newWallet()) => {
  const message = await walletMessage(api, wallet)
  return api.post('/v1/auth/wallet/verify', { message, signature: await wallet.signMessage({ message }) })
}
const identitiesOf = async (person: { api: Client }) => (await person.api.get('/v1/accounts/me/identities')).body.data
/** The identity that the person brought, not the key's. */
const ownIdentity = async (person: { api: Client }) =>
  (await identitiesOf(person)).find(({ linked_by_grant_id: by }: { linked_by_grant_id: unknown }) => !by)
const sessionsOf = async (person: { api: Client }) => (await person.api.get('/v1/accounts/me/sessions')).body.data
const lives = async (person: { api: Client }) => (await person.api.get('/v1/accounts/me')).status === 200

/** Tries every way in which a credential could take over the account. */
const attempts = async (api: Client, person: Person) => {
  const [identity] = await identitiesOf(person)
  const [session] = await sessionsOf(person)
  return [
    await link(api),
    await verifyWith(api),
    await api.post('/v1/accounts/me/identities', { provider: 'github' }),
    await api.get('/v1/auth/google/start', { headers: { accept: 'application/json' } }),
    await api.delete(`/v1/accounts/me/identities/${identity.id}`),
    await api.delete(`/v1/accounts/me/sessions/${session.id}`),
  ].map(({ status, body }) => [status, body.error])
}

describe('account.manage and spending controls', () => {
  const limited = { spending_controls: { daily_limit_minor: '30000' } }

  test('cannot be in one key, because a new sign-in method would have no limits', async () => {
    const person = await signIn(service.api)
    const answer = await person.api.post('/v1/accounts/me/api-keys', { name: 'Agent', ...manager, ...limited })
    expect([answer.status, answer.body.details.fields[0].path]).toEqual([400, 'spending_controls'])
    const key = await createKey(person, manager)
    for (const path of [`/v1/accounts/me/api-keys/${key.id}`, `/v1/accounts/me/grants/${key.grantId}`]) {
      const changed = await person.api.patch(path, limited)
      expect([changed.status, changed.body.details.fields[0].path]).toEqual([400, 'spending_controls'])
    }
    expect((await person.api.post('/v1/accounts/me/api-keys', { name: 'Agent', ...manager, spending_controls: {} })).status).toBe(
      201,
    )
  })

  test('given in either order, let the key link nothing, unlink nothing and end no session', async () => {
    const person = await signIn(service.api)
    const key = await createKey(person, manager)
    await service.deps.db.query(
      `update grants set daily_limit_minor = 30000 where id = (select grant_id from api_keys where id = $1)`,
      [(await service.deps.db.query<{ id: string }>('select id from api_keys order by created_at desc, id desc limit 1'))[0]?.id],
    )
    expect(await attempts(key.api, person)).toEqual(Array(6).fill([403, 'forbidden']))
    expect([await identitiesOf(person), await lives(person)]).toMatchObject([[{ linked_by_grant_id: null }], true])
    await service.deps.db.query('update grants set daily_limit_minor = null where daily_limit_minor = 30000')
  })
})

test.each([
  ['an agent that may do everything else', {}, 'forbidden'],
  ['a key whose grant was frozen', manager, 'grant_frozen'],
])('%s cannot change the sign-in methods of its account', async (_who, fields, error) => {
  const person = await signIn(service.api)
  const key = await createKey(person, fields)
  await person.api.patch(`/v1/accounts/me/grants/${key.grantId}`, { frozen: true })
  expect(await attempts(key.api, person)).toEqual(Array(6).fill([403, error]))
  expect(await lives(person)).toBe(true)
})

test("neither a key nor a token made with it can change the sign-in methods of an administrator's account", async () => {
  const person = await signIn(service.api, administrator)
  const key = await createKey(person, manager)
  const { body } = await key.api.post('/v1/auth/dashboard-tokens')
  for (const api of [key.api, service.api.as({ bearer: body.token })])
    expect(await attempts(api, person)).toEqual(Array(6).fill([403, 'forbidden']))
  expect(await identitiesOf(person)).toHaveLength(1)
})

describe('a sign-in method that a key links', () => {
  test('names the grant that linked it; one that a person links names no grant', async () => {
    const person = await signIn(service.api)
    const key = await createKey(person, manager)
    expect((await link(key.api)).body.linked_by_grant_id).toBe(key.grantId)
    expect((await link(person.api)).body.linked_by_grant_id).toBe(null)
    const { body } = await key.api.post('/v1/auth/dashboard-tokens')
    expect((await link(service.api.as({ bearer: body.token }))).body.linked_by_grant_id).toBe(key.grantId)
  })

  test('is unlinked with the key, and its sessions and everything that they created end', async () => {
    const person = await signIn(service.api)
    const key = await createKey(person, manager)
    const wallet = newWallet()
    await link(key.api, wallet)
    const intruder = await signIn(service.api, wallet)
    expect(intruder.accountId).toBe(person.accountId)
    const another = newWallet()
    expect((await link(intruder.api, another)).body.linked_by_grant_id).toBe(key.grantId)
    const again = await signIn(second.api, another)
    const unlimited = await createKey(again)
    const child = await createKey(unlimited, { permissions: ['account.read'] })
    const stream = await openStream(intruder.api)
    const token = service.api.as({ bearer: (await again.api.post('/v1/auth/dashboard-tokens')).body.token })
    expect((await person.api.delete(`/v1/accounts/me/api-keys/${key.id}`)).status).toBe(200)
    await stream.ended()
    for (const api of [key.api, intruder.api, again.api, token, unlimited.api, child.api])
      expect((await api.get('/v1/accounts/me')).status).toBe(401)
    expect(await identitiesOf(person)).toMatchObject([{ subject: person.wallet.address }])
    expect((await signIn(service.api, wallet)).accountId).not.toBe(person.accountId)
    expect(await lives(person)).toBe(true)
    await service.settle()
    const types = (await person.api.get('/v1/notifications')).body.data.map(({ type }: { type: string }) => type)
    expect(types).toEqual(expect.arrayContaining(['identity.unlinked', 'session.revoked', 'grant.revoked']))
  })

  test('stays if it is the last one of the account, without its sessions', async () => {
    const person = await signIn(service.api)
    const key = await createKey(person, manager)
    const wallet = newWallet()
    await link(key.api, wallet)
    const own = await ownIdentity(person)
    const byWallet = await signIn(service.api, wallet)
    expect((await person.api.delete(`/v1/accounts/me/identities/${own.id}`)).status).toBe(200)
    expect((await byWallet.api.delete(`/v1/accounts/me/grants/${key.grantId}`)).status).toBe(200)
    expect(await lives(byWallet)).toBe(false)
    expect((await signIn(service.api, wallet)).accountId).toBe(person.accountId)
  })

  test('belongs to the person from then on, even if the key was frozen: it opens everything, and moves money', async () => {
    const person = await signIn(service.api)
    await credit(service, person.accountId, 1_000_000n)
    const key = await createKey(person, manager)
    const [oldest, newer] = [newWallet(), newWallet()]
    await link(key.api, oldest)
    await link(key.api, newer)
    const own = await ownIdentity(person)
    await person.api.patch(`/v1/accounts/me/grants/${key.grantId}`, { frozen: true })
    expect((await person.api.delete(`/v1/accounts/me/identities/${own.id}`)).status).toBe(200)
    const linked = await signIn(service.api, newer)
    expect((await linked.api.get('/v1/accounts/me/passkeys')).status).toBe(403)
    expect((await linked.api.delete(`/v1/accounts/me/grants/${key.grantId}`)).status).toBe(200)
    // The oldest method stays.
    const back = await signIn(service.api, oldest)
    expect(back.accountId).toBe(person.accountId)
    expect(await identitiesOf(back)).toMatchObject([{ subject: oldest.address, linked_by_grant_id: key.grantId }])
    expect((await back.api.get('/v1/accounts/me/passkeys')).status).toBe(200)
    await back.api.post('/v1/spending-policies', { name: 'Ask', approval_threshold_minor: '50000' })
    const beneficiary_id = await newBeneficiary(back.api)
    const pay = (amount_minor: string) => back.api.post('/v1/payments', { beneficiary_id, amount_minor })
    expect((await pay('10000')).status).toBe(201)
    const waiting = (await pay('50000')).body
    expect(waiting.status).toBe('pending_approval')
    const approval = `/v1/approvals/${waiting.approval_id}`
    const { message } = (await back.api.get(`${approval}/message`)).body
    const signed = { decision: 'approve', signature: await oldest.signMessage({ message }) }
    expect((await service.api.post(`${approval}/decide-by-signature`, signed)).body.status).toBe('approved')
    expect((await link(back.api)).body.linked_by_grant_id).toBe(null)
    await service.settle()
    expect(await findBreaches(service)).toEqual([])
  })

  test('counts as a method of the person once its key was revoked: a later key may unlink its own', async () => {
    const person = await signIn(service.api)
    const [wallet, later] = [newWallet(), newWallet()]
    const key = await createKey(person, manager)
    await link(key.api, wallet)
    const own = await ownIdentity(person)
    const byWallet = await signIn(service.api, wallet)
    expect((await person.api.delete(`/v1/accounts/me/identities/${own.id}`)).status).toBe(200)
    expect((await byWallet.api.delete(`/v1/accounts/me/grants/${key.grantId}`)).status).toBe(200)
    const second = await createKey(await signIn(service.api, wallet), manager)
    const { id } = (await link(second.api, later)).body
    expect((await second.api.delete(`/v1/accounts/me/identities/${id}`)).status).toBe(200)
    const [last] = await identitiesOf(second)
    expect((await second.api.delete(`/v1/accounts/me/identities/${last.id}`)).body.error).toBe('last_identity')
  })

  test('is never the only one left after a key unlinks the others', async () => {
    const person = await signIn(service.api)
    const key = await createKey(person, manager)
    const wallet = newWallet()
    await link(key.api, wallet)
    const own = await ownIdentity(person)
    // A session that began with the key's identity cannot, either.
    for (const { api } of [key, await signIn(service.api, wallet)]) {
      const answer = await api.delete(`/v1/accounts/me/identities/${own.id}`)
      expect([answer.status, answer.body.error]).toEqual([409, 'last_identity'])
    }
    expect((await link(person.api)).status).toBe(201)
    expect((await key.api.delete(`/v1/accounts/me/identities/${own.id}`)).status).toBe(200)
  })

  test('begins sessions that remove no method which was there before, though they may remove what the key linked', async () => {
    const person = await signIn(service.api)
    expect((await link(person.api)).status).toBe(201)
    const key = await createKey(person, manager)
    const wallet = newWallet()
    await link(key.api, wallet)
    const another = (await link(key.api)).body.id
    const linked = await signIn(service.api, wallet)
    const remove = (id: string) => linked.api.delete(`/v1/accounts/me/identities/${id}`)
    const own = await ownIdentity(person)
    expect(await remove(own.id)).toMatchObject({ status: 403, body: { error: 'forbidden' } })
    expect((await remove(another)).status).toBe(200)
    expect(await linked.api.delete('/v1/accounts/me')).toMatchObject({ status: 403, body: { error: 'forbidden' } })
  })

  test('begins sessions that widen, unfreeze and rotate only what derives from the key', async () => {
    const person = await signIn(service.api)
    const key = await createKey(person, manager)
    const other = await createKey(person, { spending_controls: { daily_limit_minor: '5000' } })
    const wallet = newWallet()
    await link(key.api, wallet)
    const linked = await signIn(service.api, wallet)
    const derived = await createKey(linked, manager)
    const below = await createKey(linked)
    const child = await createKey(below, { spending_controls: { daily_limit_minor: '5000' } })
    const further = newWallet()
    await link(derived.api, further)
    const patch = ({ api }: { api: Client }, { grantId }: { grantId: string }, change: object) =>
      api.patch(`/v1/accounts/me/grants/${grantId}`, change)
    const rotate = ({ api }: { api: Client }, { id }: { id: string }) => api.post(`/v1/accounts/me/api-keys/${id}/rotate`)
    const thaw = { frozen: false }
    const wider = { spending_controls: { daily_limit_minor: null } }
    for (const one of [key, other, derived, below, child]) expect((await patch(person, one, { frozen: true })).status).toBe(200)
    const distant = await signIn(service.api, further)
    const refused = [
      ...[await patch(linked, key, thaw), await patch(linked, other, thaw), await patch(linked, other, wider)],
      await linked.api.patch(`/v1/accounts/me/api-keys/${other.id}`, wider),
      ...[await rotate(linked, key), await rotate(linked, other), await patch(linked, key, wider)],
      // The key that this session comes from, the key behind that one, and one beside it.
      ...[await patch(distant, derived, thaw), await patch(distant, key, thaw), await patch(distant, below, thaw)],
    ]
    expect(refused.map(({ status, body }) => [status, body.error])).toEqual(Array(10).fill([403, 'forbidden']))
    // Narrowing stays possible.
    expect((await patch(linked, other, { frozen: true, spending_controls: { daily_limit_minor: '1' } })).status).toBe(200)
    for (const one of [derived, below, child]) expect((await patch(linked, one, thaw)).body.frozen).toBe(false)
    expect((await patch(linked, child, wider)).status).toBe(200)
    // The key is still frozen, and with it all that derives from it.
    const beneficiary_id = await newBeneficiary(person.api)
    for (const { api } of [linked, below, child])
      expect((await api.post('/v1/payments', { beneficiary_id, amount_minor: '1000' })).body.error).toBe('grant_frozen')
    expect([(await rotate(linked, below)).status, (await rotate(linked, child)).status]).toEqual([201, 201])
  })

  test('begins sessions whose new beneficiaries wait for a person, and which confirm and unfreeze none', async () => {
    const person = await signIn(service.api)
    const key = await createKey(person, manager)
    const wallet = newWallet()
    await link(key.api, wallet)
    const linked = await signIn(service.api, wallet)
    const id = await newBeneficiary(linked.api)
    const path = `/v1/beneficiaries/${id}`
    expect((await person.api.get(path)).body.confirmation).toBe('proposed')
    expect((await person.api.patch(path, { status: 'frozen' })).status).toBe(200)
    const refused = [await linked.api.post(`${path}/confirm`), await linked.api.patch(path, { status: 'active' })]
    expect(refused.map(({ status, body }) => [status, body.error])).toEqual(Array(2).fill([403, 'forbidden']))
    expect((await person.api.post(`${path}/confirm`)).body.confirmation).toBe('confirmed')
  })

  test('while the key is being revoked is refused or unlinked, never kept', async () => {
    const person = await signIn(service.api)
    for (let round = 0; round < 6; round += 1) {
      const key = await createKey(person, manager)
      const elsewhere = second.api.as(key.api.credentials)
      const [, , , revoked] = await Promise.all([
        link(elsewhere),
        link(key.api),
        verifyWith(elsewhere),
        person.api.delete(`/v1/accounts/me/grants/${key.grantId}`),
      ])
      expect(revoked.status).toBe(200)
    }
    expect(await identitiesOf(person)).toHaveLength(1)
  })
})

test('an account has at most 50 sign-in methods, and a key that linked far more before there was a bound still ends with them', async () => {
  const person = await signIn(service.api)
  const key = await createKey(person, manager)
  const elsewhere = second.api.as(key.api.credentials)
  const answers = await Promise.all(Array.from({ length: 51 }, (_, index) => link(index % 2 === 0 ? key.api : elsewhere)))
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(49)
  const refused = answers.filter(({ status, body }) => status === 409 && body.details.reason === 'limit_reached')
  expect([refused.length, refused[0]?.body.message]).toEqual([2, 'An account has at most 50 sign-in methods: unlink one first.'])
  const browser = createBrowser({ service_session: person.cookie })
  expect((await continueWith(service, 'google', newPerson(), { browser })).response.status).toBe(409)
  // More than Postgres has locks for in a transaction.
  await service.deps.db.query(
    `insert into identities (id, account_id, provider, issuer, subject, subject_key, linked_by_grant_id, created_at)
     select gen_random_uuid(), account_id, provider, issuer, subject || n, subject_key || n, linked_by_grant_id, created_at
     from identities, generate_series(1, 20000) as n where id = (select id from identities where linked_by_grant_id is not null
       and account_id = (select account_id from identities where subject = $1) limit 1)`,
    [person.wallet.address],
  )
  expect((await person.api.delete(`/v1/accounts/me/grants/${key.grantId}`)).status).toBe(200)
  expect(await identitiesOf(person)).toMatchObject([{ subject: person.wallet.address }])
  expect((await link(person.api)).status).toBe(201)
})

describe('unlinking a sign-in method', () => {
  test('ends the sessions that began with it, with their streams and tokens, and no others', async () => {
    const person = await signIn(service.api)
    const stolen = newWallet()
    await link(person.api, stolen)
    const thief = await signIn(service.api, stolen)
    const token = service.api.as({ bearer: (await thief.api.post('/v1/auth/dashboard-tokens')).body.token })
    const stream = await openStream(thief.api)
    const [identity] = (await identitiesOf(person)).filter(({ subject }: { subject: string }) => subject === stolen.address)
    expect((await person.api.delete(`/v1/accounts/me/identities/${identity.id}`)).status).toBe(200)
    await stream.ended()
    const answers = [await thief.api.get('/v1/accounts/me'), await token.get('/v1/accounts/me')]
    expect(answers.map(({ status, body }) => [status, body.error])).toEqual(Array(2).fill([401, 'session_revoked']))
    expect(await lives(person)).toBe(true)
  })

  test("that the caller signed in with ends the caller's session", async () => {
    const person = await signIn(service.api)
    await link(person.api)
    const own = (await identitiesOf(person)).find(({ subject }: { subject: string }) => subject === person.wallet.address)
    expect((await person.api.delete(`/v1/accounts/me/identities/${own.id}`)).status).toBe(200)
    expect(await lives(person)).toBe(false)
  })
})
