import { afterAll, expect, test } from 'vitest'
import { parseId } from '../../src/lib/ids.ts'
import type { Client, Json } from '../harness/client.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { createKey, type Person, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'
import { findBreaches } from '../harness/verify.ts'

const service = await openService({ env: { RATE_LIMIT_ENABLED: 'false' } })
afterAll(async () => {
  await service.settle()
  await service.deps.jobs.sweep()
  expect(await findBreaches(service)).toEqual([])
})

const day = 86_400
const permissions = ['payment.create', 'payment.read', 'policy.read', 'account.read', 'key.manage', 'beneficiary.read']
type Scene = { person: Person; payee: string; refusing: string }
const scene = async (): Promise<Scene> => {
  const person = await signIn(service.api)
  await credit(service, person.accountId, 100_000_000n)
  return {
    person,
    payee: await newBeneficiary(person.api),
    // The sandbox fails payments to this number.
    refusing: await newBeneficiary(person.api, { destination: '254700002001' }),
  }
}
const keyWith = (maker: { api: Client }, total_limit_minor: string | null, more: object = {}) =>
  createKey(maker, {
    permissions,
    spending_controls: { new_payees: 'allow', ...(total_limit_minor && { total_limit_minor }), ...more },
  })
const pay = (api: Client, beneficiary_id: string, amount_minor: string, more: object = {}) =>
  api.post('/v1/payments', { beneficiary_id, amount_minor, ...more })
/** Days later, in a new session. */
const after = async ({ person }: Scene, days: number): Promise<Person> => {
  service.clock.advance(days * day)
  return signIn(service.api, person.wallet)
}
const rules = ({ body }: { body: Json }): string[] =>
  body.details.decision.trace.filter((entry: Json) => entry.outcome === 'deny').map((entry: Json) => entry.rule)
const grantOf = async ({ person }: Scene, { grantId }: { grantId: string }): Promise<Json> =>
  (await person.api.get(`/v1/accounts/me/grants/${grantId}`)).body

test('a budget for one job is exact under concurrency, for the key and all keys below it, and nothing resets it', async () => {
  const is = await scene()
  const key = await keyWith(is.person, '1000000')
  const child = await keyWith(key, null)
  const answers = await Promise.all(
    Array.from({ length: 24 }, (_, index) => pay(index % 2 === 0 ? key.api : child.api, is.payee, String(100_000 + index * 100))),
  )
  const accepted = answers.filter(({ status }) => status === 201).map(({ body }) => BigInt(body.amount_minor))
  const spent = accepted.reduce((sum, amount) => sum + amount, 0n)
  expect(spent).toBeLessThanOrEqual(1_000_000n)
  expect(spent + 100_000n + 2300n).toBeGreaterThan(1_000_000n)
  const refused = answers.find(({ status }) => status === 403)
  expect(rules(refused as { body: Json })).toEqual(['total_limit'])
  expect(refused?.body.details.decision.explanation).toContain('It does not start again: a person raises it.')
  expect(await grantOf(is, key)).toMatchObject({
    usage: { total_minor: spent.toString() },
    headroom: { total_minor: (1_000_000n - spent).toString() },
    spending_controls: { total_limit_minor: '1000000' },
  })
  expect((await grantOf(is, child)).headroom.total_minor).toBe((1_000_000n - spent).toString())
  expect((await child.api.get('/v1/credentials/current')).body.headroom.total_minor).toBe((1_000_000n - spent).toString())
  const owner = await after(is, 40)
  const later = await pay(key.api, is.payee, '100000')
  expect(rules(later)).toEqual(['total_limit'])
  expect(later.body.details.decision.remedy).toMatchObject({ passes_at: null, changes: [{ rule: 'total_limit' }] })
  const decision = (await key.api.post('/v1/spending-policies/simulate', { beneficiary_id: is.payee, amount_minor: '100000' }))
    .body
  expect(decision.outcome).toBe('deny')
  // A key raises neither its own limit nor its creator's. The person does.
  const raise = (api: Client) =>
    api.patch(`/v1/accounts/me/api-keys/${key.id}`, { spending_controls: { total_limit_minor: '1500000' } })
  expect((await raise(key.api)).status).toBe(403)
  expect((await raise(owner.api)).status).toBe(200)
  expect((await pay(key.api, is.payee, '100000')).status).toBe(201)
})

test('a payment that fails, is rejected or cancelled gives back what it took from a total', async () => {
  const is = await scene()
  const key = await keyWith(is.person, '500000', { approval_threshold_minor: '300000' })
  expect((await pay(key.api, is.refusing, '200000')).status).toBe(201)
  expect(rules(await pay(key.api, is.payee, '400000'))).toEqual(['total_limit'])
  await service.settle()
  expect((await grantOf(is, key)).usage.total_minor).toBe('0')
  const held = (await pay(key.api, is.payee, '400000')).body
  expect([held.status, (await grantOf(is, key)).usage.total_minor]).toEqual(['pending_approval', '400000'])
  service.clock.advance(day)
  expect((await is.person.api.post(`/v1/payments/${held.id}/cancel`)).status).toBe(200)
  expect((await grantOf(is, key)).usage.total_minor).toBe('0')
})

