import { describe, expect, test } from 'vitest'
import { createBrowser } from '../../harness/browser.ts'
import { openService, startService } from '../../harness/service.ts'
import { continueWith, me, newPerson, type Provider, startUrl } from './providers.ts'

const service = await openService({ env: { CORS_ORIGINS: 'https://app.example.com' } })

describe.each<Provider>(['google', 'github'])('%s', (provider) => {
  test('a first sign-in creates an account, later ones open it, each with its own session', async () => {
    const person = newPerson()
    const first = await continueWith(service, provider, person)
    expect(first.outcome).toBe('account_created')
    expect(first.response.status).toBe(303)
    expect(first.response.headers.get('location')).toBe('/account?outcome=account_created')
    expect(first.response.headers.get('cache-control')).toBe('no-store')
    const account = await me(service, first.cookie)
    expect(account).toMatchObject({ email: person.email, display_name: 'Somebody New' })
    expect(account.identities).toMatchObject([{ provider, email: person.email, email_verified: true }])
    const second = await continueWith(service, provider, person)
    expect(second.outcome).toBe('signed_in')
    expect(second.cookie).not.toBe(first.cookie)
    expect((await me(service, second.cookie)).id).toBe(account.id)
  })

  test('a person who declines returns to the page where they were, not signed in', async () => {
    const browser = createBrowser()
    const page = await browser.open(startUrl(service, provider, '/sign-in'))
    const cancel = /href="([^"]*error=access_denied[^"]*)"/.exec(page.html)?.[1]?.replaceAll('&amp;', '&') ?? ''
    const back = await browser.step(cancel)
    expect([back.status, back.headers.get('location')]).toEqual([303, '/sign-in?outcome=denied'])
    expect(browser.cookies.has('service_session')).toBe(false)
  })

  test('a program gets the address to send the browser to, and how long it is valid', async () => {
    const answer = await service.api.get(`/v1/auth/${provider}/start`, { headers: { accept: 'application/json' } })
    expect(answer.status).toBe(200)
    expect(Object.keys(answer.body).sort()).toEqual(['authorization_url', 'expires_at'])
    expect(new Date(answer.body.expires_at).getTime() - service.clock.now().getTime()).toBe(600_000)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    const url = new URL(answer.body.authorization_url)
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      state: expect.stringMatching(/^[\w-]{43}$/),
      redirect_uri: `${service.api.url}/v1/auth/${provider}/callback`,
    })
    const [cookie] = answer.headers.getSetCookie()
    expect(cookie).toMatch(/^service_flow=[\w-]{43}; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/)
  })

  test.each([
    '//evil.example',
    '/\\evil.example',
    '\\/evil.example',
    '/%2f%2fevil.example',
    '/%5cevil.example',
    '/%252f%252fevil.example',
    '/v1/auth/github/start',
    '/v1',
    '/V1/auth/logout',
    '/%76%31/auth/google/start',
    '/x/../v1/accounts/me',
    '/link/abc',
    '/link',
    '/./%2e%2e//evil.example',
    '/x/..%2flink/abc',
    '/x/%252e%252e%252fv1/auth/logout',
    '/x/.%2f..',
    '/x/..//evil.example',
    '/\tevil',
    ' /account',
    '/%E0%A4%A',
    'account',
    'https://evil.example/',
    'https://app.example.com.evil.example/',
    'https://app.example.com@evil.example/',
    'https://user@app.example.com/',
    'http://app.example.com/',
    'javascript:alert(1)',
    'data:text/html,x',
    '',
  ])('a sign-in never ends at %j', async (returnTo) => {
    const answer = await createBrowser().step(startUrl(service, provider, returnTo))
    expect(answer.status).toBe(400)
    expect(answer.headers.get('location')).toBe(null)
  })

  test.each([
    ['/account?tab=keys#top', '/account?tab=keys&outcome=account_created#top'],
    ['/consent?authorization=oaz_1&outcome=approved', '/consent?authorization=oaz_1&outcome=account_created'],
    ['https://app.example.com/done?x=1', 'https://app.example.com/done?x=1&outcome=account_created'],
  ])('a sign-in that began with return_to=%s returns to %s', async (returnTo, location) => {
    expect((await continueWith(service, provider, newPerson(), { returnTo })).location).toBe(location)
  })
})

