import { afterAll, describe, expect, test } from 'vitest'
import { type AuthenticatorOptions, addPasskey, newAuthenticator } from '../../harness/authenticator.ts'
import type { Client, Json } from '../../harness/client.ts'
import { takeRefused } from '../../harness/connections.ts'
import { createKey, newWallet, signIn, walletMessage } from '../../harness/people.ts'
import { openService } from '../../harness/service.ts'
import { openStream } from '../../harness/stream.ts'
import { findBreaches } from '../../harness/verify.ts'

const service = await openService({ env: { RATE_LIMIT_ENABLED: 'false' } })
const person = await signIn(service.api)
afterAll(async () => {
  await service.deps.jobs.sweep()
  expect(await findBreaches(service)).toEqual([])
})

const path = '/v1/accounts/me/passkeys'
const site = () => service.deps.config.publicUrl
const challenge = async (api: Client): Promise<string> => (await api.post(`${path}/options`, undefined)).body.challenge
const add = (api: Client, credential: unknown, name = 'My phone') => api.post(path, { name, credential })

test('a browser is asked for a passkey that stays on the authenticator and verifies its user, on this site alone', async () => {
  const { passkey } = await addPasskey(person.api, site())
  const { status, body } = await person.api.post(`${path}/options`, undefined)
  expect(status).toBe(200)
  expect(body).toMatchObject({
    rp: { id: new URL(site()).hostname },
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    attestation: 'none',
    excludeCredentials: [{ id: passkey.credential_id, type: 'public-key' }],
  })
})

test('several passkeys, elliptic and RSA, are listed with their names, and a removed one is gone', async () => {
  const owner = await signIn(service.api)
  const first = await addPasskey(owner.api, site())
  const second = await addPasskey(owner.api, site(), { kind: 'RSA', count: 0 })
  const listed = (await owner.api.get(path)).body.data
  expect(listed).toEqual([second.passkey, first.passkey])
  expect(listed[0]).toEqual({
    id: expect.stringMatching(/^pky_/),
    name: 'My phone',
    credential_id: second.authenticator.id,
    created_at: expect.any(String),
    last_used_at: null,
  })
  expect((await owner.api.delete(first.path)).body).toEqual(first.passkey)
  expect((await owner.api.delete(first.path)).status).toBe(404)
  expect((await owner.api.get(path)).body.data).toEqual([second.passkey])
  await service.settle()
  const events = (await owner.api.get('/v1/notifications')).body.data.filter(({ type }: { type: string }) =>
    /^passkey/.test(type),
  )
  expect(events.map(({ type }: { type: string }) => type).toSorted()).toEqual([
    'passkey.added',
    'passkey.added',
    'passkey.removed',
  ])
})

test('events about passkeys reach nobody who may not list them: no key, and no session that a wallet of a key began', async () => {
  const owner = await signIn(service.api)
  const key = await createKey(owner, { permissions: ['account.read', 'account.manage'] })
  const wallet = newWallet()
  const message = await walletMessage(key.api, wallet)
  const signature = await wallet.signMessage({ message })
  expect((await key.api.post('/v1/accounts/me/identities', { provider: 'wallet', message, signature })).status).toBe(201)
  const linked = await signIn(service.api, wallet)
  const streams = [await openStream(key.api), await openStream(linked.api)]
  await addPasskey(owner.api, site())
  await signIn(service.api, owner.wallet)
  for (const stream of streams) {
    await stream.next('session.created')
    expect(stream.seen.map(({ type }) => type)).not.toContain('passkey.added')
    stream.close()
  }
  await service.settle()
  const listed = async (api: Client) => (await api.get('/v1/notifications?type=passkey.*')).body.data.length
  for (const { api } of [key, linked]) expect([(await api.get(path)).status, await listed(api)]).toEqual([403, 0])
  expect(await listed(owner.api)).toBe(1)
})

test('an authenticator that did not verify its user, another origin, another site and a key of another kind are refused', async () => {
  for (const options of [{ userVerified: false }, { origin: 'https://evil.example' }, { rpId: 'evil.example' }]) {
    const credential = newAuthenticator(site()).create(await challenge(person.api), options)
    const answer = await add(person.api, credential)
    expect([answer.status, answer.body.error]).toEqual([401, 'invalid_signature'])
  }
  expect((await add(person.api, { id: 'x' })).status).toBe(400)
})

