import * as oauth from 'openid-client'
import { beforeAll, describe, expect, test } from 'vitest'
import { answerOf, decide, redirectUri } from '../harness/oauth.ts'
import { signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'

/** An independent client with its default settings. */
const service = await openService()
const person = await signIn(service.api)

const options = { algorithm: 'oauth2' as const, execute: [oauth.allowInsecureRequests] }
const register = (metadata: Record<string, unknown>, authentication?: oauth.ClientAuth) =>
  oauth.dynamicClientRegistration(
    new URL(service.api.url),
    { redirect_uris: [redirectUri], ...metadata },
    authentication,
    options,
  )

/** The browser's part: it follows the client's redirect, its owner consents, and it returns. */
const consent = async (url: URL): Promise<URL> => {
  const { pathname, search } = url
  const answer = await person.api.get(pathname + search)
  const id = new URL(answer.headers.get('location') ?? '', service.api.url).searchParams.get('authorization') ?? ''
  return new URL((await decide(person, id)).body.redirect_to)
}
const canRead = async (bearer: string) => (await service.api.get('/v1/accounts/me', { bearer })).status

const parametersOf = async (config: oauth.Configuration) => {
  const pkceCodeVerifier = oauth.randomPKCECodeVerifier()
  const expectedState = oauth.randomState()
  const parameters = {
    redirect_uri: redirectUri,
    scope: 'account.read payment.create',
    resource: service.api.url,
    state: expectedState,
    code_challenge: await oauth.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
    authorization_details: JSON.stringify([{ type: 'payment', daily_limit_minor: '100000' }]),
  }
  return { parameters, checks: { pkceCodeVerifier, expectedState }, config }
}

describe.each([
  ['public', { token_endpoint_auth_method: 'none' }, oauth.None()],
  ['confidential, its secret in the header', { token_endpoint_auth_method: 'client_secret_basic' }, undefined],
  ['confidential, its secret in the body', { token_endpoint_auth_method: 'client_secret_post' }, undefined],
])('openid-client, %s', (_kind, metadata, authentication) => {
  let config: oauth.Configuration
  beforeAll(async () => {
    config = await register(metadata, authentication)
  })

  test('discovers, registers, authorizes, calls, refreshes, introspects and revokes', async () => {
    const { parameters, checks } = await parametersOf(config)
    const back = await consent(oauth.buildAuthorizationUrl(config, parameters))
    const tokens = await oauth.authorizationCodeGrant(config, back, checks)
    expect(tokens).toMatchObject({ scope: 'account.read payment.create', token_type: 'bearer' })
    expect(tokens.authorization_details).toEqual([{ type: 'payment', daily_limit_minor: '100000', on_duplicate: 'confirm' }])
    const call = await oauth.fetchProtectedResource(
      config,
      tokens.access_token,
      new URL(`${service.api.url}/v1/accounts/me`),
      'GET',
    )
    expect(await call.json()).toMatchObject({ id: person.accountId })

    const fresh = await oauth.refreshTokenGrant(config, tokens.refresh_token ?? '')
    expect(await canRead(fresh.access_token)).toBe(200)
    expect(await oauth.tokenIntrospection(config, fresh.access_token)).toMatchObject({ active: true, sub: person.accountId })
    await oauth.tokenRevocation(config, fresh.refresh_token ?? '')
    expect(await canRead(fresh.access_token)).toBe(401)
    expect(await oauth.tokenIntrospection(config, fresh.access_token)).toEqual({ active: false })
    await expect(oauth.refreshTokenGrant(config, fresh.refresh_token ?? '')).rejects.toMatchObject({ error: 'invalid_grant' })
  })

  test('pushes its request first', async () => {
    const { parameters, checks } = await parametersOf(config)
    const url = await oauth.buildAuthorizationUrlWithPAR(config, parameters)
    expect([...url.searchParams.keys()].sort()).toEqual(['client_id', 'request_uri'])
    const tokens = await oauth.authorizationCodeGrant(config, await consent(url), checks)
    expect(await canRead(tokens.access_token)).toBe(200)
  })
})

test('openid-client connects a device', async () => {
  const config = await register(
    { grant_types: ['urn:ietf:params:oauth:grant-type:device_code', 'refresh_token'], token_endpoint_auth_method: 'none' },
    oauth.None(),
  )
  const verifier = oauth.randomPKCECodeVerifier()
  const started = await oauth.initiateDeviceAuthorization(config, {
    scope: 'account.read',
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  })
  await person.api.post(`/v1/oauth/device/${started.user_code}/decision`, { decision: 'approve' })
  const tokens = await oauth.pollDeviceAuthorizationGrant(config, { ...started, interval: 0.01 }, { code_verifier: verifier })
  expect(await canRead(tokens.access_token)).toBe(200)
  expect(tokens.refresh_token).toMatch(/^service_ort_/)
})

test('openid-client gets a refusal', async () => {
  const config = await register({ token_endpoint_auth_method: 'none' }, oauth.None())
  const { parameters, checks } = await parametersOf(config)
  const answer = await person.api.get(oauth.buildAuthorizationUrl(config, parameters).href.slice(service.api.url.length))
  const id = new URL(answer.headers.get('location') ?? '', service.api.url).searchParams.get('authorization') ?? ''
  const refused = await decide(person, id, { decision: 'deny' })
  expect(answerOf(refused).get('error')).toBe('access_denied')
  await expect(oauth.authorizationCodeGrant(config, new URL(refused.body.redirect_to), checks)).rejects.toMatchObject({
    error: 'access_denied',
  })
})
