import { afterAll, beforeAll, expect, test } from 'vitest'
import { credit, newBeneficiary, shareBalance } from '../harness/money.ts'
import { createKey, type Person, signIn } from '../harness/people.ts'
import type { TestService } from '../harness/service.ts'
import { createTeam, join } from '../workspaces/team.ts'
import { startAdministered } from './administrators.ts'

let service: TestService
let admin: Person
beforeAll(async () => {
  ;({ service, admin } = await startAdministered())
})
afterAll(() => service.close())

const noSuchAccount = 'acc_01h455vb4pex5vsknk084sn02q'
const at = (person: Pick<Person, 'accountId'>) => `/v1/admin/accounts/${person.accountId}`

test('an account is found by its id, its e-mail and its wallet, in any letter case', async () => {
  const person = await signIn(service.api)
  await service.deps.db.query(
    `insert into identities (id, account_id, provider, issuer, subject, subject_key, email, email_verified, created_at)
     select gen_random_uuid(), account_id, 'google', 'https://accounts.google.com', 'g-1', 'g-1', 'Amina@Example.com', true, now() from identities where subject = $1`,
    [person.wallet.address],
  )
  const { wallet } = person
  for (const query of [`id=${person.accountId}`, 'email=amina@example.COM', `wallet_address=${wallet.address.toLowerCase()}`]) {
    const { status, body } = await admin.api.get(`/v1/admin/accounts?${query}`)
    expect([query, status, body.data.map(({ id }: { id: string }) => id)]).toEqual([query, 200, [person.accountId]])
  }
  expect((await admin.api.get(`/v1/admin/accounts?id=${noSuchAccount}`)).body.data).toEqual([])
  const whole = await admin.api.get(at(person))
  expect(whole.body).toMatchObject({ id: person.accountId, status: 'active', is_admin: false, balance: { available_minor: '0' } })
  expect(whole.body.identities.map(({ provider }: { provider: string }) => provider).sort()).toEqual(['google', 'wallet'])
  expect((await admin.api.get(at(admin))).body.is_admin).toBe(true)
})

test('accounts are listed newest first, page by page', async () => {
  for (let count = 0; count < 3; count += 1) await signIn(service.api)
  const all = (await admin.api.get('/v1/admin/accounts?limit=100')).body.data.map(({ id }: { id: string }) => id)
  const first = await admin.api.get('/v1/admin/accounts?limit=2')
  const second = await admin.api.get(`/v1/admin/accounts?limit=2&cursor=${first.body.next_cursor}`)
  expect([...first.body.data, ...second.body.data].map(({ id }: { id: string }) => id)).toEqual(all.slice(0, 4))
})

test('a frozen account can read and stop things, but change nothing else; reactivated, it can again', async () => {
  const person = await signIn(service.api)
  const key = await createKey(person)
  const frozen = await admin.api.patch(at(person), { status: 'frozen', reason: 'suspicious sign-in' })
  expect([frozen.status, frozen.body.status]).toEqual([200, 'frozen'])
  const refused = await Promise.all([
    person.api.patch('/v1/accounts/me', { display_name: 'Other' }),
    person.api.post('/v1/workspaces', { name: 'Other' }),
    key.api.post('/v1/payments', {}),
  ])
  expect(refused.map(({ status, body }) => [status, body.error])).toEqual(Array(3).fill([403, 'account_frozen']))
  expect((await person.api.get('/v1/accounts/me')).body.status).toBe('frozen')
  expect((await person.api.delete(`/v1/accounts/me/api-keys/${key.id}`)).status).toBe(200)
  expect((await admin.api.patch(at(person), { status: 'active' })).status).toBe(200)
  expect((await person.api.patch('/v1/accounts/me', { display_name: 'Other' })).status).toBe(200)
})

