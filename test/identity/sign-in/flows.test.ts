import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createBrowser, linksOf } from '../../harness/browser.ts'
import { createKey, newWallet, type Person, signIn } from '../../harness/people.ts'
import { openService, startService } from '../../harness/service.ts'
import { callbackUrl, choose, continueWith, me, newPerson, startUrl } from './providers.ts'

const administrator = newWallet()
const service = await openService({ env: { CORS_ORIGINS: 'https://app.example.com', ADMIN_ACCOUNTS: administrator.address } })

const json = { accept: 'application/json' }
const browserOf = (person: Person) => createBrowser({ service_session: person.cookie })
const forget = async (url: string, headers = {}) => createBrowser().step(url, { ...json, ...headers })

describe('a flow belongs to the browser that began it', () => {
  test('another browser that returns with its answer is refused, and the right one may still finish it', async () => {
    const browser = createBrowser()
    const url = await callbackUrl(browser, startUrl(service, 'google'), newPerson())
    const stolen = await forget(url)
    expect([stolen.status, JSON.parse(stolen.html).error]).toEqual([400, 'invalid_request'])
    const otherwise = createBrowser({ service_flow: 'A'.repeat(43) })
    expect((await otherwise.step(url, json)).status).toBe(400)
    expect((await browser.step(url)).headers.get('location')).toBe('/account?outcome=account_created')
  })

  test('an answer is valid for one return, even if twenty come at once', async () => {
    const browser = createBrowser()
    const url = await callbackUrl(browser, startUrl(service, 'github'), newPerson())
    const answers = await Promise.all(Array.from({ length: 20 }, () => browser.step(url, json)))
    expect(answers.filter((answer) => answer.status === 303)).toHaveLength(1)
    expect(answers.filter((answer) => answer.status === 400)).toHaveLength(19)
    expect((await browser.step(url, json)).status).toBe(400)
  })

  test.each(['', 'state=', 'state=made-up&code=x', 'code=x', 'state=a&state=b&code=x'])(
    'a callback with ?%s is refused',
    async (query) => {
      const browser = createBrowser()
      await browser.open(startUrl(service, 'google'))
      const answer = await browser.step(`${service.api.url}/v1/auth/google/callback?${query}`, json)
      expect([answer.status, JSON.parse(answer.html).error]).toEqual([400, 'invalid_request'])
      expect(answer.headers.getSetCookie()).toEqual([])
    },
  )

  test("one provider's state is refused at the other's callback", async () => {
    const browser = createBrowser()
    const url = await callbackUrl(browser, startUrl(service, 'google'), newPerson())
    expect((await browser.step(url.replace('/google/', '/github/'), json)).status).toBe(400)
    expect((await browser.step(url, json)).status).toBe(303)
  })

  test('a code of another flow is refused: its verifier does not match', async () => {
    const browser = createBrowser()
    const mine = new URL(await callbackUrl(browser, startUrl(service, 'google'), newPerson()))
    const theirs = new URL(await callbackUrl(createBrowser(), startUrl(service, 'google'), newPerson()))
    mine.searchParams.set('code', theirs.searchParams.get('code') ?? '')
    const answer = await browser.step(mine.href, json)
    expect([answer.status, JSON.parse(answer.html).error]).toEqual([400, 'invalid_request'])
  })

  test('a flow ends after ten minutes', async () => {
    const browser = createBrowser()
    const url = await callbackUrl(browser, startUrl(service, 'github'), newPerson())
    service.clock.advance(600)
    expect((await browser.step(url, json)).status).toBe(400)
  })

  test('two flows in two tabs of one browser both succeed', async () => {
    const browser = createBrowser()
    const person = newPerson()
    const first = await callbackUrl(browser, startUrl(service, 'google', '/a'), person)
    const second = await callbackUrl(browser, startUrl(service, 'github', '/b'), person)
    expect((await browser.step(second)).headers.get('location')).toBe('/b?outcome=account_created')
    expect((await browser.step(first)).headers.get('location')).toBe('/a?outcome=signed_in')
  })

  test('a person gets a page in words, without script and in no frame', async () => {
    const response = await createBrowser().step(`${service.api.url}/v1/auth/google/callback?state=x&code=y`)
    expect(response.status).toBe(400)
    expect(response.headers.get('content-type')).toContain('text/html')
    expect(response.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'.*frame-ancestors 'none'$/,
    )
    expect(response.headers.get('x-frame-options')).toBe('DENY')
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.html).toContain('Start again')
  })
})

