import { expect, test } from 'vitest'
import { parseId } from '../../src/lib/ids.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { createKey, type Person, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'
import { findBreaches } from '../harness/verify.ts'
import { join } from '../workspaces/team.ts'

const service = await openService()
const person = await signIn(service.api)
await credit(service, person.accountId, 100_000_000n)
const own = { spending_controls: { new_payees: 'allow' } }
const agent = await createKey(person, { name: 'Till bot', ...own })
const below = await createKey(agent, own)
const other = await createKey(person, own)
const payee = await newBeneficiary(person.api)

const path = '/v1/spending-policies'
const pay = async ({ api }: Pick<Person, 'api'>, amount = '10000') => {
  const answer = await api.post('/v1/payments', { beneficiary_id: payee, amount_minor: amount })
  return { status: answer.status, error: answer.body.error, id: answer.body.id }
}

test('a policy of a key that may only create them binds its own payments and those of the keys below it, and counts no others', async () => {
  await pay(person, '50000')
  await pay(other, '50000')
  await pay(below, '20000')
  const made = await agent.api.post(path, { name: 'My day', daily_limit_minor: '50000' })
  expect(made.body.binds).toEqual({ grant_id: agent.grantId })
  expect((await person.api.get(`${path}/${made.body.id}`)).body.usage.today_minor).toBe('20000')
  const own = await pay(agent, '20000')
  expect(own.status).toBe(201)
  for (const key of [agent, below]) expect(await pay(key, '20000')).toMatchObject({ status: 403, error: 'policy_denied' })
  for (const payer of [person, other]) expect(await pay(payer, '70000')).toMatchObject({ status: 201 })
  const headroom = async ({ api }: Pick<Person, 'api'>) => (await api.get('/v1/credentials/current')).body.headroom.today_minor
  expect([await headroom(agent), await headroom(below), await headroom(other)]).toEqual(['10000', '10000', null])
  const { body } = await person.api.get(`/v1/payments/${own.id}`)
  expect(body.decision.policy_versions).toEqual([{ id: made.body.id, version: 1 }])
  await service.deps.jobs.sweep()
  expect(await findBreaches(service)).toEqual([])
})

test('a payment that ends unpaid is given back to the policies that bound it', async () => {
  const { id } = (await below.api.post(path, { name: 'Below', daily_limit_minor: '40000', required_approval_count: 1 })).body
  const used = async () => (await person.api.get(`${path}/${id}`)).body.usage.today_minor
  expect(await used()).toBe('20000')
  const { body } = await below.api.post('/v1/payments', { beneficiary_id: payee, amount_minor: '10000' })
  expect([body.status, await used()]).toEqual(['pending_approval', '30000'])
  await person.api.post(`/v1/payments/${body.id}/cancel`)
  expect(await used()).toBe('20000')
  expect(await findBreaches(service)).toEqual([])
})

test('a policy of a key for its own payments removes no warning, and adds some', async () => {
  const key = await createKey(person, own)
  const landlord = await newBeneficiary(person.api, { display_name: 'Landlord', destination: '254722100001' })
  await service.settle()
  const warningsOf = async ({ api }: Pick<Person, 'api'>): Promise<string[]> => {
    const { body } = await api.post('/v1/payments', { beneficiary_id: landlord, amount_minor: '12300' })
    return body.decision.warnings.map(({ code }: { code: string }) => code)
  }
  const quiet = await key.api.post(path, { name: 'Quiet', duplicate_window_seconds: 0, payee_verification: 'off' })
  expect(quiet.body.binds).toEqual({ grant_id: key.grantId })
  await warningsOf(key)
  expect(await warningsOf(key)).toEqual(['possible_duplicate', 'name_mismatch'])
  service.clock.advance(7_200)
  expect(await warningsOf(key)).toEqual(['name_mismatch'])
  await key.api.post(path, { name: 'Careful', duplicate_window_seconds: 86_400 })
  service.clock.advance(7_200)
  expect(await warningsOf(key)).toEqual(['possible_duplicate', 'name_mismatch'])
  // A person, or a key that manages policies, may replace the service's warnings.
  const all = await person.api.post(path, { name: 'Everyone', duplicate_window_seconds: 0, payee_verification: 'off' })
  expect(await warningsOf(person)).toEqual([])
  await person.api.delete(`${path}/${all.body.id}`)
  await service.settle()
  await service.deps.jobs.sweep()
  expect(await findBreaches(service)).toEqual([])
})

