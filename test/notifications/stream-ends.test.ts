import { afterAll, expect, test } from 'vitest'
import { authorizeAgent, postForm, refresh } from '../harness/oauth.ts'
import { createKey, newWallet, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'
import { openStream } from '../harness/stream.ts'

const head = newWallet()
const service = await openService({ env: { ADMIN_ACCOUNTS: head.address } })

const tookMs: number[] = []
/** The fastest end counts, because the others may wait for a processor. */
afterAll(() => expect(Math.min(...tookMs)).toBeLessThan(1_000))

/** The stream's end after `cause`. */
const endsAtOnce = async (stream: Awaited<ReturnType<typeof openStream>>, cause: () => Promise<unknown> | unknown) => {
  expect(stream.status).toBe(200)
  await cause()
  const began = performance.now()
  await stream.ended()
  tookMs.push(performance.now() - began)
}

test('logging out ends the streams of that session, and no others', async () => {
  const person = await signIn(service.api)
  const other = await signIn(service.api, person.wallet)
  const staying = await openStream(other.api)
  await endsAtOnce(await openStream(person.api), () => person.api.post('/v1/auth/logout'))
  await signIn(service.api, person.wallet)
  await staying.next('session.created')
  staying.close()
})

test('revoking a key ends its streams and those of the keys below it', async () => {
  const person = await signIn(service.api)
  const parent = await createKey(person)
  const child = await createKey(parent)
  const below = await openStream(child.api)
  const revoke = () => person.api.delete(`/v1/accounts/me/api-keys/${parent.id}`)
  await endsAtOnce(await openStream(parent.api), revoke)
  await below.ended()
})

test('revoking a grant ends the streams of its key', async () => {
  const person = await signIn(service.api)
  const key = await createKey(person)
  await endsAtOnce(await openStream(key.api), () => person.api.delete(`/v1/accounts/me/grants/${key.grantId}`))
})

test('a dashboard token ends with the session that minted it', async () => {
  const person = await signIn(service.api)
  const { token } = (await person.api.post('/v1/auth/dashboard-tokens')).body
  const stream = await openStream(service.api.as({ bearer: token }))
  await endsAtOnce(stream, () => person.api.post('/v1/auth/logout'))
})

test('disabling API keys or agents ends their streams, and no others', async () => {
  const person = await signIn(service.api)
  const agent = await authorizeAgent(service.api, person)
  const [key, keyOfAgent] = [await createKey(person), await createKey({ api: agent.api })]
  const [own, ofAgent, below] = [await openStream(person.api), await openStream(agent.api), await openStream(keyOfAgent.api)]
  const disable = async (capability: 'api_keys' | 'oauth') => {
    const admin = await signIn(service.api, head)
    return admin.api.patch(`/v1/admin/accounts/${person.accountId}`, { capabilities: { [capability]: 'disabled' } })
  }
  await endsAtOnce(await openStream(key.api), () => disable('api_keys'))
  await below.ended()
  await person.api.patch('/v1/workspaces/current', { name: 'Still here' })
  await ofAgent.next('workspace.updated')
  await endsAtOnce(ofAgent, () => disable('oauth'))
  // Long before the sweep, which checks every stream once a minute.
  expect(Math.max(...tookMs.slice(-2))).toBeLessThan(30_000)
  await signIn(service.api, person.wallet)
  await own.next('session.created')
  expect(own.text()).not.toContain('account.')
  own.close()
})

test('a credential that expires ends its streams by itself', async () => {
  const person = await signIn(service.api)
  const expiresAt = new Date(service.clock.now().getTime() + 60_000).toISOString()
  const key = await createKey(person, { expires_at: expiresAt })
  await endsAtOnce(await openStream(key.api), () => service.clock.advance(61))
})

test("a rotated key's streams continue during the overlap and end with it", async () => {
  const person = await signIn(service.api)
  const key = await createKey(person)
  const stream = await openStream(key.api)
  await person.api.post(`/v1/accounts/me/api-keys/${key.id}/rotate`, { overlap_seconds: 600 })
  await stream.next('api_key.rotated')
  await endsAtOnce(stream, () => service.clock.advance(601))
})

test("an agent's streams end when its access or its token is revoked, when it expires and when a used refresh token is presented", async () => {
  const person = await signIn(service.api)
  const taken = await authorizeAgent(service.api, person)
  const grant = (await person.api.get('/v1/accounts/me/grants')).body.data.find(
    (entry: { kind: string }) => entry.kind === 'oauth',
  )
  await endsAtOnce(await openStream(taken.api), () => person.api.delete(`/v1/accounts/me/grants/${grant.id}`))

  const revoked = await authorizeAgent(service.api, person)
  const revoke = () => postForm(service.api, '/v1/oauth/revoke', { token: revoked.access, ...revoked.client.credentials })
  await endsAtOnce(await openStream(revoked.api), revoke)

  const stolen = await authorizeAgent(service.api, person)
  await refresh(service.api, stolen.client, stolen.refreshToken)
  await endsAtOnce(await openStream(stolen.api), () => refresh(service.api, stolen.client, stolen.refreshToken))

  const expired = await authorizeAgent(service.api, person)
  await endsAtOnce(await openStream(expired.api), () => service.clock.advance(3_601))
})