describe('a person who is signed in links', () => {
  test('a new identity is linked, one that is linked already changes nothing, and the session stays', async () => {
    const person = await signIn(service.api)
    const google = newPerson()
    const linked = await continueWith(service, 'google', google, { browser: browserOf(person) })
    expect([linked.outcome, linked.cookie]).toEqual(['linked', person.cookie])
    expect((await continueWith(service, 'google', google, { browser: browserOf(person) })).outcome).toBe('already_linked')
    expect((await continueWith(service, 'github', newPerson(), { browser: browserOf(person) })).outcome).toBe('linked')
    const account = await me(service, person.cookie)
    expect(account.email).toBe(google.email)
    expect(account.identities).toHaveLength(3)
    expect((await me(service, (await continueWith(service, 'google', google)).cookie)).id).toBe(person.accountId)
  })

  test("another account's identity is a conflict that reveals nothing about that account: JSON, or a page", async () => {
    const taken = newPerson()
    const owner = await me(service, (await continueWith(service, 'google', taken)).cookie)
    const person = await signIn(service.api)
    const page = await continueWith(service, 'google', taken, { browser: browserOf(person), returnTo: '/account?tab=x' })
    expect(page.response.status).toBe(409)
    expect(page.response.headers.get('content-type')).toContain('text/html')
    expect(linksOf(page.response)).toEqual([`${service.api.url}/account?tab=x`])
    const browser = browserOf(person)
    const answer = await browser.step(await callbackUrl(browser, startUrl(service, 'google'), taken), json)
    expect([answer.status, JSON.parse(answer.html).error]).toEqual([409, 'conflict'])
    for (const response of [page.response.html, answer.html]) {
      expect(response).not.toContain(owner.id)
      expect(response).not.toContain(taken.email)
    }
    expect((await me(service, person.cookie)).identities).toHaveLength(1)
  })

  test('an identity with the address of another account is linked to the person who is signed in, and the address does not move', async () => {
    const shared = newPerson()
    const owner = await continueWith(service, 'google', shared)
    const person = await signIn(service.api)
    expect((await continueWith(service, 'github', shared, { browser: browserOf(person) })).outcome).toBe('linked')
    expect((await me(service, person.cookie)).email).toBe(null)
    expect((await me(service, owner.cookie)).email).toBe(shared.email)
  })

  test('nothing is linked if the credential that began the link has ended', async () => {
    const person = await signIn(service.api)
    const browser = browserOf(person)
    const url = await callbackUrl(browser, startUrl(service, 'google'), newPerson())
    await person.api.post('/v1/auth/logout')
    const answer = await browser.step(url, json)
    expect([answer.status, JSON.parse(answer.html).error]).toEqual([401, 'invalid_token'])
    expect((await me(service, (await signIn(service.api, person.wallet)).cookie)).identities).toHaveLength(1)
  })

  test('one identity that many accounts link at once belongs to exactly one', async () => {
    const identity = newPerson()
    const people = await Promise.all(Array.from({ length: 8 }, () => signIn(service.api)))
    const result = await Promise.all(
      people.map((person) => continueWith(service, 'github', identity, { browser: browserOf(person) })),
    )
    expect(result.filter(({ outcome }) => outcome === 'linked')).toHaveLength(1)
    expect(result.filter(({ response }) => response.status === 409)).toHaveLength(7)
  })

  test('with a cookie that has ended, a person signs in anew; a wrong bearer is refused', async () => {
    const result = await continueWith(service, 'google', newPerson(), { browser: createBrowser({ service_session: 'stale' }) })
    expect(result.outcome).toBe('account_created')
    const answer = await service.api.get('/v1/auth/google/start', { bearer: `service_live_${'0'.repeat(64)}` })
    expect([answer.status, answer.body.error]).toEqual([401, 'invalid_token'])
  })

  test.each(['cross-site', 'same-site', 'same-origin', 'none'])(
    'a link that is begun by a %s navigation or request first shows a page that names the account',
    async (site) => {
      const person = await signIn(service.api)
      const response = await browserOf(person).step(startUrl(service, 'google'), { 'sec-fetch-site': site })
      expect(response.headers.get('location')).toMatch(`${service.api.url}/link/`)
      const fetched = await browserOf(person).step(startUrl(service, 'google'), {
        ...json,
        'sec-fetch-site': site,
        origin: 'https://app.example.com',
      })
      expect(JSON.parse(fetched.html).authorization_url).toMatch(`${service.api.url}/link/`)
    },
  )
})

