import { beforeEach, describe, expect, test } from 'vitest'
import { addPasskey, newAuthenticator } from '../../harness/authenticator.ts'
import { createBrowser, linksOf } from '../../harness/browser.ts'
import type { Client } from '../../harness/client.ts'
import { createKey, newWallet, type Person, prove, signIn, walletMessage } from '../../harness/people.ts'
import { openService } from '../../harness/service.ts'
import { choose, continueWith, newPerson } from '../sign-in/providers.ts'

const service = await openService({ env: { RATE_LIMIT_ENABLED: 'false' } })
const site = service.deps.config.publicUrl

/** A client without the proof that a person would give when asked. */
const raw = ({ cookie }: Pick<Person, 'cookie'>): Client => service.api.as({ cookie })
const minutes = (count: number) => service.clock.advance(count * 60)
const makeKey = (api: Client) => api.post('/v1/accounts/me/api-keys', { name: 'Mine' })
const refused = { status: 403, body: { error: 'step_up_required' } }

const options = (api: Client) => api.post('/v1/auth/proof/options')
const proveBy = async (api: Client, passkey: ReturnType<typeof newAuthenticator>) =>
  api.post('/v1/auth/proof', { passkey: passkey.answer((await options(api)).body.challenge) })
const link = async (api: Client, wallet = newWallet()) => {
  const message = await walletMessage(api, wallet)
  const body = { provider: 'wallet', message, signature: await wallet.signMessage({ message }) }
  return { wallet, answer: await api.post('/v1/accounts/me/identities', body) }
}

let person: Person
let session: Client
beforeEach(async () => {
  person = await signIn(service.api)
  session = raw(person)
})

describe('an old session', () => {
  test('is proven by the wallet that began it for ten minutes more, keeps its cookie, and proves no other session', async () => {
    const other = raw(await signIn(service.api, person.wallet))
    minutes(11)
    expect(await makeKey(session)).toMatchObject(refused)
    expect((await prove({ api: session, wallet: person.wallet })).body).toMatchObject({
      outcome: 'already_linked',
      session: null,
    })
    expect((await makeKey(session)).status).toBe(201)
    expect(await makeKey(other)).toMatchObject(refused)
    minutes(9)
    expect((await makeKey(session)).status).toBe(201)
    minutes(1)
    expect((await makeKey(session)).status).toBe(201)
    service.clock.advance(1)
    expect(await makeKey(session)).toMatchObject(refused)
  })

  test('is proven by a method that was added before it began, and not by one that was added since', async () => {
    const added = await link(session)
    expect(added.answer.status).toBe(201)
    minutes(11)
    expect((await prove({ api: session, wallet: added.wallet })).body.outcome).toBe('already_linked')
    expect(await makeKey(session)).toMatchObject(refused)
    const later = raw(await signIn(service.api, person.wallet))
    minutes(11)
    expect(await makeKey(later)).toMatchObject(refused)
    await prove({ api: later, wallet: added.wallet })
    expect((await makeKey(later)).status).toBe(201)
  })

  test('is not proven by a method that a key linked before it began, unless it began with that method', async () => {
    const key = await createKey({ api: session }, { permissions: ['account.read', 'account.manage'] })
    const { wallet } = await link(key.api)
    minutes(1)
    const later = raw(await signIn(service.api, person.wallet))
    const ofKey = raw(await signIn(service.api, wallet))
    minutes(11)
    for (const api of [later, ofKey])
      expect((await prove({ api, wallet })).body).toMatchObject({ outcome: 'already_linked', session: null })
    expect(await makeKey(later)).toMatchObject(refused)
    expect((await makeKey(ofKey)).status).toBe(201)
    await prove({ api: later, wallet: person.wallet })
    expect((await makeKey(later)).status).toBe(201)
  })

  test('links no wallet that is new, says 409 of one on another account, and 200 of its own', async () => {
    const stranger = await signIn(service.api)
    minutes(11)
    expect((await link(session)).answer).toMatchObject(refused)
    expect((await link(session, stranger.wallet)).answer).toMatchObject({ status: 409, body: { error: 'conflict' } })
    expect(await makeKey(session)).toMatchObject(refused)
    expect((await link(session, person.wallet)).answer.status).toBe(200)
    expect((await link(session)).answer.status).toBe(201)
  })

  test.each(['/v1/accounts/me/identities', '/v1/auth/wallet/verify'])(
    'is asked for the proof before the signed message is used up: after the proof %s accepts the same one',
    async (path) => {
      minutes(11)
      const wallet = newWallet()
      const message = await walletMessage(session, wallet)
      const signed = { message, signature: await wallet.signMessage({ message }) }
      const send = () => session.post(path, path.endsWith('verify') ? signed : { provider: 'wallet', ...signed })
      for (const answer of [await send(), await send()]) {
        expect(answer).toMatchObject(refused)
        expect(answer.body.message).toContain('not linked to the account')
      }
      await prove({ api: session, wallet: person.wallet })
      expect([200, 201]).toContain((await send()).status)
      expect((await session.get('/v1/accounts/me/identities')).body.data).toHaveLength(2)
    },
  )

  test.each(['google', 'github'] as const)('is asked for the proof before it is sent to %s for a new link', async (provider) => {
    minutes(11)
    const start = () => session.post('/v1/accounts/me/identities', { provider })
    expect(await start()).toMatchObject(refused)
    // Proving a session by a provider stays possible, and its page says that nothing is linked.
    const options = { headers: { accept: 'application/json' } }
    const page = async () => {
      const { body } = await session.get(`/v1/auth/${provider}/start`, options)
      return session.get(new URL(body.authorization_url).pathname, { headers: { accept: 'text/html' } })
    }
    const asked = (await page()).text
    expect(asked).toContain(`Confirm with ${provider === 'google' ? 'Google' : 'GitHub'}`)
    expect(asked).not.toContain('will be linked')
    await prove({ api: session, wallet: person.wallet })
    expect((await start()).status).toBe(202)
    expect((await page()).text).toContain('will be linked to')
    // A linked provider proves the session by the same route, however old the proof is.
    const { cookie } = await continueWith(service, provider, newPerson())
    minutes(11)
    expect((await raw({ cookie }).post('/v1/accounts/me/identities', { provider })).status).toBe(202)
  })

  test('of before this rule, which says only by which method it lives, is proven by that', async () => {
    await service.deps.db.query('update sessions set began_by_identity_id = null')
    minutes(11)
    await prove({ api: session, wallet: person.wallet })
    expect((await makeKey(session)).status).toBe(201)
  })
})