test('a refusal quotes nothing of what was sent, says why in our own words, and is in the request log', async () => {
  const odd = '\u0000y'
  const bytes = (text: string) => Buffer.from(text).toString('base64url')
  const made = async (options: AuthenticatorOptions = {}) =>
    newAuthenticator(site()).create(await challenge(person.api), options) as Json
  const tries: [Json, string][] = [
    [await made({ origin: `http://x${odd}` }), 'it is of another site'],
    [await made({ rpId: 'evil.example' }), 'it is of another site'],
    [await made({ userVerified: false }), 'its user was not verified'],
    [{ ...(await made()), id: bytes(odd) }, 'it cannot be read'],
  ]
  const unreadable = await made()
  tries.push([{ ...unreadable, response: { ...unreadable.response, attestationObject: bytes('x') } }, 'it cannot be read'])
  for (const [credential, why] of tries) {
    const answer = await add(person.api, credential)
    expect([answer.status, answer.body.message]).toEqual([401, `The passkey was not accepted: ${why}.`])
    const [row] = (await person.api.get('/v1/request-log?limit=1')).body.data
    expect([row.status, row.message]).toEqual([401, answer.body.message])
  }
  const owner = await signIn(service.api)
  const { authenticator } = await addPasskey(owner.api, site())
  const proof = async (change: (sent: Json) => Json, options: AuthenticatorOptions = {}) => {
    const { body } = await owner.api.post('/v1/auth/proof/options', undefined)
    return owner.api.post('/v1/auth/proof', { passkey: change(authenticator.answer(body.challenge, options)) })
  }
  const asIs = (sent: Json) => sent
  const answers = [
    await proof(asIs, { origin: `http://x${odd}` }),
    await proof(asIs, { userVerified: false }),
    await proof((sent) => ({ ...sent, response: { ...sent.response, authenticatorData: bytes('x') } })),
  ]
  expect(answers.map(({ status, body }) => [status, body.message])).toEqual([
    [401, 'The passkey proves nothing: it is of another site.'],
    [401, 'The passkey proves nothing: its user was not verified.'],
    [401, 'The passkey proves nothing: it cannot be read.'],
  ])
})

test('a challenge is for one account, once, for ten minutes', async () => {
  const other = await signIn(service.api)
  const foreign = await add(person.api, newAuthenticator(site()).create(await challenge(other.api)))
  const given = await challenge(person.api)
  expect((await add(person.api, newAuthenticator(site()).create(given))).status).toBe(201)
  const again = await add(person.api, newAuthenticator(site()).create(given))
  const late = newAuthenticator(site()).create(await challenge(person.api))
  service.clock.advance(601_000)
  const invented = newAuthenticator(site()).create(Buffer.alloc(16, 7).toString('base64url'))
  for (const answer of [foreign, again, await add(person.api, late), await add(person.api, invented)])
    expect([answer.status, answer.body.error]).toEqual([401, 'invalid_signature'])
})

test('an attempt uses its challenge up, also when what the authenticator returned is refused', async () => {
  const given = await challenge(person.api)
  const unverified = newAuthenticator(site()).create(given, { userVerified: false })
  expect((await add(person.api, unverified)).body.message).toContain('verif')
  const honest = await add(person.api, newAuthenticator(site()).create(given))
  expect([honest.status, honest.body.message]).toEqual([401, expect.stringContaining('unknown, used or expired')])
})

const addressOfTheAttacker = 'http://crl.attacker.example/list'

test('an attestation statement is never verified, so no address that its certificates name is fetched', async () => {
  const authenticator = newAuthenticator(site())
  const options = { revocationList: addressOfTheAttacker }
  // The credential is registered by the authenticator's data, as if there were no statement.
  expect((await add(person.api, authenticator.create(await challenge(person.api), options))).status).toBe(201)
  expect(takeRefused()).toEqual([])
  // The library verifies the same credential's statement: the test would detect that.
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server')
  const expectedChallenge = Buffer.alloc(16, 7).toString('base64url')
  const response: Json = authenticator.create(expectedChallenge, options)
  const origin = { expectedOrigin: site(), expectedRPID: new URL(site()).hostname }
  await expect(verifyRegistrationResponse({ response, expectedChallenge, ...origin })).rejects.toThrow('root certificate')
  expect(takeRefused()).toEqual(['crl.attacker.example:80', 'crl.attacker.example:80'])
})

test('one passkey belongs to one account, once', async () => {
  const authenticator = newAuthenticator(site())
  expect((await add(person.api, authenticator.create(await challenge(person.api)))).status).toBe(201)
  const other = await signIn(service.api)
  for (const api of [person.api, other.api]) {
    const answer = await add(api, authenticator.create(await challenge(api)))
    expect([answer.status, answer.body.details.reason]).toEqual([409, 'passkey'])
  }
})