describe("a link that the service's own page requests", () => {
  const ours = { 'sec-fetch-site': 'same-origin' }
  /** A signed-in browser, and its page's address for linking. */
  const askAs = async (person: Person, headers: Record<string, string>) => {
    const startAnswer = await person.api.post('/v1/accounts/me/identities', { provider: 'google' }, { headers })
    const [cookie = ''] = startAnswer.headers.getSetCookie()
    const [, secret] = /^service_flow=([^;]+)/.exec(cookie) ?? []
    const browser = createBrowser({ service_session: person.cookie, ...(secret && { service_flow: secret }) })
    return { startAnswer, browser, url: startAnswer.body.authorization_url as string }
  }
  const askFromPage = (person: Person) => askAs(person, { ...ours, origin: service.api.url })

  test('goes straight to the provider, and is linked to the account that requested it', async () => {
    const person = await signIn(service.api)
    const { browser, url } = await askFromPage(person)
    const gone = await browser.step(url, ours)
    expect([gone.status, gone.headers.get('location')]).toEqual([302, expect.stringContaining('/sandbox/identity/google/')])
    const provider = await browser.open(gone.headers.get('location') ?? '')
    const back = await browser.open((await browser.step(choose(provider, newPerson()))).headers.get('location') ?? '')
    expect(back.visited).toContain(`${service.api.url}/account?outcome=linked`)
    expect((await me(service, person.cookie)).identities).toHaveLength(2)
  })

  test.each(['cross-site', 'same-site', 'none'])('shows the page that names the account after a %s navigation', async (site) => {
    const { browser, url } = await askFromPage(await signIn(service.api))
    const response = await browser.step(url, { 'sec-fetch-site': site })
    expect([response.status, linksOf(response).length]).toEqual([200, 1])
    expect((await browser.step(linksOf(response)[0] ?? '')).status).toBe(302)
  })

  test('shows the page to another browser, which cannot continue from it', async () => {
    const { url } = await askFromPage(await signIn(service.api))
    for (const other of [createBrowser(), browserOf(await signIn(service.api))]) {
      const response = await other.step(url, ours)
      expect(response.status).toBe(200)
      for (const link of linksOf(response)) expect((await other.step(link, json)).status).toBe(404)
    }
  })

  test.each([
    ['a page of an allowed origin', { origin: 'https://app.example.com', 'sec-fetch-site': 'cross-site' }],
    ['a program with the cookie', {}],
  ])('shows the page if %s requested it', async (_who, headers) => {
    const { startAnswer, browser, url } = await askAs(await signIn(service.api), headers)
    expect(startAnswer.status).toBe(202)
    expect((await browser.step(url, ours)).status).toBe(200)
  })

  test('never skips the page after a navigation to the start, from any site', async () => {
    const browser = browserOf(await signIn(service.api))
    const started = await browser.step(startUrl(service, 'google'), ours)
    expect((await browser.step(started.headers.get('location') ?? '', ours)).status).toBe(200)
  })
})