describe.each(['google', 'github'] as const)('a proof at %s', (provider) => {
  const identity = newPerson()
  const chrome = 'Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/120.0 Safari/537.36'
  /** An old session of a person who signs in there, and the page that this session's request leads to. */
  const begin = async () => {
    const { cookie, browser } = await continueWith(service, provider, identity)
    const session = raw({ cookie })
    minutes(11)
    const headers = { accept: 'application/json', 'user-agent': chrome }
    const { body } = await session.get(`/v1/auth/${provider}/start?return_to=/account`, { headers })
    return { browser, session, page: body.authorization_url as string }
  }
  const isProven = async (api: Client) => (await makeKey(api)).status === 201

  test('says what is confirmed, has the person sign in there again, and proves the session of that browser', async () => {
    const { browser, session, page } = await begin()
    const asked = await browser.open(page)
    const day = service.clock.now().toISOString().slice(0, 10)
    expect(asked.html).toMatch(
      new RegExp(`You confirm the session of .* at the address (127.0.0.1|::1).*, signed in since ${day}`),
    )
    expect(asked.html).toMatch(new RegExp(`requested on ${day} .* from Chrome on Windows at the address (127.0.0.1|::1)`))
    const gone = await browser.step(linksOf(asked)[0] ?? '')
    const { searchParams } = new URL(gone.headers.get('location') ?? '')
    // Neither provider documents `prompt=login`: Google may reject it.
    const maxAge = provider === 'google' ? '0' : null
    expect([searchParams.get('prompt'), searchParams.get('max_age')]).toEqual(['select_account', maxAge])
    const there = await browser.open(gone.headers.get('location') ?? '')
    const back = await browser.step((await browser.step(choose(there, identity))).headers.get('location') ?? '')
    expect(back.headers.get('location')).toBe('/account?outcome=already_linked')
    expect(await isProven(session)).toBe(true)
  })

  test('is refused in every browser without the cookie of the session, at each step, and nothing is proven', async () => {
    const stranger = { service_session: (await signIn(service.api)).cookie }
    const sameAccount = { service_session: (await continueWith(service, provider, identity)).cookie }
    const foreign: Record<string, string>[] = [{}, stranger, sameAccount]
    for (const cookies of foreign) {
      const { browser, session, page } = await begin()
      const other = createBrowser(cookies)
      const shown = await other.open(page)
      expect([shown.status, shown.html]).toEqual([400, expect.stringContaining('another browser')])
      expect(linksOf(shown).filter((href) => href.includes('/link/'))).toEqual([])
      // With the browser's other cookies, as if the page had been opened there before the session's cookie changed.
      const on = linksOf(await browser.open(page))[0] ?? ''
      const without = createBrowser({ ...Object.fromEntries(browser.cookies), service_session: '', ...cookies })
      expect((await without.step(on)).status).toBe(400)
      const there = await browser.open((await browser.step(on)).headers.get('location') ?? '')
      const callback = (await browser.step(choose(there, identity))).headers.get('location') ?? ''
      expect((await without.step(callback)).status).toBe(400)
      expect((await browser.step(callback)).status).toBe(400)
      expect(await isProven(session)).toBe(false)
    }
  })

  test('is not given by a link that began while the session was proven: nobody signed in there again', async () => {
    const { cookie, browser } = await continueWith(service, provider, identity)
    const session = raw({ cookie })
    minutes(5)
    expect((await continueWith(service, provider, identity, { browser })).outcome).toBe('already_linked')
    minutes(6)
    expect(await isProven(session)).toBe(false)
  })

  test('begun with a dashboard token needs the cookie of its session as well', async () => {
    const { cookie, browser } = await continueWith(service, provider, identity)
    const session = raw({ cookie })
    const bearer = (await session.post('/v1/auth/dashboard-tokens')).body.token
    minutes(11)
    const start = async () => {
      const { body } = await service.api.as({ bearer }).post('/v1/accounts/me/identities', { provider })
      return body.authorization_url as string
    }
    expect((await createBrowser().open(await start())).status).toBe(400)
    expect((await browser.open(await start())).status).toBe(200)
  })
})