test('a team with a balance of its own goes on without its owning account; the account alone is stopped', async () => {
  const team = await createTeam(service)
  await credit(service, team.id, 100_000n)
  const member = await join(service, team, 'admin')
  const payee = await newBeneficiary(member.api)
  const pay = ({ api }: Person) => api.post('/v1/payments', { beneficiary_id: payee, amount_minor: '1000' })
  await admin.api.patch(at(team.owner), { status: 'frozen' })
  expect((await pay(team.owner)).body.error).toBe('account_frozen')
  expect((await pay(member)).status).toBe(201)
  await admin.api.patch(at(team.owner), { status: 'active', capabilities: { payments: 'disabled', topups: 'disabled' } })
  expect((await pay(team.owner)).body.error).toBe('capability_disabled')
  expect((await pay(member)).status).toBe(201)
  const asked = { amount_minor: '10000', phone_number: '254722000001' }
  expect((await team.owner.api.post('/v1/topups/initiate', asked)).body.error).toBe('capability_disabled')
  expect((await member.api.post('/v1/topups/initiate', asked)).status).toBe(201)
})

test('the workspaces on the balance of a frozen account are stopped for their other members too, who cannot release them', async () => {
  const team = await createTeam(service)
  await shareBalance(service, team.id)
  const member = await join(service, team, 'admin')
  await admin.api.patch(at(team.owner), { status: 'frozen' })
  expect((await member.api.get('/v1/workspaces/current')).body.workspace.status).toBe('frozen')
  const write = await member.api.patch('/v1/workspaces/current', { name: 'Other' })
  expect([write.status, write.body.error]).toEqual([403, 'workspace_frozen'])
  await member.api.post('/v1/workspaces/current/unfreeze')
  expect((await member.api.get('/v1/workspaces/current')).body.workspace.status).toBe('frozen')
  await admin.api.patch(at(team.owner), { status: 'active' })
  expect((await member.api.patch('/v1/workspaces/current', { name: 'Other' })).status).toBe(200)
  const events = await service.deps.db.query<{ type: string }>(
    `select type from events where data->>'id' = $1 and type like 'workspace.%froze%' order by transaction, id`,
    [team.id],
  )
  expect(events.map(({ type }) => type)).toEqual(['workspace.frozen', 'workspace.unfrozen'])
})

test('closing an account ends its sessions, keys, grants and tokens with the next request, and no sign-in leads to it', async () => {
  const person = await signIn(service.api)
  const elsewhere = await signIn(service.api, person.wallet)
  const key = await createKey(person)
  const child = await createKey(key)
  const dashboard = service.api.as({ bearer: (await person.api.post('/v1/auth/dashboard-tokens')).body.token })
  const closed = await admin.api.patch(at(person), { status: 'closed', reason: 'asked for' })
  expect([closed.status, closed.body.status]).toEqual([200, 'closed'])
  for (const { api } of [person, elsewhere, key, child, { api: dashboard }])
    expect((await api.get('/v1/accounts/me')).status).toBe(401)
  await expect(signIn(service.api, person.wallet)).rejects.toThrow('403')
  // A reactivated account needs a new sign-in: its ended sessions stay ended.
  expect((await admin.api.patch(at(person), { status: 'active' })).status).toBe(200)
  for (const { api } of [person, key, child, { api: dashboard }]) expect((await api.get('/v1/accounts/me')).status).toBe(401)
  expect((await signIn(service.api, person.wallet)).accountId).toBe(person.accountId)
})

test('an account with money in it is not closed', async () => {
  const person = await signIn(service.api)
  const adjust = (direction: string) =>
    admin.api.post('/v1/admin/adjustments', { account_id: person.accountId, direction, amount_minor: '100', reason: 'test' })
  expect((await adjust('credit')).status).toBe(201)
  const refused = await admin.api.patch(at(person), { status: 'closed' })
  expect([refused.status, refused.body.error, refused.body.details.reason]).toEqual([409, 'conflict', 'balance'])
  expect((await adjust('debit')).status).toBe(201)
  expect((await admin.api.patch(at(person), { status: 'closed' })).status).toBe(200)
})

test('capabilities are switched one by one', async () => {
  const person = await signIn(service.api)
  const off = await admin.api.patch(at(person), { capabilities: { topups: 'disabled', oauth: 'disabled' } })
  expect(off.body.capabilities).toEqual({ topups: 'disabled', payments: 'active', api_keys: 'active', oauth: 'disabled' })
  const on = await admin.api.patch(at(person), { capabilities: { topups: 'active' } })
  expect(on.body.capabilities).toEqual({ topups: 'active', payments: 'active', api_keys: 'active', oauth: 'disabled' })
  expect((await person.api.get('/v1/accounts/me')).body.capabilities).toEqual(on.body.capabilities)
})