describe('a link begun with a bearer', () => {
  const linkOf = async (bearer: string) =>
    (await service.api.get('/v1/auth/google/start', { bearer, headers: json })).body.authorization_url as string

  const managingKey = (person: Person) => createKey(person, { permissions: ['account.read', 'account.manage', 'key.manage'] })

  test("shows a page that names the account, sets the browser's cookie and then continues to the provider", async () => {
    const person = await signIn(service.api)
    await person.api.patch('/v1/accounts/me', { display_name: 'Rent & <b>Sons</b>' })
    const url = await linkOf((await managingKey(person)).key)
    expect(url).toMatch(new RegExp(`^${service.api.url}/link/[\\w-]{43}$`))
    const browser = createBrowser()
    const page = await browser.open(url)
    expect(page.status).toBe(200)
    expect(page.html).toContain(person.accountId)
    expect(page.html).toContain('Rent &amp; &lt;b&gt;Sons&lt;/b&gt;')
    expect(browser.cookies.get('service_flow')).toMatch(/^[\w-]{43}$/)
    const provider = await browser.open(linksOf(page)[0] ?? '')
    expect(provider.url).toContain('/sandbox/identity/google/authorize')
    const identity = newPerson()
    const answer = (await browser.step(choose(provider, identity))).headers.get('location') ?? ''
    const back = await browser.step(answer)
    expect(back.headers.get('location')).toBe('/account?outcome=linked')
    expect(browser.cookies.has('service_session')).toBe(false)
    expect((await me(service, person.cookie)).identities).toMatchObject([
      { provider: 'wallet' },
      { provider: 'google', email: identity.email },
    ])
  })

  test('the explicit endpoint does the same: 202, no address of the page in the database or a replay, and no more access', async () => {
    const person = await signIn(service.api)
    const body = { provider: 'github', return_to: '/account' }
    const answer = await person.api.post('/v1/accounts/me/identities', body, { key: 'flow-1' })
    expect([answer.status, Object.keys(answer.body).sort()]).toEqual([202, ['authorization_url', 'expires_at']])
    const { authorization_url, ...rest } = answer.body
    const replay = await person.api.post('/v1/accounts/me/identities', body, { key: 'flow-1' })
    expect([replay.status, replay.headers.get('idempotency-replayed'), replay.body]).toEqual([202, 'true', rest])
    const stored = await service.deps.db.query<{ response: string }>('select response from idempotency_keys')
    expect(stored.map(({ response }) => response).join()).not.toContain(new URL(authorization_url).pathname)
    const refused = await person.api.post('/v1/accounts/me/identities', { provider: 'github', return_to: '//evil.example' })
    expect([refused.status, refused.body.details.fields[0].path]).toEqual([400, 'return_to'])
  })

  test('a wrong return_to is refused before the key is looked up', async () => {
    const person = await signIn(service.api)
    const post = (return_to: string) =>
      person.api.post('/v1/accounts/me/identities', { provider: 'github', return_to }, { key: 'flow-2' })
    expect((await post('/account')).status).toBe(202)
    expect((await post('/elsewhere')).status).toBe(409)
    const refused = await post('//evil.example')
    expect([refused.status, refused.body.details.fields[0].path]).toEqual([400, 'return_to'])
  })

  test('the page of one process leads on at another, which has a new key', async () => {
    const url = await linkOf((await managingKey(await signIn(service.api))).key)
    const browser = createBrowser()
    const link = linksOf(await browser.open(url))[0] ?? ''
    const { current } = service.deps.config.TOKEN_SECRETS ?? { current: { id: '', bytes: Buffer.alloc(0) } }
    const ring = `new:${randomBytes(32).toString('base64')},${current.id}:${current.bytes.toString('base64')}`
    const env = { TOKEN_SECRETS: ring, PUBLIC_URL: service.api.url }
    const rotated = await startService({ database: service.database, clock: service.clock, env })
    const answer = await browser.step(link.replace(service.api.url, rotated.api.url))
    await rotated.close()
    expect([answer.status, answer.headers.get('location')]).toEqual([302, expect.stringContaining('/sandbox/identity/google/')])
  })

  test('the page cannot be skipped, by any browser', async () => {
    const person = await signIn(service.api)
    const url = await linkOf((await managingKey(person)).key)
    const victim = createBrowser()
    await victim.open(startUrl(service, 'google'))
    expect((await victim.step(`${url}/continue`, json)).status).toBe(404)
    const own = linksOf(await createBrowser().open(url))[0] ?? ''
    expect((await victim.step(own, json)).status).toBe(404)
  })

  test('the page works for the first browser that continues from it', async () => {
    const person = await signIn(service.api)
    const url = await linkOf((await managingKey(person)).key)
    const first = createBrowser()
    const second = createBrowser()
    const [mine, theirs] = [linksOf(await first.open(url))[0] ?? '', linksOf(await second.open(url))[0] ?? '']
    expect((await first.step(mine)).status).toBe(302)
    expect((await second.step(theirs)).status).toBe(404)
    expect((await first.step(mine)).status).toBe(302)
  })

  test('a browser that is signed in to another account gets a page that says so, and cannot continue', async () => {
    const person = await signIn(service.api)
    const page = await browserOf(await signIn(service.api)).open(await linkOf((await managingKey(person)).key))
    expect(page.html).toContain('another account')
    expect(linksOf(page)).toEqual([])
  })

  test.each(['the page', 'the way on', 'the callback'])('a key that was revoked before %s links nothing', async (where) => {
    const person = await signIn(service.api)
    const key = await managingKey(person)
    const url = await linkOf(key.key)
    const browser = createBrowser()
    const revoke = () => person.api.delete(`/v1/accounts/me/api-keys/${key.id}`)
    if (where === 'the page') {
      await revoke()
      expect((await browser.open(url, json)).status).toBe(404)
      return
    }
    const [on = ''] = linksOf(await browser.open(url))
    if (where === 'the way on') {
      await revoke()
      expect((await browser.step(on, json)).status).toBe(404)
      return
    }
    const answer = (await browser.step(choose(await browser.open(on), newPerson()))).headers.get('location') ?? ''
    await revoke()
    expect((await browser.step(answer, json)).status).toBe(401)
    expect((await me(service, person.cookie)).identities).toHaveLength(1)
  })

  test('a key links nothing while it is frozen or the keys of its account are disabled', async () => {
    const person = await signIn(service.api)
    const key = await managingKey(person)
    const admin = await signIn(service.api, administrator)
    const keys = (api_keys: string) =>
      admin.api.patch(`/v1/admin/accounts/${person.accountId}`, { capabilities: { api_keys }, reason: 'a test' })
    const freeze = (frozen: boolean) => person.api.patch(`/v1/accounts/me/grants/${key.grantId}`, { frozen })
    const browser = createBrowser()
    const begin = async () => {
      const url = await linkOf(key.key)
      const [on = ''] = linksOf(await browser.open(url))
      const back = (await browser.step(choose(await browser.open(on), newPerson()))).headers.get('location') ?? ''
      return { url, back }
    }
    const [disabled, frozen] = [await begin(), await begin()]
    await keys('disabled')
    const answers = [await browser.open(disabled.url, json), await browser.step(disabled.back, json)]
    expect(answers.map(({ status }) => status)).toEqual([404, 401])
    await keys('active')
    await freeze(true)
    const refused = await browser.step(frozen.back, json)
    expect([refused.status, JSON.parse(refused.html).error]).toEqual([403, 'grant_frozen'])
    expect((await me(service, person.cookie)).identities).toHaveLength(1)
  })

  test('a credential without account.manage links nothing: 403 on every route', async () => {
    const person = await signIn(service.api)
    const key = await createKey(person)
    for (const path of ['/v1/auth/google/start', '/v1/auth/github/start']) {
      const answer = await key.api.get(path, { headers: json })
      expect([answer.status, answer.body.error, answer.body.details.required_permission]).toEqual([
        403,
        'forbidden',
        'account.manage',
      ])
    }
    expect((await key.api.post('/v1/accounts/me/identities', { provider: 'google' })).status).toBe(403)
    expect((await key.api.post('/v1/auth/wallet/verify', { message: 'x', signature: 'y' })).status).toBe(403)
    const [identity] = (await person.api.get('/v1/accounts/me/identities')).body.data
    expect((await key.api.delete(`/v1/accounts/me/identities/${identity.id}`)).status).toBe(403)
    const blind = await createKey(person, { permissions: ['topup.read'] })
    expect((await blind.api.get('/v1/accounts/me/identities')).body.details.required_permission).toBe('account.read')
    expect((await key.api.get('/v1/accounts/me/sessions')).status).toBe(403)
    expect((await key.api.delete('/v1/accounts/me/sessions/ses_01h455vb4pex5vsknk084sn02q')).status).toBe(403)
  })
})

