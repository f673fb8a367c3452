import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createBrowser } from '../harness/browser.ts'
import { newWallet, type Person, prove, signIn } from '../harness/people.ts'
import type { TestService } from '../harness/service.ts'
import { type Administered, startAdministered } from './administrators.ts'

let service: TestService
let wallets: Administered['wallets']
let admin: Person
let subject: Person
beforeAll(async () => {
  const administered = await startAdministered()
  ;({ service, wallets } = administered)
})
beforeEach(async () => {
  admin = await unasked(wallets[0])
  subject = await unasked()
})
afterAll(() => service.close())

/** A person whose session is not proven again automatically. */
const unasked = async (wallet?: Person['wallet']): Promise<Person> => {
  const person = await signIn(service.api, wallet)
  return { ...person, api: service.api.as({ cookie: person.cookie }) }
}
const json = { accept: 'application/json' }
const minutes = (count: number) => service.clock.advance(count * 60)
const freeze = (by: Person['api'], status = 'frozen') =>
  by.patch(`/v1/admin/accounts/${subject.accountId}`, { status, reason: 'a test' })

test("an administrator's act needs a proof from the last ten minutes; reading needs none, and others learn nothing of it", async () => {
  minutes(9)
  expect((await freeze(admin.api)).status).toBe(200)
  minutes(1)
  service.clock.advance(1)
  const refused = await freeze(admin.api, 'active')
  expect([refused.status, refused.body]).toMatchObject([
    403,
    { error: 'step_up_required', details: { max_age_seconds: 600, proven_at: expect.stringMatching(/Z$/) } },
  ])
  const shown = await admin.api.get(`/v1/admin/accounts/${subject.accountId}`)
  expect([shown.status, shown.body.status]).toEqual([200, 'frozen'])
  expect((await freeze(subject.api)).body.error).toBe('admin_required')
  expect((await freeze(service.api)).status).toBe(401)
})

test('no act of an administrator is possible with an old proof', async () => {
  minutes(11)
  const acts = service.routes.filter(({ path, method }) => path.startsWith('/v1/admin/') && method !== 'GET')
  expect(acts.length).toBeGreaterThan(8)
  for (const { method, path } of acts) {
    const answer = await admin.api.call(method, path.replace(':id', subject.accountId), { body: {} })
    expect([path, answer.status, answer.body.error]).toEqual([path, 403, 'step_up_required'])
  }
})

test('a method that the account has proves the session again, with the tokens that it issued, and no other session', async () => {
  const other = await unasked(wallets[0])
  const token = (await admin.api.post('/v1/auth/dashboard-tokens')).body.token
  minutes(11)
  const page = service.api.as({ bearer: token })
  expect((await freeze(page)).body.error).toBe('step_up_required')
  const proven = await prove(admin)
  expect([proven.status, proven.body.outcome]).toEqual([200, 'already_linked'])
  expect((await freeze(admin.api)).status).toBe(200)
  expect((await freeze(page, 'active')).status).toBe(200)
  expect((await freeze(other.api)).body.error).toBe('step_up_required')
  // A new session is a new proof.
  expect((await freeze((await signIn(service.api, wallets[0])).api)).status).toBe(200)
})

test('a stolen session cannot prove itself with a wallet of its own', async () => {
  const thief = newWallet()
  minutes(11)
  const refused = await prove({ api: admin.api, wallet: thief })
  expect([refused.status, refused.body.error]).toEqual([403, 'step_up_required'])
  expect((await freeze(admin.api)).body.error).toBe('step_up_required')
  expect((await service.api.get('/v1/accounts/me', { cookie: admin.cookie })).body.identities).toHaveLength(1)
  // After a proof by its own wallet, the person may add another one.
  await prove(admin)
  expect((await prove({ api: admin.api, wallet: thief })).body.outcome).toBe('linked')
})

test("an administrator's session ends after twelve hours, with the tokens that it issued; another person's goes on", async () => {
  minutes(12 * 60 - 5)
  const token = (await admin.api.post('/v1/auth/dashboard-tokens')).body.token
  const page = service.api.as({ bearer: token })
  expect([(await admin.api.get('/v1/admin/accounts')).status, (await page.get('/v1/admin/accounts')).status]).toEqual([200, 200])
  const { authorization_url: begun } = (await admin.api.get('/v1/auth/google/start', { headers: json })).body
  const open = () => createBrowser({ service_session: admin.cookie }).step(begun, json)
  expect((await open()).status).toBeLessThan(400)
  minutes(5)
  expect((await open()).status).toBe(404)
  for (const api of [admin.api, page]) {
    const ended = await api.get('/v1/accounts/me')
    expect([ended.status, ended.body.error]).toEqual([401, 'token_expired'])
  }
  expect((await subject.api.get('/v1/accounts/me')).status).toBe(200)
  // The list of sessions says so too.
  const again = await signIn(service.api, admin.wallet)
  const [current, ...ended] = (await again.api.get('/v1/accounts/me/sessions')).body.data
  const end = new Date(service.clock.now().getTime() + 12 * 3_600_000).toISOString()
  expect([current.status, current.expires_at]).toEqual(['active', end])
  expect(ended[0].status).toBe('expired')
})
