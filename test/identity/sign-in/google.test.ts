import { createPrivateKey, createSign, generateKeyPairSync } from 'node:crypto'
import { OAuth2Server } from 'oauth2-mock-server'
import { afterAll, afterEach, expect, test } from 'vitest'
import { createBrowser, linksOf } from '../../harness/browser.ts'
import { openService, startService } from '../../harness/service.ts'
import { me, newPerson, startUrl } from './providers.ts'

type Claims = Record<string, unknown>
type TokenAnswer = { statusCode: number; body: Record<string, unknown> | '' }

const google = new OAuth2Server()
await google.issuer.keys.generate('RS256')
await google.start(0, 'localhost')
const service = await openService({
  env: { GOOGLE_ISSUER: google.issuer.url ?? '', GOOGLE_CLIENT_ID: 'our-client', GOOGLE_CLIENT_SECRET: 'our-secret' },
})
afterAll(() => google.stop())
afterEach(() => void google.service.removeAllListeners())

/** Signs in with an ID token with these claims besides the required ones. */
const signInWith = async (claims: Claims, alterAnswer: (answer: TokenAnswer) => void = () => undefined) => {
  google.service.on('beforeTokenSigning', (token: { payload: Claims }) => Object.assign(token.payload, claims))
  google.service.on('beforeResponse', alterAnswer)
  const browser = createBrowser()
  const start = await browser.step(startUrl(service, 'google'))
  const answered = await browser.step(start.headers.get('location') ?? '')
  const callback = answered.headers.get('location') ?? ''
  const page = await browser.step(callback, { accept: 'application/json' })
  const cookie = browser.cookies.get('service_session') ?? ''
  return { page, cookie, callback, browser, error: page.status === 303 ? null : JSON.parse(page.html).error }
}

const claimsOf = (person = newPerson()): Claims => ({
  sub: person.email,
  email: person.email,
  email_verified: true,
  name: 'Grace',
})

/** The mock's token with other claims, under a key that isn't the provider's. */
const forge = (idToken: string, header: object): string => {
  const payload = idToken.split('../../sign-in')[1] ?? ''
  const signed = `${Buffer.from(JSON.stringify(header)).toString('base64url')}.${payload}`
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const key = createPrivateKey(privateKey.export({ type: 'pkcs8', format: 'pem' }))
  return `${signed}.${createSign('RSA-SHA256').update(signed).sign(key).toString('base64url')}`
}

test('an ID token with correct issuer, audience, nonce and times signs in, under its issuer', async () => {
  const claims = claimsOf()
  const { page, cookie } = await signInWith(claims)
  expect(page.status).toBe(303)
  expect(await me(service, cookie)).toMatchObject({
    email: claims.email,
    identities: [{ provider: 'google', subject: claims.sub }],
  })
  const [row] = await service.deps.db.query<{ issuer: string }>('select issuer from identities where subject = $1', [claims.sub])
  expect(row?.issuer).toBe(google.issuer.url)
})

test('a name with what we refuse from a person is cleaned, and the sign-in goes on', async () => {
  const { page, cookie } = await signInWith({ ...claimsOf(), name: 'Gra\u202ece\n\u200b Hopper' })
  expect(page.status).toBe(303)
  expect(await me(service, cookie)).toMatchObject({
    display_name: 'Grace Hopper',
    identities: [{ display_name: 'Grace Hopper' }],
  })
})

const now = () => Math.floor(service.deps.clock.now().getTime() / 1000)

test.each<[string, () => Claims]>([
  ['another issuer', () => ({ iss: 'https://evil.example' })],
  ["Google's own issuer, which is not the one configured", () => ({ iss: 'https://accounts.google.com' })],
  ['another audience', () => ({ aud: 'another-client' })],
  ['another nonce', () => ({ nonce: 'n'.repeat(43) })],
  ['no nonce', () => ({ nonce: undefined })],
  ['no subject', () => ({ sub: '' })],
  ['an end long past', () => ({ iat: 1_600_000_000, exp: 1_600_003_600 })],
  ['a beginning far ahead', () => ({ iat: now() + 10 * 365 * 86_400, exp: now() + 10 * 365 * 86_400 + 60 })],
])('an ID token with %s is refused', async (_what, corrupt) => {
  const { page, error, browser } = await signInWith({ ...claimsOf(), ...corrupt() })
  expect([page.status, error]).toEqual([400, 'invalid_request'])
  expect(browser.cookies.has('service_session')).toBe(false)
})