describe('a passkey', () => {
  test('that was added before the session began proves it', async () => {
    const { authenticator } = await addPasskey(person.api, site)
    minutes(1)
    const later = raw(await signIn(service.api, person.wallet))
    minutes(11)
    const asked = await options(later)
    expect([asked.status, asked.body]).toEqual([
      200,
      {
        challenge: expect.stringMatching(/^[\w-]{22}$/),
        timeout: 600_000,
        rpId: new URL(site).hostname,
        allowCredentials: [{ id: authenticator.id, type: 'public-key' }],
        userVerification: 'required',
      },
    ])
    const proven = await later.post('/v1/auth/proof', { passkey: authenticator.answer(asked.body.challenge) })
    expect([proven.status, proven.body]).toEqual([200, { proven_at: service.clock.now().toISOString() }])
    expect((await makeKey(later)).status).toBe(201)
    // The session that added it may be the thief's.
    expect((await options(session)).body.allowCredentials).toEqual([])
    expect(await proveBy(session, authenticator)).toMatchObject(refused)
    expect(await makeKey(session)).toMatchObject(refused)
  })

  test('of nobody, of another person, over another challenge, used before or without its user proves nothing, and leaves its trace', async () => {
    const { authenticator } = await addPasskey(person.api, site)
    const stranger = await addPasskey((await signIn(service.api)).api, site)
    minutes(1)
    const later = raw(await signIn(service.api, person.wallet))
    const another = raw(await signIn(service.api, person.wallet))
    minutes(11)
    const challenge = async (api = later) => (await options(api)).body.challenge
    const send = (passkey: unknown) => later.post('/v1/auth/proof', { passkey })
    const used = await challenge()
    expect((await send(authenticator.answer(used))).status).toBe(200)
    minutes(11)
    const attempts = [
      newAuthenticator(site).answer(await challenge()),
      stranger.authenticator.answer(await challenge()),
      authenticator.answer(await challenge(another)),
      authenticator.answer('AAAAAAAAAAAAAAAAAAAAAA'),
      authenticator.answer(used),
      authenticator.answer(await challenge(), { userVerified: false }),
      authenticator.answer(await challenge(), { origin: 'https://evil.example' }),
      authenticator.answer(await challenge(), { count: 1 }),
    ]
    for (const passkey of attempts)
      expect(await send(passkey)).toMatchObject({ status: 401, body: { error: 'invalid_signature' } })
    const spent = await challenge()
    await send(authenticator.answer(spent, { userVerified: false }))
    expect((await send(authenticator.answer(spent))).status).toBe(401)
    expect(await makeKey(later)).toMatchObject(refused)
    const traces = await service.deps.db.query<{ count: number }>(
      `select count(*)::int as count from audit_log where action = 'session.prove_refused'`,
    )
    expect(traces[0]?.count).toBeGreaterThan(8)
    expect(await send({ id: 'x' })).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
  })

  test('proves no session for a stranger, a key or nobody', async () => {
    const key = (await makeKey(session)).body.key
    expect((await options(service.api.as({ bearer: key }))).status).toBe(403)
    expect((await options(service.api)).status).toBe(401)
    expect((await service.api.post('/v1/auth/proof', {})).status).toBe(401)
  })
})