test('of two accounts that register one passkey at once, one has it and the other learns of it', async () => {
  const authenticator = newAuthenticator(site())
  const people = await Promise.all([signIn(service.api), signIn(service.api)])
  const credentials = await Promise.all(people.map(async ({ api }) => authenticator.create(await challenge(api))))
  const answers = await Promise.all(people.map(({ api }, index) => add(api, credentials[index])))
  expect(answers.map(({ status, body }) => [status, body.details?.reason]).sort()).toEqual([
    [201, undefined],
    [409, 'passkey'],
  ])
})

test('of many at once twenty are registered, and the next one is refused', async () => {
  const owner = await signIn(service.api)
  const tries = await Promise.all(
    Array.from({ length: 21 }, async () => add(owner.api, newAuthenticator(site()).create(await challenge(owner.api)))),
  )
  expect(tries.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([...Array(20).fill(201), 409])
})

test('a passkey does not sign in, and an agent can neither read, add nor remove one', async () => {
  const { path: own } = await addPasskey(person.api, site())
  const { api: key } = await createKey(person, { permissions: ['account.read', 'account.manage'] })
  const answers = [await key.get(path), await key.post(`${path}/options`, undefined), await key.delete(own)]
  expect(answers.map(({ status }) => status)).toEqual([403, 403, 403])
  // A session that began with a wallet of the key is the key's too, and so is its token: both end with the key.
  const wallet = newWallet()
  const message = await walletMessage(service.api, wallet)
  const signature = await wallet.signMessage({ message })
  expect((await key.post('/v1/accounts/me/identities', { provider: 'wallet', message, signature })).status).toBe(201)
  const planted = await signIn(service.api, wallet)
  const { token } = (await planted.api.post('/v1/auth/dashboard-tokens')).body
  const refused = [
    [planted.api, 'forbidden'],
    [service.api.as({ bearer: token }), 'step_up_required'],
  ] as const
  for (const [api, error] of refused) {
    const answer = await add(api, newAuthenticator(site()).create(await challenge(api)))
    expect([answer.status, answer.body.error]).toEqual([403, error])
  }
})

describe('the flags and the count of an authenticator', () => {
  const synced = { backup_eligible: true, backed_up: true }
  const single = { backup_eligible: false, backed_up: false }
  const stored = async (credentialId: string) =>
    (await service.deps.db.query('select backup_eligible, backed_up from passkeys where credential_id = $1', [credentialId]))[0]

  test('a passkey that was registered unsynced and is synced later goes on, and both flags are stored as they came', async () => {
    const owner = await signIn(service.api)
    const { authenticator } = await addPasskey(owner.api, service.api.url)
    expect(await stored(authenticator.id)).toEqual(single)
    service.clock.advance(60)
    const later = await signIn(service.api, owner.wallet)
    for (const [flags, expected] of [
      [0x18, synced],
      [0x08, { ...synced, backed_up: false }],
      [0x00, single],
    ] as const) {
      const { body } = await later.api.post('/v1/auth/proof/options', undefined)
      const proven = await later.api.post('/v1/auth/proof', { passkey: authenticator.answer(body.challenge, { flags }) })
      expect([flags, proven.status]).toEqual([flags, 200])
      expect(await stored(authenticator.id)).toEqual(expected)
    }
  })

  test('none, in any combination, ends in a failure of the service', async () => {
    const owner = await signIn(service.api)
    const { authenticator } = await addPasskey(owner.api, service.api.url, { flags: 0x18 })
    const statuses = new Set<number>()
    for (const flags of [0x00, 0x02, 0x08, 0x10, 0x18, 0x20, 0x40, 0x80, 0xfa])
      for (const count of [0, 1, 0xffffffff]) {
        const { body: made } = await owner.api.post('/v1/accounts/me/passkeys/options', undefined)
        const credential = newAuthenticator(service.api.url).create(made.challenge, { flags, count })
        const added = await owner.api.post('/v1/accounts/me/passkeys', { name: 'Any', credential })
        statuses.add(added.status)
        if (added.status === 201) await owner.api.delete(`/v1/accounts/me/passkeys/${added.body.id}`)
        const { body } = await owner.api.post('/v1/auth/proof/options', undefined)
        statuses.add(
          (await owner.api.post('/v1/auth/proof', { passkey: authenticator.answer(body.challenge, { flags, count }) })).status,
        )
      }
    expect([...statuses].filter((status) => status >= 500)).toEqual([])
  })
})
