import { describe, expect, test } from 'vitest'
import { parseId } from '../../src/lib/ids.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { createKey, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'

const service = await openService()
const person = await signIn(service.api)

const path = '/v1/spending-policies'
const create = (body: unknown, api = person.api) => api.post(path, body)

describe('creating', () => {
  test('only a name is required; omitted fields get defaults', async () => {
    const answer = await create({ name: 'Empty' })
    expect(answer.status).toBe(201)
    expect(answer.body).toMatchObject({
      name: 'Empty',
      payment_types: [],
      beneficiary_ids: [],
      per_payment_limit_minor: null,
      daily_limit_minor: null,
      monthly_limit_minor: null,
      approval_threshold_minor: null,
      required_approval_count: 0,
      separation_of_duties: false,
      duplicate_window_seconds: null,
      on_duplicate: null,
      warnings: [],
      status: 'active',
      version: 1,
    })
    expect((await person.api.get(`${path}/${answer.body.id}`)).body).toEqual({
      ...answer.body,
      usage: { today_minor: '0', month_minor: '0' },
    })
  })

  test('every field comes back; a threshold without a count asks for one approval', async () => {
    const beneficiary = await newBeneficiary(person.api)
    const fields = {
      name: 'Whole',
      payment_types: ['payroll', 'MPESA_B2C'],
      beneficiary_ids: [beneficiary],
      per_payment_limit_minor: '100',
      daily_limit_minor: '200',
      monthly_limit_minor: '300',
      approval_threshold_minor: '50',
      separation_of_duties: true,
    }
    expect((await create(fields)).body).toMatchObject({ ...fields, required_approval_count: 1 })
  })

  test.each([
    [{ per_payment_limit_minor: '300', daily_limit_minor: '200' }, 'per_payment_limit_minor'],
    [{ daily_limit_minor: '300', monthly_limit_minor: '200' }, 'daily_limit_minor'],
    [{ per_payment_limit_minor: '300', monthly_limit_minor: '200' }, 'per_payment_limit_minor'],
    [{ approval_threshold_minor: '50', required_approval_count: 0 }, 'required_approval_count'],
    [{ required_approval_count: 11 }, 'required_approval_count'],
    [{ required_approval_count: -1 }, 'required_approval_count'],
    [{ daily_limit_minor: 100 }, 'daily_limit_minor'],
    [{ daily_limit_minor: '1.5' }, 'daily_limit_minor'],
    [{ dayly_limit_minor: '100' }, 'dayly_limit_minor'],
    [{ beneficiary_ids: ['ben_01h455vb4pex5vsknk084sn02q'] }, 'beneficiary_ids'],
    [{ beneficiary_ids: ['nonsense'] }, 'beneficiary_ids.0'],
    [{ name: '' }, 'name'],
  ])('%j is refused', async (fields, at) => {
    const answer = await create({ name: 'Bad', ...fields })
    expect([answer.status, answer.body.error]).toEqual([400, 'invalid_request'])
    expect(answer.body.details.fields.map((field: { path: string }) => field.path)).toContain(at)
  })

  test("another tenant's beneficiary is refused like one that does not exist", async () => {
    const foreign = await newBeneficiary((await signIn(service.api)).api)
    expect((await create({ name: 'Bad', beneficiary_ids: [foreign] })).status).toBe(400)
  })
})