test.each<[string, number | string | undefined, boolean]>([
  ['after the request', 5, true],
  ['not named, although a substitute for Google must name it', undefined, false],
  ['before the request', -90, false],
  ['unreadable', 'now', false],
])('a proof of a session counts if the sign-in at the provider was %s: %s', async (_when, offset, counts) => {
  const claims = claimsOf()
  const { cookie, browser } = await signInWith(claims)
  google.service.removeAllListeners()
  service.clock.advance(660)
  const auth_time = typeof offset === 'number' ? now() + offset : offset
  google.service.on('beforeTokenSigning', (token: { payload: Claims }) =>
    Object.assign(token.payload, { ...claims, ...(offset !== undefined && { auth_time }) }),
  )
  const page = await browser.open(startUrl(service, 'google'))
  const gone = await browser.step(linksOf(page)[0] ?? '')
  const { searchParams } = new URL(gone.headers.get('location') ?? '')
  expect([searchParams.get('prompt'), searchParams.get('max_age')]).toEqual(['login', '0'])
  const answered = await browser.step(gone.headers.get('location') ?? '')
  const back = await browser.step(answered.headers.get('location') ?? '', { accept: 'application/json' })
  expect(back.status).toBe(counts ? 303 : 400)
  const made = await service.api.as({ cookie }).post('/v1/accounts/me/api-keys', { name: 'Mine' })
  expect(made.status).toBe(counts ? 201 : 403)
})

test.each([
  ['none', { alg: 'none' }],
  ['HS256', { alg: 'HS256', kid: 'x' }],
  ['RS256 by a key of another party', { alg: 'RS256' }],
  ['RS256 by an unknown key', { alg: 'RS256', kid: 'unknown' }],
])('an ID token signed with %s is refused', async (_what, header) => {
  const [key] = google.issuer.keys.toJSON()
  const withKey = 'kid' in header ? header : { ...header, kid: key?.kid }
  const { page, error } = await signInWith(claimsOf(), (answer) => {
    if (answer.body !== '') answer.body.id_token = forge(String(answer.body.id_token), withKey)
  })
  expect([page.status, error]).toEqual([400, 'invalid_request'])
})

test.each([false, 'true', 'false', 1, null, undefined])(
  'email_verified: %j verifies nothing and links nothing',
  async (verified) => {
    const owner = claimsOf()
    const known = await me(service, (await signInWith(owner)).cookie)
    google.service.removeAllListeners()
    const stranger = await me(service, (await signInWith({ ...owner, sub: `${owner.sub}-2`, email_verified: verified })).cookie)
    expect(stranger.id).not.toBe(known.id)
    expect(stranger).toMatchObject({ email: null, identities: [{ email_verified: false }] })
  },
)

test.each(['not an address', 'two@at@signs', 'line\nbreak@example.com', `${'a'.repeat(400)}@example.com`, 17])(
  'the e-mail %j counts as none',
  async (email) => {
    expect((await me(service, (await signInWith({ ...claimsOf(), email })).cookie)).email).toBe(null)
  },
)

test('an address beyond ASCII is verified like any other, and is the same only letter by letter', async () => {
  const rest = newPerson().email
  const ids = new Set<string>()
  for (const first of ['k', '\u212a', '\u00fc', '\u00dc']) {
    const email = `${first}im${rest}`
    const account = await me(service, (await signInWith({ ...claimsOf(), sub: email, email })).cookie)
    google.service.removeAllListeners()
    expect(account).toMatchObject({ email, identities: [{ email, email_verified: true }] })
    ids.add(account.id)
  }
  expect(ids.size).toBe(4)
  const again = await signInWith({ ...claimsOf(), sub: `another ${rest}`, email: `\u00fcim${rest}` })
  google.service.removeAllListeners()
  expect(ids).toContain((await me(service, again.cookie)).id)
})

test('an address that the provider no longer verifies is removed from the account at the next sign-in', async () => {
  const claims = claimsOf()
  await signInWith(claims)
  google.service.removeAllListeners()
  const { cookie } = await signInWith({ ...claims, email: newPerson().email.toUpperCase() })
  expect((await me(service, cookie)).email).not.toBe(claims.email)
  google.service.removeAllListeners()
  expect((await me(service, (await signInWith({ ...claims, email_verified: false })).cookie)).email).toBe(null)
})