test('one person by both providers has one account, matched by the verified address in any letter case', async () => {
  const person = newPerson()
  const google = await continueWith(service, 'google', person)
  const github = await continueWith(service, 'github', { ...person, email: person.email.toUpperCase() })
  expect([google.outcome, github.outcome]).toEqual(['account_created', 'signed_in'])
  const account = await me(service, github.cookie)
  expect(account.id).toBe((await me(service, google.cookie)).id)
  expect(account.identities.map((identity: { provider: string }) => identity.provider)).toEqual(['google', 'github'])
})

test('an address that the provider has not verified is neither matched nor taken', async () => {
  const owner = newPerson()
  const known = await continueWith(service, 'google', owner)
  const claimed = await continueWith(service, 'github', { ...owner, verified: false })
  expect(claimed.outcome).toBe('account_created')
  const account = await me(service, claimed.cookie)
  expect(account.id).not.toBe((await me(service, known.cookie)).id)
  expect(account).toMatchObject({ email: null, identities: [{ email: owner.email, email_verified: false }] })
})

test('an address that one account alone carries on an attached identity is that account’s, also when it is not its own e-mail', async () => {
  const [own, second] = [newPerson(), newPerson()]
  const account = await continueWith(service, 'google', own)
  await continueWith(service, 'github', second, { browser: createBrowser({ service_session: account.cookie }) })
  const other = await startService({ database: service.database, clock: service.clock })
  const result = await continueWith(service, 'google', second)
  await other.close()
  expect(result.outcome).toBe('signed_in')
  expect((await me(service, result.cookie)).id).toBe((await me(service, account.cookie)).id)
})

test('an address that two accounts carry, and neither has as its own, matches none', async () => {
  const shared = newPerson()
  for (const _ of [1, 2]) {
    const account = await continueWith(service, 'google', newPerson())
    const carried = { ...newPerson(), email: shared.email }
    await continueWith(
      service,
      'github',
      { ...carried, email: newPerson().email },
      { browser: createBrowser({ service_session: account.cookie }) },
    )
    await service.deps.db.query(
      `update identities set email = $1 where provider = 'github' and account_id = (select account_id from sessions order by created_at desc, id desc limit 1)`,
      [shared.email],
    )
  }
  const result = await continueWith(service, 'google', shared)
  expect(result.outcome).toBe('account_created')
  expect((await me(service, result.cookie)).email).toBe(shared.email)
})

test("an account that a stranger created with an unverified address is not opened by the address's owner", async () => {
  const victim = newPerson()
  const attacker = await continueWith(service, 'github', { ...victim, verified: false })
  const owner = await continueWith(service, 'google', victim)
  expect(owner.outcome).toBe('account_created')
  expect((await me(service, owner.cookie)).email).toBe(victim.email)
  expect((await me(service, attacker.cookie)).id).not.toBe((await me(service, owner.cookie)).id)
})

test('many concurrent first sign-ins of one person, by both providers, create one account', async () => {
  const other = await startService({ database: service.database, clock: service.clock })
  try {
    const person = newPerson()
    const result = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        continueWith(index % 2 ? service : other, index % 3 ? 'google' : 'github', person),
      ),
    )
    const ids = await Promise.all(result.map(async ({ cookie }) => (await me(service, cookie)).id))
    expect(new Set(ids).size).toBe(1)
    expect(result.filter(({ outcome }) => outcome === 'account_created')).toHaveLength(1)
  } finally {
    await other.close()
  }
})

test('without a configured provider its sign-in is 503, for starts and for links', async () => {
  const bare = await startService({ env: { PUBLIC_URL: 'https://pay.example.com' } })
  try {
    const start = await bare.api.get('/v1/auth/google/start')
    expect([start.status, start.body.error]).toEqual([503, 'provider_not_configured'])
    expect((await bare.api.get('/sandbox/identity/google/authorize')).status).toBe(404)
  } finally {
    await bare.close()
  }
})