describe('changing', () => {
  test('a patch needs the version that it changes, and every earlier version is kept unchanged', async () => {
    const { id } = (await create({ name: 'Before', daily_limit_minor: '500' })).body
    const changed = await person.api.patch(`${path}/${id}`, { version: 1, name: 'After', monthly_limit_minor: '9000' })
    expect(changed.body).toMatchObject({ name: 'After', daily_limit_minor: '500', monthly_limit_minor: '9000', version: 2 })
    const stale = await person.api.patch(`${path}/${id}`, { version: 1, daily_limit_minor: '900000' })
    expect([stale.status, stale.body.error, stale.body.details.reason, stale.body.details.version]).toEqual([
      409,
      'conflict',
      'version',
      2,
    ])
    expect((await person.api.patch(`${path}/${id}`, { name: 'No version' })).status).toBe(400)
    const kept = await service.deps.db.query<{ name: string }>(
      "select document->>'name' as name from spending_policy_versions where policy_id = (select id from spending_policies where name = 'After') order by version",
    )
    expect(kept.map(({ name }) => name)).toEqual(['Before', 'After'])
  })

  test('a patch that changes nothing makes no version and no event', async () => {
    const { id, ...made } = (await create({ name: 'Same', daily_limit_minor: '500' })).body
    for (const fields of [
      {},
      { name: 'Same' },
      { required_approval_count: 0 },
      { daily_limit_minor: '500', beneficiary_ids: null, on_duplicate: null },
    ]) {
      const answer = await person.api.patch(`${path}/${id}`, { version: 1, ...fields })
      expect([answer.status, answer.body]).toEqual([200, { id, ...made }])
    }
    const events = await service.deps.db.query(`select from events where type = 'policy.updated' and data->>'id' = $1`, [id])
    expect(events).toEqual([])
  })

  test('of two concurrent patches of one version one succeeds', async () => {
    const { id } = (await create({ name: 'Raced' })).body
    const answers = await Promise.all(
      ['1', '2'].map((limit) => person.api.patch(`${path}/${id}`, { version: 1, daily_limit_minor: limit })),
    )
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 409])
  })

  test('null removes a limit; contradictions with the other limits are refused', async () => {
    const { id } = (await create({ name: 'Limits', daily_limit_minor: '500' })).body
    expect((await person.api.patch(`${path}/${id}`, { version: 1, per_payment_limit_minor: '600' })).status).toBe(400)
    const looser = await person.api.patch(`${path}/${id}`, {
      version: 1,
      daily_limit_minor: null,
      per_payment_limit_minor: '600',
    })
    expect(looser.body).toMatchObject({ daily_limit_minor: null, per_payment_limit_minor: '600' })
  })

  test('an archived policy no longer applies, and cannot be changed', async () => {
    const someone = await signIn(service.api)
    await credit(service, someone.accountId, 1_000_000n)
    const beneficiary = await newBeneficiary(someone.api)
    const { id } = (await create({ name: 'Nothing', per_payment_limit_minor: '0' }, someone.api)).body
    const pay = () => someone.api.post('/v1/payments', { beneficiary_id: beneficiary, amount_minor: '10000' })
    expect((await pay()).body.error).toBe('policy_denied')
    const archived = await someone.api.delete(`${path}/${id}`)
    expect([archived.status, archived.body.status]).toEqual([200, 'archived'])
    expect((await someone.api.delete(`${path}/${id}`)).body).toEqual(archived.body)
    expect((await pay()).status).toBe(201)
    expect((await someone.api.patch(`${path}/${id}`, { version: 1, name: 'x' })).status).toBe(409)
    expect((await someone.api.get(`${path}?status=active`)).body.data).toEqual([])
  })
})

test('a policy for a payee also applies to another beneficiary with the same destination', async () => {
  const someone = await signIn(service.api)
  await credit(service, someone.accountId, 1_000_000n)
  const named = await newBeneficiary(someone.api, { destination: '0744000001' })
  await create({ name: 'Named', beneficiary_ids: [named], per_payment_limit_minor: '20000' }, someone.api)
  const alias = await newBeneficiary(someone.api, { destination: '+254744000001', display_name: 'Alias' })
  const other = await newBeneficiary(someone.api)
  const pay = (id: string) => someone.api.post('/v1/payments', { beneficiary_id: id, amount_minor: '30000' })
  expect((await pay(alias)).body.error).toBe('policy_denied')
  expect((await pay(other)).status).toBe(201)
})

describe('permissions', () => {
  test('an agent with policy.create may add a policy, but neither change nor archive one', async () => {
    const key = await createKey(person)
    const made = await create({ name: 'By an agent' }, key.api)
    expect(made.status).toBe(201)
    const answer = await key.api.patch(`${path}/${made.body.id}`, { version: 1, name: 'x' })
    expect([answer.status, answer.body.details.required_permission]).toEqual([403, 'policy.manage'])
    expect((await key.api.delete(`${path}/${made.body.id}`)).status).toBe(403)
  })

  test('401 without a credential, 403 without the permission, and another tenant gets the same 404 as for a missing id', async () => {
    const { id } = (await create({ name: 'Mine' })).body
    const reader = (await createKey(person, { permissions: ['account.read'] })).api
    const stranger = (await signIn(service.api)).api
    const calls = [
      ['POST', path, { name: 'x' }],
      ['GET', path],
      ['GET', `${path}/${id}`],
      ['PATCH', `${path}/${id}`, { version: 1, name: 'x' }],
      ['DELETE', `${path}/${id}`],
    ] as const
    for (const [method, at, body] of calls) {
      const options = body ? { body } : {}
      expect((await service.api.call(method, at, options)).status).toBe(401)
      expect((await reader.call(method, at, options)).status).toBe(403)
      if (at !== path) expect((await stranger.call(method, at, options)).status).toBe(404)
    }
  })
})

test("a day and a month begin in the workspace's time zone: the limit resets at its midnight", async () => {
  const someone = await signIn(service.api)
  await credit(service, someone.accountId, 10_000_000n)
  const beneficiary = await newBeneficiary(someone.api)
  await create({ name: 'Daily', daily_limit_minor: '100000', monthly_limit_minor: '150000' }, someone.api)
  // A key, because no session survives the weeks that pass here.
  const key = await createKey(someone)
  const pay = (amount: string) => key.api.post('/v1/payments', { beneficiary_id: beneficiary, amount_minor: amount })
  service.clock.set(new Date('2026-03-30T20:59:59.999Z'))
  expect((await pay('100000')).status).toBe(201)
  expect((await pay('10000')).body.error).toBe('policy_denied')
  service.clock.set(new Date('2026-03-30T21:00:00.000Z'))
  expect((await pay('60000')).body.error).toBe('policy_denied')
  expect((await pay('50000')).status).toBe(201)
  service.clock.set(new Date('2026-03-31T21:00:00.000Z'))
  expect((await pay('100000')).status).toBe(201)
})

