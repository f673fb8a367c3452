import { expect, test } from 'vitest'
import { createBrowser } from '../../harness/browser.ts'
import { signIn } from '../../harness/people.ts'
import { openService } from '../../harness/service.ts'
import { continueWith, me, newPerson } from '../sign-in/providers.ts'

const service = await openService()

const link = (cookie: string, provider: 'google' | 'github', person = newPerson()) =>
  continueWith(service, provider, person, { browser: createBrowser({ service_session: cookie }) })

const unlink = async (cookie: string, provider: string) => {
  const { identities } = await me(service, cookie)
  const { id } = identities.find((identity: { provider: string }) => identity.provider === provider)
  return service.api.delete(`/v1/accounts/me/identities/${id}`, { cookie })
}

test("when the identity that verified the account's address is unlinked, the address becomes another identity's or none", async () => {
  const [google, github] = [newPerson(), newPerson()]
  const { cookie } = await signIn(service.api)
  await link(cookie, 'google', google)
  await link(cookie, 'github', github)
  expect((await me(service, cookie)).email).toBe(google.email)
  expect((await unlink(cookie, 'google')).status).toBe(200)
  expect((await me(service, cookie)).email).toBe(github.email)
  const wallet = await signIn(service.api)
  await link(wallet.cookie, 'google', google)
  expect((await me(service, wallet.cookie)).email).toBe(google.email)
  await unlink(wallet.cookie, 'google')
  expect((await me(service, wallet.cookie)).email).toBe(null)
})

test('an address that an account no longer has is free: its owner signs in to their own account', async () => {
  const person = newPerson()
  const wallet = await signIn(service.api)
  await link(wallet.cookie, 'google', person)
  await unlink(wallet.cookie, 'google')
  const owner = await continueWith(service, 'github', person)
  expect(owner.outcome).toBe('account_created')
  expect((await me(service, owner.cookie)).email).toBe(person.email)
})

test('the address stays while another identity has verified it', async () => {
  const person = newPerson()
  const { cookie } = await signIn(service.api)
  await link(cookie, 'google', person)
  await link(cookie, 'github', { ...person, email: person.email.toUpperCase() })
  await unlink(cookie, 'google')
  expect((await me(service, cookie)).email).toBe(person.email)
})

test('an address of another account is not taken when an identity is unlinked', async () => {
  const [own, shared] = [newPerson(), newPerson()]
  const owner = await continueWith(service, 'google', shared)
  const { cookie } = await signIn(service.api)
  await link(cookie, 'google', own)
  await link(cookie, 'github', shared)
  await unlink(cookie, 'google')
  expect((await me(service, cookie)).email).toBe(null)
  expect((await me(service, owner.cookie)).email).toBe(shared.email)
})

test('of two accounts that could get a freed address at once, one gets it', async () => {
  for (let round = 0; round < 4; round += 1) {
    const shared = newPerson()
    const holder = await continueWith(service, 'google', shared)
    await link(holder.cookie, 'github')
    const others = await Promise.all([signIn(service.api), signIn(service.api)])
    await link(others[0]?.cookie ?? '', 'github', shared)
    const [first, second] = await Promise.all([
      unlink(holder.cookie, 'google'),
      link(others[1]?.cookie ?? '', 'google', { ...shared, email: shared.email }),
    ])
    expect(first.status).toBe(200)
    expect([303, 409]).toContain(second.response.status)
    const rows = await service.deps.db.query('select from accounts where lower(email) = lower($1)', [shared.email])
    expect(rows.length).toBeLessThanOrEqual(1)
  }
})

test('an administrator is named by any verified address of the account, and by no other', async () => {
  const [first, named] = [newPerson(), newPerson()]
  const administered = await openService({
    database: service.database,
    clock: service.clock,
    env: { ADMIN_ACCOUNTS: named.email },
  })
  const isAdmin = async (cookie: string) => (await administered.api.get('/v1/admin/accounts', { cookie })).status === 200
  const stranger = await continueWith(administered, 'google', { ...named, verified: false })
  expect(await isAdmin(stranger.cookie)).toBe(false)
  const { browser, cookie } = await continueWith(administered, 'google', first)
  expect(await isAdmin(cookie)).toBe(false)
  await continueWith(administered, 'github', { ...named, email: named.email.toUpperCase() }, { browser })
  expect([(await me(administered, cookie)).email, await isAdmin(cookie)]).toEqual([first.email, true])
})

test('an address that a mail server rejected is shown as rejected, although a method with it was linked later', async () => {
  const person = newPerson()
  const { browser, cookie } = await continueWith(service, 'google', person)
  await service.deps.db.query('update identities set mail_refused_at = $2 where email = $1', [person.email, service.clock.now()])
  await continueWith(service, 'github', person, { browser })
  const { body } = await service.api.get('/v1/accounts/me/notification-settings', { cookie })
  expect(body.addresses).toEqual([{ email: person.email, refused_at: service.clock.now().toISOString() }])
})

test('an address that a mail server rejected is forgotten once its sign-in method has another one', async () => {
  const person = newPerson()
  const { browser, cookie } = await continueWith(service, 'google', person)
  const addresses = async (session: string) =>
    (await service.api.get('/v1/accounts/me/notification-settings', { cookie: session })).body.addresses
  const rejected = async (email: string) => {
    await service.deps.db.query('update identities set email = $2, mail_refused_at = $3 where email = $1', [
      person.email,
      email,
      service.clock.now(),
    ])
    browser.cookies.delete('service_session')
    return addresses((await continueWith(service, 'google', person, { browser })).cookie)
  }
  expect(await addresses(cookie)).toEqual([{ email: person.email, refused_at: null }])
  // The same address in other letters stays rejected.
  expect(await rejected(person.email.toUpperCase())).toEqual([
    { email: person.email, refused_at: service.clock.now().toISOString() },
  ])
  expect(await rejected(newPerson().email)).toEqual([{ email: person.email, refused_at: null }])
})
