import { expect, test } from 'vitest'
import type { Client } from '../../harness/client.ts'
import { createKey, newWallet, signIn, walletMessage } from '../../harness/people.ts'
import { openService } from '../../harness/service.ts'

const service = await openService()
const second = await openService({ database: service.database, clock: service.clock })

const link = async (api: Client, wallet = newWallet(), options: { key?: string } = {}) => {
  const message = await walletMessage(api, wallet)
  return api.post(
    '/v1/accounts/me/identities',
    { provider: 'wallet', message, signature: await wallet.signMessage({ message }) },
    options,
  )
}

const identitiesOf = async (person: { api: Client }) => (await person.api.get('/v1/accounts/me/identities')).body.data

test('a wallet is linked once: 201, and 200 if it is linked already', async () => {
  const person = await signIn(service.api)
  const wallet = newWallet()
  const attached = await link(person.api, wallet)
  expect([attached.status, attached.body.subject]).toEqual([201, wallet.address])
  const again = await link(person.api, wallet)
  expect([again.status, again.body.id]).toEqual([200, attached.body.id])
  expect(await identitiesOf(person)).toHaveLength(2)
  expect((await signIn(service.api, wallet)).accountId).toBe(person.accountId)
})

test('the sign-in route links too when the caller is signed in, with the same three outcomes and no new session', async () => {
  const person = await signIn(service.api)
  const stranger = await signIn(service.api)
  const verify = async (wallet = newWallet()) => {
    const message = await walletMessage(person.api, wallet)
    return person.api.post('/v1/auth/wallet/verify', { message, signature: await wallet.signMessage({ message }) })
  }
  const wallet = newWallet()
  const linked = await verify(wallet)
  expect([linked.body.outcome, linked.body.session, linked.headers.get('set-cookie')]).toEqual(['linked', null, null])
  expect((await verify(wallet)).body.outcome).toBe('already_linked')
  const refused = await verify(stranger.wallet)
  expect([refused.status, refused.body.error]).toEqual([409, 'conflict'])
  expect(refused.text).not.toContain(stranger.accountId)
})

test('a wallet of another account is a conflict that reveals nothing about that account, and uses the nonce of the message', async () => {
  const owner = await signIn(service.api)
  const other = await signIn(service.api)
  const message = await walletMessage(service.api, owner.wallet)
  const body = { provider: 'wallet', message, signature: await owner.wallet.signMessage({ message }) }
  const refused = await other.api.post('/v1/accounts/me/identities', body)
  expect([refused.status, refused.body.error]).toEqual([409, 'conflict'])
  expect(Object.keys(refused.body.details).sort()).toEqual(['doc_url', 'reason', 'request_id'])
  expect(refused.text).not.toContain(owner.accountId)
  expect((await service.api.post('/v1/auth/wallet/verify', { message, signature: body.signature })).body.error).toBe(
    'invalid_signature',
  )
})

test('a retry with the same key gets the first answer, although its nonce is used', async () => {
  const person = await signIn(service.api)
  const wallet = newWallet()
  const message = await walletMessage(service.api, wallet)
  const body = { provider: 'wallet', message, signature: await wallet.signMessage({ message }) }
  const first = await person.api.post('/v1/accounts/me/identities', body, { key: 'link-1' })
  const retry = await person.api.post('/v1/accounts/me/identities', body, { key: 'link-1' })
  expect([retry.status, retry.text]).toEqual([201, first.text])
  expect(retry.headers.get('idempotency-replayed')).toBe('true')
  expect((await person.api.post('/v1/accounts/me/identities', body)).status).toBe(401)
})

test('one wallet that many accounts link at once belongs to exactly one', async () => {
  const wallet = newWallet()
  const people = await Promise.all(Array.from({ length: 6 }, (_, index) => signIn(index % 2 ? service.api : second.api)))
  const answers = await Promise.all(people.map((person) => link(person.api, wallet)))
  expect(answers.map((answer) => answer.status).sort()).toEqual([201, 409, 409, 409, 409, 409])
})

test('two concurrent first sign-ins of one wallet create one account', async () => {
  const wallet = newWallet()
  const people = await Promise.all(Array.from({ length: 10 }, (_, index) => signIn(index % 2 ? service.api : second.api, wallet)))
  expect(new Set(people.map((person) => person.accountId)).size).toBe(1)
  expect(new Set(people.map((person) => person.cookie)).size).toBe(10)
})