test('the total of a key that was made before totals were counted is filled before its limit holds', async () => {
  const is = await scene()
  const key = await keyWith(is.person, null)
  const child = await keyWith(key, null)
  const ids = [key.grantId, child.grantId].map((id) => parseId('grant', id))
  await service.deps.db.query('update grants set total_seeded_at = null where id = any($1::uuid[])', [ids])
  await service.deps.db.query(`delete from usage_counters where subject_id = any($1::uuid[]) and period = 'total'`, [ids])
  expect((await pay(key.api, is.payee, '300000')).status).toBe(201)
  expect((await pay(child.api, is.payee, '200000')).status).toBe(201)
  is.person = await after(is, 70)
  expect((await grantOf(is, key)).usage.total_minor).toBe('500000')
  for (const [own, total] of [
    [key, '500000'],
    [child, '200000'],
  ] as const)
    expect((await own.api.get('/v1/credentials/current')).body.grant.usage.total_minor).toBe(total)
  const limit = (total_limit_minor: string | null) =>
    is.person.api.patch(`/v1/accounts/me/api-keys/${key.id}`, { spending_controls: { total_limit_minor } })
  expect((await limit('600000')).body.grant.usage.total_minor).toBe('500000')
  expect(rules(await pay(child.api, is.payee, '200000'))).toEqual(['total_limit'])
  expect((await pay(child.api, is.payee, '100000')).status).toBe(201)
  expect((await grantOf(is, key)).usage.total_minor).toBe('600000')
})

test('a limit counts the usage under every account that paid', async () => {
  const is = await scene()
  const key = await keyWith(is.person, '1000000')
  expect((await pay(key.api, is.payee, '600000')).status).toBe(201)
  const [grant, other] = [parseId('grant', key.grantId), parseId('account', (await signIn(service.api)).accountId)]
  const { db } = service.deps
  const rowsOfTwo = `insert into usage_counters (subject, subject_id, account_id, period, period_start, used_minor, payments)
     select subject, subject_id, $2, period, period_start, 300000, 0 from usage_counters where subject_id = $1 and period = 'total'`
  await db.query(rowsOfTwo, [grant, other])
  await db.query(
    `update usage_counters set used_minor = used_minor - 300000 where subject_id = $1 and account_id <> $2 and period = 'total'`,
    [grant, other],
  )
  expect(rules(await pay(key.api, is.payee, '500000'))).toEqual(['total_limit'])
  await db.query('delete from usage_counters where subject_id = $1 and account_id = $2', [grant, other])
  await db.query(`update usage_counters set used_minor = used_minor + 300000 where subject_id = $1 and period = 'total'`, [grant])
})

test('the total of a policy counts since the version that first set it, in its scope, until it is cleared', async () => {
  const is = await scene()
  let { api } = is.person
  await pay(api, is.payee, '700000')
  service.clock.advance(1)
  const other = await newBeneficiary(api)
  const made = (
    await api.post('/v1/spending-policies', { name: 'Move', beneficiary_ids: [is.payee], total_limit_minor: '1000000' })
  ).body
  expect(made.total_limit_minor).toBe('1000000')
  const read = async () => (await api.get(`/v1/spending-policies/${made.id}`)).body
  const patch = async (change: object) =>
    api.patch(`/v1/spending-policies/${made.id}`, { version: (await read()).version, ...change })
  expect((await pay(api, is.payee, '600000')).status).toBe(201)
  expect((await pay(api, other, '600000')).status).toBe(201)
  expect(rules(await pay(api, is.payee, '500000'))).toEqual(['total_limit'])
  expect((await read()).usage.total_minor).toBe('600000')
  api = (await after(is, 40)).api
  // Another value continues the count, and a wider scope includes payments in it since then.
  expect((await patch({ total_limit_minor: '1500000' })).status).toBe(200)
  expect((await read()).usage.total_minor).toBe('600000')
  expect((await patch({ beneficiary_ids: [] })).status).toBe(200)
  expect((await read()).usage.total_minor).toBe('1200000')
  expect(rules(await pay(api, other, '400000'))).toEqual(['total_limit'])
  expect((await patch({ total_limit_minor: null })).status).toBe(200)
  expect((await pay(api, other, '400000')).status).toBe(201)
  service.clock.advance(1)
  expect((await patch({ total_limit_minor: '100000' })).status).toBe(200)
  expect((await read()).usage.total_minor).toBe('0')
  expect((await pay(api, other, '100000')).status).toBe(201)
})

test('a scheduled payment is part of a total from the time at which it is due', async () => {
  const is = await scene()
  const key = await keyWith(is.person, '500000')
  const execute_at = new Date(service.clock.now().getTime() + 3600_000).toISOString()
  const later = (await pay(key.api, is.payee, '300000', { execute_at })).body
  expect([later.status, (await grantOf(is, key)).usage.total_minor]).toEqual(['scheduled', '0'])
  expect((await pay(key.api, is.payee, '400000')).status).toBe(201)
  service.clock.advance(3600)
  await service.deps.jobs.sweep()
  expect((await key.api.get(`/v1/payments/${later.id}`)).body).toMatchObject({ status: 'failed', failure_code: 'policy_denied' })
  expect((await grantOf(is, key)).usage.total_minor).toBe('400000')
})

test('a payment above a daily limit and a threshold passes tomorrow: it then waits for an approval, as the remedy says', async () => {
  const is = await scene()
  const key = await keyWith(is.person, null, { daily_limit_minor: '300000', approval_threshold_minor: '100000' })
  expect((await pay(key.api, is.payee, '200000')).body.status).toBe('pending_approval')
  const refused = await pay(key.api, is.payee, '210000')
  expect([refused.status, rules(refused)]).toEqual([403, ['daily_limit']])
  const { remedy, trace } = refused.body.details.decision
  const tomorrow = trace.find((entry: Json) => entry.rule === 'daily_limit').resets_at
  expect(remedy).toMatchObject({ changes: [{ rule: 'daily_limit', to_minor: '410000' }], changes_count: 1, passes_at: tomorrow })
  service.clock.advance(Math.ceil((Date.parse(tomorrow) - service.clock.now().getTime()) / 1000))
  expect(await pay(key.api, is.payee, '210000')).toMatchObject({ status: 201, body: { status: 'pending_approval' } })
})
