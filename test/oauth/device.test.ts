import { describe, expect, test } from 'vitest'
import { newPkce, postForm, refusal, registerClient } from '../harness/oauth.ts'
import { createKey, signIn } from '../harness/people.ts'
import { openService, startService } from '../harness/service.ts'

const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code'
const service = await openService()
const person = await signIn(service.api)
const client = await registerClient(service.api, { redirect_uris: [], grant_types: [deviceGrant, 'refresh_token'] })

const pkce = newPkce()
const challenge = { code_challenge: pkce.challenge, code_challenge_method: 'S256' }
const start = async (fields: Record<string, string> = {}) =>
  (await postForm(service.api, '/v1/oauth/device_authorization', { ...client.credentials, ...challenge, ...fields })).body
const poll = (started: { device_code: string }, fields: Record<string, string | undefined> = {}, as = client) =>
  postForm(service.api, '/v1/oauth/token', {
    grant_type: deviceGrant,
    device_code: started.device_code,
    code_verifier: pkce.verifier,
    ...as.credentials,
    ...fields,
  })
const decide = (started: { user_code: string }, body: Record<string, unknown> = { decision: 'approve' }, as = person.api) =>
  as.post(`/v1/oauth/device/${started.user_code}/decision`, body)

describe('a device', () => {
  test('waits, is approved, and gets its tokens one time', async () => {
    const started = await start({ scope: 'account.read' })
    expect(started).toEqual({
      device_code: expect.stringMatching(/^service_odc_/),
      user_code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/),
      verification_uri: `${service.api.url}/device`,
      verification_uri_complete: `${service.api.url}/device?user_code=${started.user_code}`,
      expires_in: 600,
      interval: 5,
    })
    expect(refusal(await poll(started))).toEqual([400, 'authorization_pending'])
    const decided = await decide(started)
    expect(decided.body).toEqual({ status: 'approved', redirect_to: `${service.api.url}/device?outcome=approved` })
    const tokens = await poll(started)
    expect(tokens.body).toMatchObject({ scope: 'account.read', refresh_token: expect.any(String) })
    expect((await service.api.get('/v1/accounts/me', { bearer: tokens.body.access_token })).body.id).toBe(person.accountId)
    expect(refusal(await poll(started))).toEqual([400, 'invalid_grant'])
    expect((await service.api.get('/v1/accounts/me', { bearer: tokens.body.access_token })).status).toBe(200)
  })

  test('that asks twenty times at once gets its tokens once', async () => {
    const started = await start()
    await decide(started)
    const answers = await Promise.all(Array.from({ length: 20 }, () => poll(started)))
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1)
  })

  test('that polls too fast gets slow_down, with five seconds more each time', async () => {
    const started = await start()
    expect(refusal(await poll(started))).toEqual([400, 'authorization_pending'])
    service.clock.advance(2)
    expect(refusal(await poll(started))).toEqual([400, 'slow_down'])
    service.clock.advance(9)
    expect(refusal(await poll(started))).toEqual([400, 'slow_down'])
    service.clock.advance(15)
    expect(refusal(await poll(started))).toEqual([400, 'authorization_pending'])
  })

  test('learns that the person denied it', async () => {
    const started = await start()
    expect((await decide(started, { decision: 'deny' })).body.status).toBe('denied')
    expect(refusal(await poll(started))).toEqual([400, 'access_denied'])
  })

  test('whose code has expired cannot be approved and gets nothing', async () => {
    const started = await start()
    service.clock.advance(600)
    expect(refusal(await decide(started))).toEqual([409, 'conflict'])
    expect(refusal(await poll(started))).toEqual([400, 'expired_token'])
  })

  test("of another client gets nothing with this one's code", async () => {
    const started = await start()
    await decide(started)
    const other = await registerClient(service.api, { grant_types: [deviceGrant] })
    expect(refusal(await poll(started, {}, other))).toEqual([400, 'invalid_grant'])
    expect((await poll(started)).status).toBe(200)
  })

  test('that begins without PKCE is refused, with the required parameters', async () => {
    const answer = await postForm(service.api, '/v1/oauth/device_authorization', client.credentials)
    expect(refusal(answer)).toEqual([400, 'invalid_request'])
    for (const parameter of ['code_challenge', 'code_challenge_method=S256', 'code_verifier'])
      expect(answer.body.message).toContain(parameter)
  })

  test('has to send the verifier of its challenge, and gets nothing without it', async () => {
    const started = await start()
    expect(refusal(await poll(started, { code_verifier: undefined }))).toEqual([400, 'invalid_request'])
    await decide(started)
    expect(refusal(await poll(started, { code_verifier: undefined }))).toEqual([400, 'invalid_request'])
    expect(refusal(await poll(started, { code_verifier: newPkce().verifier }))).toEqual([400, 'invalid_grant'])
    expect((await poll(started, { code_verifier: pkce.verifier })).status).toBe(200)
    const plain = await postForm(service.api, '/v1/oauth/device_authorization', {
      ...client.credentials,
      code_challenge: pkce.verifier,
      code_challenge_method: 'plain',
    })
    expect(refusal(plain)).toEqual([400, 'invalid_request'])
  })

  test('is refused to a client that has not registered the grant type, and learns how to register it', async () => {
    const browser = await registerClient(service.api)
    const answer = await postForm(service.api, '/v1/oauth/device_authorization', browser.credentials)
    expect(refusal(answer)).toEqual([400, 'unauthorized_client'])
    expect(answer.body.message).toContain(`register a client with ${deviceGrant} in grant_types`)
  })
})