describe('answers do not grow with the policies of a workspace', () => {
  /** The maximum length of a page's answer. */
  const longest = 256 * 1024
  const bytes = ({ text }: { text: string }) => Buffer.byteLength(text)

  test('there are at most a hundred active policies, also when they are made at once; a payment shows the fifty rules nearest to it', async () => {
    const owner = await signIn(service.api)
    await credit(service, owner.accountId, 25_000_000n)
    const key = await createKey(owner)
    const make = (index: number) =>
      key.api.post('/v1/spending-policies', {
        name: `${index} ${'ü'.repeat(110)}`,
        per_payment_limit_minor: String(1_000_000 + index),
        daily_limit_minor: String(10_000_000 + index),
        monthly_limit_minor: String(20_000_000 + index),
      })
    for (let index = 0; index < 95; index += 1) expect((await make(index)).status).toBe(201)
    const made = await Promise.all(Array.from({ length: 10 }, (_, index) => make(95 + index)))
    expect(made.map(({ status }) => status).toSorted()).toEqual([...Array(5).fill(201), ...Array(5).fill(409)])
    expect(made.find(({ status }) => status === 409)?.body.details.reason).toBe('limit_reached')

    const beneficiary = await newBeneficiary(owner.api)
    const metadata = Object.fromEntries(
      Array.from({ length: 20 }, (_, index) => [`${index}${'語'.repeat(198)}`, '語'.repeat(200)]),
    )
    const body = { beneficiary_id: beneficiary, amount_minor: '1000', narrative: '語'.repeat(140), metadata }
    const paid = await key.api.post('/v1/payments', body)
    expect(paid.status).toBe(201)
    expect(paid.body.decision.trace).toHaveLength(50)
    expect(paid.body.decision.rules_considered).toBeGreaterThanOrEqual(300)
    expect(bytes(paid)).toBeLessThan(longest / 4)
    const denied = await key.api.post('/v1/payments', { ...body, amount_minor: '2000000' })
    expect(denied.body.details.decision.trace).toHaveLength(50)
    expect(denied.body.details.decision.trace[0].decisive).toBe(true)
    const { remedy } = denied.body.details.decision
    expect([remedy.changes.length, remedy.changes_count]).toEqual([50, 100])
    expect(bytes(denied)).toBeLessThan(longest / 4)
    const items = Array.from({ length: 1000 }, () => ({ beneficiary_id: beneficiary, amount_minor: '2000000' }))
    const refused = await key.api.post('/v1/payment-batches', { items })
    expect([refused.status, refused.body.message]).toEqual([403, expect.stringContaining('1000 of 1000 items')])
    expect(bytes(refused)).toBeLessThan(longest)

    for (let count = 0; count < 30; count += 1) expect((await key.api.post('/v1/payments', body)).status).toBe(201)
    const pages: [string, number][] = []
    for (const path of [
      'payments',
      'notifications',
      'spending-policies',
      'beneficiaries',
      'accounts/me/history',
      'workspaces/current/audit-log',
    ]) {
      const page = await owner.api.get(`/v1/${path}?limit=100`)
      expect([path, page.status]).toEqual([path, 200])
      pages.push([path, bytes(page)])
    }
    expect(pages.filter(([, size]) => size > longest)).toEqual([])
    // The remaining payments follow, each once.
    const ids: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page = await owner.api.get(`/v1/payments?limit=100${cursor && `&cursor=${cursor}`}`)
      ids.push(...page.body.data.map(({ id }: { id: string }) => id))
      expect(page.body.data[0].decision.trace).toBeUndefined()
      cursor = page.body.next_cursor
    }
    expect([ids.length, new Set(ids).size]).toEqual([31, 31])
    expect((await owner.api.get('/v1/notifications?limit=100')).text).not.toContain('"trace"')
    expect((await owner.api.get(`/v1/payments/${ids[0]}`)).body.decision.trace).toHaveLength(50)
  })

  test('a payee that was created many times is stored with a payment only as often as a rule names it', async () => {
    const owner = await signIn(service.api)
    await credit(service, owner.accountId, 25_000_000n)
    const ids: string[] = []
    for (let count = 0; count < 12; count += 1) ids.push(await newBeneficiary(owner.api, { destination: '0744000300' }))
    await create({ name: 'The third', beneficiary_ids: [ids[2]], daily_limit_minor: '20000' }, owner.api)
    const pay = () => owner.api.post('/v1/payments', { beneficiary_id: ids[9], amount_minor: '15000' })
    const { id } = (await pay()).body
    expect((await pay()).body.error).toBe('policy_denied')
    await service.settle()
    await service.deps.jobs.sweep()
    const { text } = await owner.api.get(`/v1/payments/${id}/receipt`)
    const uuids = ids.map((one) => parseId('beneficiary', one))
    expect(uuids.filter((uuid) => uuid && text.includes(uuid))).toEqual([uuids[2], uuids[9]])
  })
})