test('an administrator cannot freeze or close their own account', async () => {
  for (const status of ['frozen', 'closed']) {
    const answer = await admin.api.patch(at(admin), { status })
    expect([answer.status, answer.body.details.reason]).toEqual([409, 'self'])
  }
})

test('an administrator switches their own capabilities off, and never on', async () => {
  const off = await admin.api.patch(at(admin), { capabilities: { topups: 'disabled' } })
  expect(off.status).toBe(200)
  for (const body of [{ capabilities: { topups: 'active' } }, { capabilities: { topups: 'active', oauth: 'disabled' } }]) {
    const on = await admin.api.patch(at(admin), body)
    expect([on.status, on.body.error]).toEqual([403, 'separation_of_duties'])
  }
  expect((await admin.api.get(at(admin))).body.capabilities).toEqual(off.body.capabilities)
})

test('a request names known fields, and an account that exists', async () => {
  const person = await signIn(service.api)
  for (const body of [
    { status: 'gone' },
    { capabilities: { mining: 'active' } },
    { capabilities: { topups: 'on' } },
    { is_admin: true },
    { balance: '1' },
  ]) {
    expect((await admin.api.patch(at(person), body)).status).toBe(400)
  }
  for (const id of [noSuchAccount, 'nonsense']) {
    expect((await admin.api.get(`/v1/admin/accounts/${id}`)).status).toBe(404)
    expect((await admin.api.patch(`/v1/admin/accounts/${id}`, {})).status).toBe(404)
  }
})

test('only an administrator in person is accepted: no other account, no key of an administrator, no request without a credential', async () => {
  const person = await signIn(service.api)
  const key = await createKey(admin)
  const dashboardOfKey = service.api.as({ bearer: (await key.api.post('/v1/auth/dashboard-tokens')).body.token })
  const calls: [string, string][] = [
    ['GET', '/v1/admin/accounts'],
    ['GET', at(person)],
    ['PATCH', at(person)],
    ['GET', `/v1/admin/accounts/${noSuchAccount}`],
  ]
  for (const [method, path] of calls) {
    const body = method === 'PATCH' ? { body: {} } : {}
    for (const { api } of [person, key, { api: dashboardOfKey }]) {
      const answer = await api.call(method, path, body)
      expect([path, answer.status, answer.body.error]).toEqual([path, 403, 'admin_required'])
    }
    expect((await service.api.call(method, path, body)).status).toBe(401)
  }
  const dashboard = service.api.as({ bearer: (await admin.api.post('/v1/auth/dashboard-tokens')).body.token })
  expect((await dashboard.get('/v1/admin/accounts')).status).toBe(200)
})

test('a key changes nothing of an administrator’s account, its name neither', async () => {
  const key = await createKey(admin, { permissions: ['account.read', 'account.manage'] })
  const renamed = await key.api.patch('/v1/accounts/me', { display_name: 'Somebody else' })
  expect([renamed.status, renamed.body.error]).toEqual([403, 'forbidden'])
  const other = await signIn(service.api)
  const theirs = await createKey(other, { permissions: ['account.read', 'account.manage'] })
  expect((await theirs.api.patch('/v1/accounts/me', { display_name: 'Own name' })).status).toBe(200)
})

test('the audit row of every administrative act has the actor, the address, the state before and after, and the reason', async () => {
  const person = await signIn(service.api)
  await admin.api.patch(at(person), { status: 'frozen', reason: 'ticket 4711' })
  const { body } = await admin.api.get(`/v1/admin/audit-log?subject_id=${person.accountId}&action=admin.account_update`)
  expect(body.data).toHaveLength(1)
  expect(body.data[0]).toMatchObject({
    account_id: admin.accountId,
    credential: { kind: 'session' },
    subject: { type: 'account', id: person.accountId },
    before: { status: 'active' },
    after: { status: 'frozen', reason: 'ticket 4711' },
    ip: '127.0.0.1',
  })
  expect(body.data[0].request_id).toMatch(/^[0-9a-f-]{36}$/)
})