describe('the person', () => {
  test('sees the client and the limits before deciding, however the code is written', async () => {
    const details = JSON.stringify([{ type: 'payment', daily_limit_minor: '500000' }])
    const started = await start({ scope: 'payment.create', authorization_details: details })
    const typed = started.user_code.replace('-', '').toLowerCase()
    const view = (await person.api.get(`/v1/oauth/device/${typed}`)).body
    expect(view).toMatchObject({
      flow: 'device',
      status: 'pending',
      client: { name: 'Test agent', verified_host: null },
      user_code: started.user_code,
      redirect_host: null,
      scopes: ['payment.create'],
      spending_controls: { daily_limit_minor: '500000' },
    })
    await decide(started, { decision: 'approve', spending_controls: { daily_limit_minor: '200000' } })
    expect((await poll(started)).body.authorization_details).toEqual([
      { type: 'payment', daily_limit_minor: '200000', on_duplicate: 'confirm' },
    ])
  })

  test('without an account, or with a delegated credential, decides nothing', async () => {
    const started = await start()
    const key = await createKey(person)
    expect(refusal(await decide(started, { decision: 'approve' }, service.api))).toEqual([401, 'authentication_required'])
    expect(refusal(await decide(started, { decision: 'approve' }, key.api))).toEqual([403, 'forbidden'])
    expect(refusal(await key.api.get(`/v1/oauth/device/${started.user_code}`))).toEqual([403, 'forbidden'])
    expect(refusal(await service.api.get(`/v1/oauth/device/${started.user_code}`))).toEqual([401, 'authentication_required'])
  })

  test('cannot decide what another person has decided, and does not see it', async () => {
    const started = await start()
    await decide(started)
    const other = await signIn(service.api)
    expect(refusal(await decide(started, { decision: 'deny' }, other.api))).toEqual([404, 'not_found'])
    expect(refusal(await other.api.get(`/v1/oauth/device/${started.user_code}`))).toEqual([404, 'not_found'])
    expect(refusal(await decide(started, { decision: 'deny' }))).toEqual([409, 'conflict'])
    for (const none of ['BBBB-BBBB', 'nonsense', '%00'])
      expect(refusal(await person.api.get(`/v1/oauth/device/${none}`))).toEqual([404, 'not_found'])
  })
})

test('codes cannot be guessed: each address, and each account from any address, has few attempts', async () => {
  const strict = await startService({ fixed: { rateLimitPublicPerMinute: 8 } })
  try {
    const guesser = await signIn(strict.api)
    const statuses: number[] = []
    for (let guess = 0; guess < 10; guess += 1) statuses.push((await guesser.api.get('/v1/oauth/device/BBBB-BBBB')).status)
    expect(statuses.slice(0, 5)).toEqual([404, 404, 404, 404, 404])
    expect(statuses.at(-1)).toBe(429)
    const proxied = await startService({ env: { TRUST_PROXY: '127.0.0.1,::1' }, fixed: { rateLimitPublicPerMinute: 8 } })
    const many = await signIn(proxied.api)
    const from = (address: string, api = many.api) =>
      api.get('/v1/oauth/device/BBBB-BBBB', { headers: { 'x-forwarded-for': address } })
    const elsewhere = []
    for (let guess = 0; guess < 9; guess += 1) elsewhere.push((await from(`203.0.113.${guess}`)).status)
    expect(elsewhere.slice(-2)).toEqual([404, 429])
    // A customer has a whole /64, so its addresses count as one.
    const network = []
    for (let guess = 0; guess < 9; guess += 1) network.push((await from(`2001:db8:7:7::${guess}`, proxied.api)).status)
    expect(network.at(-1)).toBe(429)
    expect((await from('2001:db8:7:8::1', proxied.api)).status).toBe(401)
    await proxied.close()
  } finally {
    await strict.close()
  }
})
