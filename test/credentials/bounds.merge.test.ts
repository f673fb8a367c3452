import { expect, test } from 'vitest'
import { newId, parseId } from '../../src/lib/ids.ts'
import type { Answer, Client } from '../harness/client.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { createKey, newWallet, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'
import { createTeam, join } from '../workspaces/team.ts'

const service = await openService()
/** Another process, which bypasses queues inside one process. */
const second = await openService({ database: service.database, clock: service.clock, env: { PUBLIC_URL: service.api.url } })
const elsewhere = (api: Client): Client => second.api.as(api.credentials)
const either = (api: Client, index: number): Client => (index % 2 === 0 ? api : elsewhere(api))

const atOnce = (count: number, work: (index: number) => Promise<Answer>) =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)))
const outcomes = (answers: readonly Answer[]) =>
  Object.fromEntries(
    [...Map.groupBy(answers, ({ status, body }): string => body.details?.reason ?? String(status))].map(([key, { length }]) => [
      key,
      length,
    ]),
  )

test('an account owns at most 20 team workspaces, also when many are made at once', async () => {
  const person = await signIn(service.api)
  const answers = await atOnce(23, (index) => either(person.api, index).post('/v1/workspaces', { name: `Team ${index}` }))
  expect(outcomes(answers)).toEqual({ 201: 20, limit_reached: 3 })
  expect(answers.find(({ status }) => status === 409)?.body.message).toContain('at most 20 team workspaces')
  expect((await (await signIn(service.api)).api.post('/v1/workspaces', { name: 'Another' })).status).toBe(201)
})

test('a workspace has at most 200 members and open invitations', async () => {
  const team = await createTeam(service)
  const admin = await join(service, team, 'admin')
  const invite = (index = 0) =>
    either(index % 3 === 0 ? admin.api : team.owner.api, index).post('/v1/workspaces/current/invitations', { role: 'viewer' })
  const answers = await atOnce(200, invite)
  expect(outcomes(answers)).toEqual({ 201: 198, limit_reached: 2 })
  const [first, second] = answers.filter(({ status }) => status === 201)
  // An accepted invitation was counted before.
  const accepted = await (await signIn(service.api)).api.post('/v1/workspaces/invitations/accept', { token: first?.body.token })
  expect([accepted.status, (await invite()).status]).toEqual([200, 409])
  await team.owner.api.delete(`/v1/workspaces/current/invitations/${second?.body.id}`)
  expect((await invite()).status).toBe(201)
})

test('an account has at most 200 active keys of its own; what a key makes has its own bound', async () => {
  const person = await signIn(service.api)
  const key = await createKey(person)
  const answers = await atOnce(201, (index) => either(person.api, index).post('/v1/accounts/me/api-keys', { name: 'Agent' }))
  expect(outcomes(answers)).toEqual({ 201: 199, limit_reached: 2 })
  expect((await key.api.post('/v1/accounts/me/api-keys', { name: 'Child' })).status).toBe(201)
  expect((await person.api.post(`/v1/accounts/me/api-keys/${key.id}/rotate`, {})).status).toBe(201)
  await person.api.delete(`/v1/accounts/me/api-keys/${answers.find(({ status }) => status === 201)?.body.id}`)
  expect((await person.api.post('/v1/accounts/me/api-keys', { name: 'Agent' })).status).toBe(201)
})

test('an account has at most 100 sessions: a further sign-in ends the one that was idle longest', async () => {
  const wallet = newWallet()
  const first = await signIn(service.api, wallet)
  service.clock.advance(60)
  const second = await signIn(service.api, wallet)
  for (let count = 3; count <= 100; count += 1) await signIn(service.api, wallet)
  const read = ({ cookie }: { cookie: string }) => service.api.get('/v1/accounts/me', { cookie })
  service.clock.advance(600)
  expect([(await read(first)).status, (await read(second)).status]).toEqual([200, 200])
  service.clock.advance(600)
  expect((await read(first)).status).toBe(200)
  // The others have not been used since they began. The first of them ends, although this one began later than the first of all.
  const { accountId } = await signIn(service.api, wallet)
  const { body } = await first.api.get('/v1/accounts/me/sessions?limit=100')
  expect([accountId, body.data.length, (await read(first)).status, (await read(second)).status]).toEqual([
    first.accountId,
    100,
    200,
    200,
  ])
})

test('a workspace gets at most 10,000 numbers for deposits in seven days, however they are asked for', async () => {
  const person = await signIn(service.api)
  const ask = (index = 0) => either(person.api, index).post('/v1/topups/initiate', { method: 'MPESA_PAYBILL' })
  const first = await ask()
  expect(first.status).toBe(201)
  await service.deps.db.query(
    `insert into topups select (jsonb_populate_record(t, jsonb_build_object('id', x.id, 'deposit_code', x.code))).*
     from topups t, unnest($2::uuid[], $3::text[]) as x(id, code) where t.id = $1`,
    [
      parseId('topup', first.body.id),
      Array.from({ length: 9_990 }, () => newId()),
      Array.from({ length: 9_990 }, (_, index) => `code ${index}`),
    ],
  )
  expect(outcomes(await atOnce(12, ask))).toEqual({ 201: 9, limit_reached: 3 })
  expect((await ask()).body.message).toContain('use an earlier one again')
  expect((await (await signIn(service.api)).api.post('/v1/topups/initiate', { method: 'MPESA_PAYBILL' })).status).toBe(201)
})

test('a workspace has at most 50,000 beneficiaries, one by one and by lists', async () => {
  const person = await signIn(service.api)
  const id = await newBeneficiary(person.api)
  await service.deps.db.query(
    `insert into beneficiaries select (jsonb_populate_record(b, jsonb_build_object('id', gen_random_uuid()))).*
     from beneficiaries b join workspaces w on w.id = b.workspace_id join accounts a on a.id = w.owning_account_id, generate_series(1, 49989)
     where b.id = (select id from beneficiaries order by created_at desc, id desc limit 1)`,
  )
  const row = (index: number) => ({ display_name: `Worker ${index}`, destination: `07220001${index}`, amount_minor: '10000' })
  const list = (...indices: number[]) => person.api.post('/v1/payment-batches?dry_run=true', { items: indices.map(row) })
  const fields = { type: 'person', display_name: 'One more', payment_rail: 'MPESA_B2C' }
  const eleven = Array.from({ length: 11 }, (_, index) => index + 11)
  expect((await list(...eleven)).body.details.reason).toBe('limit_reached')
  // Ten new beneficiaries fit, however many rows pay each of them.
  await credit(service, person.accountId, 1_000_000n)
  const ten = eleven.slice(1)
  expect((await list(...ten, ...ten)).body).toMatchObject({ items_count: 20, new_payees_count: 10 })
  const key = await createKey(person)
  const answers = await atOnce(20, (index) =>
    either(index % 4 < 2 ? key.api : person.api, index).post('/v1/beneficiaries', {
      ...fields,
      destination: `07220002${index + 10}`,
    }),
  )
  expect(outcomes(answers)).toEqual({ 201: 10, limit_reached: 10 })
  const refused = await person.api.post('/v1/beneficiaries', { ...fields, destination: '0722000114' })
  expect([refused.status, refused.body.details.reason]).toEqual([409, 'limit_reached'])
  expect(refused.body.message).toContain('archive some first')
  await person.api.delete(`/v1/beneficiaries/${id}`)
  expect((await person.api.post('/v1/beneficiaries', { ...fields, destination: '0722000114' })).status).toBe(201)
})