test('what a key proposes is simulated for its own payments', async () => {
  const key = await createKey(person, { spending_controls: { new_payees: 'allow' } })
  await pay(key, '30000')
  const simulate = async (api: Person['api'], amount: string) =>
    (
      await api.post(`${path}/simulate`, {
        policy: { daily_limit_minor: '40000' },
        beneficiary_id: payee,
        amount_minor: amount,
      })
    ).body
  expect(await simulate(key.api, '10000')).toMatchObject({ outcome: 'allow' })
  expect(await simulate(key.api, '10100')).toMatchObject({ outcome: 'deny' })
})

test('a policy of a person, or of a key that manages policies, binds everyone', async () => {
  const manager = await createKey(person, { permissions: ['policy.manage', 'payment.create'] })
  for (const { api } of [person, manager]) {
    const made = await api.post(path, { name: 'Everyone', per_payment_limit_minor: '90000' })
    expect(made.body.binds).toBe('all')
    expect(await pay(other, '90100')).toMatchObject({ status: 403 })
    await person.api.delete(`${path}/${made.body.id}`)
  }
})

test('the policies of a key that was revoked leave room for others, and are archived at once, even where a rule asks for two', async () => {
  const owner = await signIn(service.api)
  const { id: workspace } = (await owner.api.get('/v1/workspaces/current')).body.workspace
  await join(service, { id: workspace, owner }, 'approver')
  const rule = { name: 'Own', required_approval_count: 2 }
  const [full, spare] = [await createKey(owner), await createKey(owner)]
  const { id } = (await full.api.post(path, rule)).body
  const [kept, removed] = [(await spare.api.post(path, rule)).body.id, (await spare.api.post(path, rule)).body.id]
  await service.deps.db.query(
    `insert into spending_policies select (jsonb_populate_record(p, jsonb_build_object('id', gen_random_uuid()))).*
     from spending_policies p, generate_series(1, 97) where p.id = $1`,
    [parseId('policy', id)],
  )
  expect((await owner.api.post(path, { name: 'More' })).body.details.reason).toBe('limit_reached')
  expect((await owner.api.delete(`${path}/${kept}`)).status).toBe(202)
  await owner.api.delete(`/v1/accounts/me/api-keys/${spare.id}`)
  const archived = await owner.api.delete(`${path}/${removed}`)
  expect([archived.status, archived.body.status]).toEqual([200, 'archived'])
  await owner.api.delete(`/v1/accounts/me/api-keys/${full.id}`)
  expect((await owner.api.post(path, { name: 'More' })).status).toBe(201)
  const active = (await owner.api.get(`${path}?status=active&limit=100`)).body.data
  expect(active.map(({ name }: { name: string }) => name)).toEqual(['More'])
  expect((await owner.api.get(`${path}/${kept}`)).body).toMatchObject({ status: 'archived', pending_change: null })
})

test('the policies of a key that has expired bind its payments until it is revoked', async () => {
  const owner = await signIn(service.api)
  const { id: workspace } = (await owner.api.get('/v1/workspaces/current')).body.workspace
  await join(service, { id: workspace, owner }, 'approver')
  const expiring = await createKey(owner, { expires_at: new Date(service.clock.now().getTime() + 60_000).toISOString() })
  const rule = { name: 'Own', required_approval_count: 2 }
  const [kept, removed] = [(await expiring.api.post(path, rule)).body.id, (await expiring.api.post(path, rule)).body.id]
  const statusOf = async (id: string) => (await owner.api.get(`${path}/${id}`)).body.status
  service.clock.advance(61)
  await owner.api.post(path, { name: 'More' })
  expect((await owner.api.delete(`${path}/${removed}`)).status).toBe(202)
  expect([await statusOf(kept), await statusOf(removed)]).toEqual(['active', 'active'])
  await service.deps.jobs.sweep()
  await owner.api.post(path, { name: 'More' })
  expect([await statusOf(kept), await statusOf(removed)]).toEqual(['archived', 'archived'])
})