test.each<[string, (answer: TokenAnswer) => void, number, string]>([
  [
    'refuses the code',
    (answer) => Object.assign(answer, { statusCode: 400, body: { error: 'invalid_grant' } }),
    400,
    'invalid_request',
  ],
  [
    'refuses our client',
    (answer) => Object.assign(answer, { statusCode: 401, body: { error: 'invalid_client' } }),
    502,
    'provider_error',
  ],
  ['leaves the ID token out', (answer) => answer.body !== '' && delete answer.body.id_token, 502, 'provider_error'],
  [
    'answers with something else',
    (answer) => answer.body !== '' && Object.assign(answer.body, { id_token: 'x' }),
    400,
    'invalid_request',
  ],
])('a provider that %s is recognised', async (_what, alter, status, code) => {
  const { page, error } = await signInWith(claimsOf(), alter)
  expect([page.status, error]).toEqual([status, code])
})

test('a rotated signing key is found', async () => {
  await google.issuer.keys.generate('RS256', { kid: 'rotated' })
  const { page } = await signInWith(claimsOf())
  const second = await signInWith(claimsOf())
  expect([page.status, second.page.status]).toEqual([303, 303])
})

test('nothing that a provider or a browser sent is in a log line, an audit row or an event', async () => {
  const seen: string[] = []
  const { callback, browser, cookie } = await signInWith(claimsOf(), (answer) => {
    if (answer.body !== '') seen.push(String(answer.body.id_token), String(answer.body.access_token))
  })
  await signInWith({ ...claimsOf(), nonce: 'canary-nonce' })
  const query = new URL(callback).searchParams
  seen.push(
    query.get('code') ?? '',
    query.get('state') ?? '',
    cookie,
    browser.cookies.get('service_flow') ?? '',
    'canary-nonce',
    'our-secret',
  )
  const { db } = service.deps
  const rows = await db.query<{ text: string }>('select row_to_json(a)::text as text from audit_log a')
  const events = await db.query<{ text: string }>('select row_to_json(e)::text as text from events e')
  const flows = await db.query<{ text: string }>('select row_to_json(f)::text as text from sign_in_flows f')
  const everything = [...service.log, ...[...rows, ...events, ...flows].map(({ text }) => text)].join('\n')
  expect(seen.every((secret) => secret.length > 8)).toBe(true)
  for (const secret of seen) expect(everything).not.toContain(secret)
})

test('a sign-in leaves an audit row with who, from where and what, and so does a refused one', async () => {
  const { cookie } = await signInWith(claimsOf())
  const { id } = await me(service, cookie)
  const { db } = service.deps
  const rows = await db.query<{ action: string; credential_kind: string; ip: string; request_id: string }>(
    `select a.action, a.credential_kind, a.ip, a.request_id from audit_log a join identities i on i.account_id = a.account_id
     where i.account_id = (select account_id from identities order by id desc limit 1) order by a.id`,
  )
  expect(id).toMatch(/^acc_/)
  expect(rows.map((row) => row.action)).toEqual(['identity.link', 'session.create'])
  expect(rows[0]).toMatchObject({ credential_kind: 'sign_in:google', ip: expect.any(String), request_id: expect.any(String) })
  google.service.removeAllListeners()
  await signInWith({ ...claimsOf(), aud: 'another' })
  const [last] = await db.query<{ action: string; after: { reason: string } }>(
    'select action, after from audit_log order by id desc limit 1',
  )
  expect(last).toMatchObject({ action: 'sign_in.refused', after: { reason: expect.stringContaining('ID token') } })
})

test('a provider that cannot be reached is a 502 that says so, on a start and on a return', async () => {
  const gone = await startService({
    env: { GOOGLE_ISSUER: 'http://127.0.0.1:9', GOOGLE_CLIENT_ID: 'c', GOOGLE_CLIENT_SECRET: 's' },
  })
  try {
    const answer = await gone.api.get('/v1/auth/google/start', { headers: { accept: 'application/json' } })
    expect([answer.status, answer.body.error]).toEqual([502, 'provider_error'])
  } finally {
    await gone.close()
  }
})