test('a browser that used another name of this machine finishes under the name that is registered with the provider', async () => {
  const elsewhere = service.api.url.replace('localhost', '127.0.0.1')
  const result = await createBrowser().open(`${elsewhere}/v1/auth/google/start?return_to=/account`)
  expect(result.visited[1]).toBe(`${service.api.url}/v1/auth/google/start?return_to=/account`)
  const person = await signIn(service.api)
  const linking = await browserOf(person).step(`${elsewhere}/v1/auth/google/start`)
  expect(linking.headers.get('location')).toMatch(`${service.api.url}/link/`)
})

test('a page of another site that asks by script is sent to ask by itself, for no browser would keep the cookie', async () => {
  const headers = { ...json, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors', origin: 'https://app.example.com' }
  const answer = await service.api.get('/v1/auth/google/start?return_to=/account', { headers })
  expect(answer.body.authorization_url).toBe(`${service.api.url}/v1/auth/google/start?return_to=/account`)
  expect(answer.headers.getSetCookie()).toEqual([])
})

test('a frozen account can be signed in to as before, and gets no new sign-in method', async () => {
  const person = newPerson()
  const owner = await continueWith(service, 'google', person)
  await service.deps.db.query(`update accounts set status = 'frozen' where lower(email) = $1`, [person.email])
  expect((await continueWith(service, 'google', person)).outcome).toBe('signed_in')
  expect((await continueWith(service, 'github', person)).response.status).toBe(403)
  const linking = await createBrowser({ service_session: owner.cookie }).step(startUrl(service, 'github'), json)
  expect([linking.status, JSON.parse(linking.html).error]).toEqual([403, 'account_frozen'])
})

test('no sign-in opens a closed account', async () => {
  const person = newPerson()
  await continueWith(service, 'google', person)
  await service.deps.db.query(`update accounts set status = 'closed' where lower(email) = $1`, [person.email])
  for (const provider of ['google', 'github'] as const) {
    const result = await continueWith(service, provider, person)
    expect([result.response.status, result.cookie]).toEqual([403, ''])
  }
})

test('forwarded hosts change nothing', async () => {
  const answer = await service.api.get('/v1/auth/google/start', {
    headers: { ...json, 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https', forwarded: 'host=evil.example' },
  })
  expect(answer.text).not.toContain('evil.example')
})