test('an unlinked wallet signs in to a new account, and its earlier session ends', async () => {
  const person = await signIn(service.api)
  await link(person.api)
  const original = (await identitiesOf(person)).find(
    (identity: { subject: string }) => identity.subject === person.wallet.address,
  )
  const removed = await person.api.delete(`/v1/accounts/me/identities/${original.id}`)
  expect([removed.status, removed.body.id]).toEqual([200, original.id])
  expect((await person.api.get('/v1/accounts/me')).status).toBe(401)
  expect((await signIn(service.api, person.wallet)).accountId).not.toBe(person.accountId)
})

test('the last sign-in method stays', async () => {
  const person = await signIn(service.api)
  const [only] = await identitiesOf(person)
  const refused = await person.api.delete(`/v1/accounts/me/identities/${only.id}`)
  expect([refused.status, refused.body.error]).toEqual([409, 'last_identity'])
})

test('when all sign-in methods are unlinked at once, one stays', async () => {
  for (let round = 0; round < 5; round += 1) {
    const person = await signIn(service.api)
    await link(person.api)
    await link(person.api)
    const ids: string[] = (await identitiesOf(person)).map((identity: { id: string }) => identity.id)
    // A key, because a session ends with its own sign-in method.
    const key = await createKey(person, { permissions: ['account.read', 'account.manage'] })
    const elsewhere = second.api.as(key.api.credentials)
    const answers = await Promise.all(
      ids.map((id, index) => (index % 2 ? key.api : elsewhere).delete(`/v1/accounts/me/identities/${id}`)),
    )
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 200, 409])
    expect(await identitiesOf(key)).toHaveLength(1)
  }
})

test("another account's identity cannot be unlinked: the same 404 as for one that does not exist", async () => {
  const owner = await signIn(service.api)
  await link(owner.api)
  const stranger = await signIn(service.api)
  const [identity] = await identitiesOf(owner)
  const foreign = await stranger.api.delete(`/v1/accounts/me/identities/${identity.id}`)
  const unknown = await stranger.api.delete('/v1/accounts/me/identities/idn_01h455vb4pex5vsknk084sn02q')
  expect([foreign.status, unknown.status]).toEqual([404, 404])
  expect({ ...foreign.body, details: null }).toEqual({ ...unknown.body, details: null })
})

test('listing and changing identities needs a sign-in: 401 without one', async () => {
  expect((await service.api.get('/v1/accounts/me/identities')).status).toBe(401)
  expect((await link(service.api)).status).toBe(401)
  expect((await service.api.delete('/v1/accounts/me/identities/idn_01h455vb4pex5vsknk084sn02q')).status).toBe(401)
})

test('an unknown field in the body is named, never ignored', async () => {
  const person = await signIn(service.api)
  const answer = await person.api.post('/v1/accounts/me/identities', {
    provider: 'wallet',
    message: 'x',
    signature: 'y',
    account_id: 'acc_1',
  })
  expect([answer.status, answer.body.details.fields[0].path]).toEqual([400, 'account_id'])
  expect((await person.api.post('/v1/accounts/me/identities', { provider: 'myspace' })).status).toBe(400)
})

test('linking and unlinking leave an event and an audit row that names who did it', async () => {
  const person = await signIn(service.api)
  const linked = await link(person.api)
  await person.api.delete(`/v1/accounts/me/identities/${linked.body.id}`)
  const { db } = service.deps
  const events = await db.query<{ type: string; data: { id: string } }>(
    `select type, data from events where type like 'identity.%' and data->>'id' = $1 order by id`,
    [linked.body.id],
  )
  expect(events.map((event) => event.type)).toEqual(['identity.linked', 'identity.unlinked'])
  const rows = await db.query<{ action: string; credential_kind: string; ip: string }>(
    `select action, credential_kind, ip from audit_log where subject_type = 'identity' and account_id = (select account_id from events where data->>'id' = $1 limit 1) order by id`,
    [linked.body.id],
  )
  expect(rows.map((row) => row.action)).toEqual(['identity.link', 'identity.link', 'identity.unlink'])
  expect(rows.at(-1)).toMatchObject({ credential_kind: 'session', ip: expect.any(String) })
})
