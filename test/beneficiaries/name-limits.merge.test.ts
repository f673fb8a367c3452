import { beforeEach, expect, test } from 'vitest'
import { lockAccount } from '../../src/db/account-lock.ts'
import { inTx } from '../../src/db/client.ts'
import { parseId, type Uuid } from '../../src/lib/ids.ts'
import { createNameCheckWorker, recordReportedNames } from '../../src/modules/beneficiaries/names-service.ts'
import type { Json } from '../harness/client.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { type Person, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'

let person: Person
const service = await openService({ env: { RATE_LIMIT_ENABLED: 'false' } })
beforeEach(async () => {
  person = await signIn(service.api)
  await credit(service, person.accountId, 100_000_000n)
})

const account = { payment_rail: 'PESALINK', destination: '1300100100', bank_code: '01' }
const read = async (id: string): Promise<Json> => (await person.api.get(`/v1/beneficiaries/${id}`)).body.verification
const checksOf = async (id: string): Promise<Json[]> => (await person.api.get(`/v1/beneficiaries/${id}/verifications`)).body.data
const pay = async (id: string, amount_minor: string): Promise<Json> => {
  const { body } = await person.api.post('/v1/payments', { beneficiary_id: id, amount_minor })
  return body
}
const known = async (fields: Record<string, unknown>): Promise<string> => {
  const id = await newBeneficiary(person.api, fields)
  await service.settle()
  return id
}
const many = async (count: number, from: number): Promise<string[]> => {
  const ids: string[] = []
  for (let index = 0; index < count; index += 1)
    ids.push(await newBeneficiary(person.api, { display_name: `Phone ${index}`, destination: `${254722300000 + from + index}` }))
  await service.settle()
  return ids
}
const sourcesOf = async (ids: readonly string[]): Promise<Record<string, number>> => {
  const counts: Record<string, number> = {}
  for (const id of ids) {
    const { source, status } = await read(id)
    const key = `${status} ${source}`
    counts[key] = (counts[key] ?? 0) + 1
  }
  return counts
}

const idOf = (prefix: 'account' | 'beneficiary' | 'payment', text: string): Uuid => {
  const id = parseId(prefix, text)
  if (!id) throw new Error(`${text} is no id`)
  return id
}

test('of 200 phones in one go a new account gets 20 names, and 20 more on the next day', async () => {
  for (let index = 0; index < 200; index += 1)
    service.sandbox.names.set({ party: `${254722300000 + index}`, name: 'JANE WANGARI DOE' })
  const ids = await many(200, 0)
  expect(await sourcesOf(ids)).toEqual({ 'no_match lookup': 20, 'unavailable daily_limit': 180 })
  service.clock.advance(60)
  // A beneficiary with an earlier check today is checked again; the others get nothing until midnight.
  for (const id of ids) await person.api.post(`/v1/beneficiaries/${id}/verify`)
  await service.settle()
  expect(await sourcesOf(ids)).toEqual({ 'no_match lookup': 20, 'unavailable daily_limit': 180 })
  service.clock.advance(86_400)
  await service.settle()
  expect(await sourcesOf(ids)).toEqual({ 'no_match lookup': 40, 'unavailable daily_limit': 160 })
})

const post = (path: string) => person.api.post(path)
const sourcesListed = async (id: string) => (await checksOf(id)).map(({ source }) => source)

test('what the limit postpones is recorded once, however many days and requests follow, and no name is searched for it again', async () => {
  const ids = await many(50, 1_000)
  for (let day = 0; day < 2; day += 1) {
    service.clock.advance(86_400)
    await service.settle()
  }
  const listed = await Promise.all(ids.map(sourcesListed))
  expect(new Set(listed.flatMap((sources) => sources.filter((source) => source === 'daily_limit').length))).toEqual(
    new Set([0, 1]),
  )
  // A payee that has a name already.
  const [first = ''] = await many(1, 1_100)
  service.clock.advance(86_400)
  await service.settle()
  await many(20, 1_200)
  for (let request = 0; request < 3; request += 1) {
    service.clock.advance(5)
    expect((await post(`/v1/beneficiaries/${first}/verify`)).status).toBe(202)
    await service.settle()
  }
  expect((await sourcesListed(first)).filter((source) => source === 'daily_limit')).toHaveLength(1)
})

test('each day has at most 500 checks that the limit postponed: further ones are due on the days after', async () => {
  const dueOf = async (id: string) => {
    const [row] = await service.deps.db.query<{ at: Date | null }>(
      'select name_check_due_at as at from beneficiaries where id = $1',
      [idOf('beneficiary', id)],
    )
    return row?.at?.getTime() ?? 0
  }
  const waiting = await many(21, 2_000)
  const days = await Promise.all(waiting.map(dueOf))
  const tomorrow = Math.max(...days)
  const last = waiting[days.indexOf(tomorrow)] ?? ''
  await service.deps.db.query(
    `insert into beneficiaries select (jsonb_populate_record(b, jsonb_build_object('id', gen_random_uuid()))).*
     from beneficiaries b, generate_series(1, 499) where b.id = $1`,
    [idOf('beneficiary', last)],
  )
  const [further = ''] = await many(1, 2_100)
  expect(await dueOf(further)).toBe(tomorrow + 86_400_000)
})

test('a workspace with thousands of due checks delays no check of another one', async () => {
  const other = await signIn(service.api)
  const backlog = await newBeneficiary(person.api, { destination: '254722399998' })
  await service.deps.db.query(
    `insert into beneficiaries select (jsonb_populate_record(b, jsonb_build_object('id', gen_random_uuid()))).*
     from beneficiaries b, generate_series(1, 2000) where b.id = $1`,
    [idOf('beneficiary', backlog)],
  )
  service.clock.advance(1)
  const late = await newBeneficiary(other.api, { destination: '254722399999' })
  const worker = createNameCheckWorker({ ...service.deps, onNameChanged: async () => undefined })
  const { tasks } = await worker.claim({ free: 4, ofTenant: () => 4, except: [], full: [] })
  expect(tasks.map(({ key }) => key)).toContain(idOf('beneficiary', late))
  await service.deps.db.query('update beneficiaries set name_check_due_at = null')
})

test('a payee beyond the limit asks as one without a name does, and the approver reads why', async () => {
  const ids = await many(21, 400)
  const left = (await Promise.all(ids.map(async (id) => ({ id, source: (await read(id)).source })))).find(
    ({ source }) => source === 'daily_limit',
  )
  const policy = { name: 'Names', payee_verification: 'require_approval' }
  expect((await person.api.post('/v1/spending-policies', policy)).status).toBe(201)
  const held = await pay(left?.id ?? '', '10000')
  expect(held.status).toBe('pending_approval')
  const { message } = (await person.api.get(`/v1/approvals/${held.approval_id}/message`)).body
  expect(message).toContain('Registered name: not checked: daily limit')
})

test('a new account reads a first name and initials everywhere, until a payment to that payee succeeds', async () => {
  const id = await known({ display_name: 'Landlord', ...account })
  const short = 'WANJIRU N**** K****'
  expect(await read(id)).toMatchObject({ status: 'no_match', name: short, source: 'lookup' })
  expect(await checksOf(id)).toMatchObject([{ status: 'no_match', name: short, source: 'lookup', payment_id: null }])
  const policy = { name: 'Names', payee_verification: 'require_approval' }
  expect((await person.api.post('/v1/spending-policies', policy)).status).toBe(201)
  const held = await pay(id, '10000')
  const shown = await Promise.all(
    [
      `/v1/approvals/${held.approval_id}`,
      `/v1/approvals/${held.approval_id}/message`,
      `/v1/payments/${held.id}`,
      '/v1/notifications',
      '/v1/payments/attention',
      `/v1/beneficiaries/${id}`,
    ].map(async (path) => JSON.stringify((await person.api.get(path)).body)),
  )
  expect(shown.filter((text) => text.includes('NJERI'))).toEqual([])
  expect(shown[0]).toContain(short)
  expect(await service.deps.db.query("select 1 from beneficiary_verifications where name like '%NJERI%'")).toEqual([])
  expect((await person.api.post(`/v1/approvals/${held.approval_id}/decide`, { decision: 'approve' })).status).toBe(200)
  await service.settle()
  expect((await person.api.get(`/v1/payments/${held.id}`)).body.status).toBe('succeeded')
  expect(await read(id)).toMatchObject({ status: 'no_match', name: 'WANJIRU NJERI KAMAU' })
})

test('each check is listed, newest first, with the payment whose result reported the name', async () => {
  const id = await known({ display_name: 'Wanjiru Kamau', destination: '254722100001' })
  const paid = await pay(id, '10000')
  await service.settle()
  expect(await checksOf(id)).toEqual([
    { status: 'match', name: 'WANJIRU NJERI KAMAU', source: 'payment', checked_at: expect.any(String), payment_id: paid.id },
    { status: 'match', name: 'WANJIRU N**** K****', source: 'lookup', checked_at: expect.any(String), payment_id: null },
  ])
})

test('names that payments report while the rail is asked are each compared, in their order', async () => {
  const destination = '254722100001'
  const id = await known({ display_name: 'Wanjiru Kamau', destination })
  const payments: string[] = []
  for (const amount of ['10000', '20000', '30000']) payments.push((await pay(id, amount)).id)
  await service.settle()
  service.clock.advance(61)
  const rail = service.deps.rails.payout.MPESA_B2C
  if (!rail?.lookUp) throw new Error('MPESA_B2C is asked for names')
  const { lookUp } = rail
  // Another connection commits both results between the query and the check's writes.
  const names = ['JANE WANGARI DOE', 'PETER KARIUKI OTIENO']
  rail.lookUp = async (request) => {
    const answer = await lookUp(request)
    for (const [index, name] of names.entries())
      await inTx(service.deps.db, async (tx) => {
        const accountId = idOf('account', person.accountId)
        await lockAccount(tx, accountId)
        const payment = { id: idOf('payment', payments[index] ?? ''), accountId, beneficiaryId: idOf('beneficiary', id) }
        recordReportedNames(tx, [{ payment, name }])
      })
    return answer
  }
  try {
    await person.api.post(`/v1/beneficiaries/${id}/verify`)
    await service.settle()
  } finally {
    rail.lookUp = lookUp
  }
  expect(await read(id)).toMatchObject({ status: 'no_match', name: names[1], source: 'payment' })
  const checks = await checksOf(id)
  expect(checks.slice(0, 3).map(({ status, name, payment_id }) => [status, name, payment_id])).toEqual([
    ['no_match', names[1], payments[1]],
    ['no_match', names[0], payments[0]],
    ['match', 'WANJIRU N**** K****', null],
  ])
})

test('a result without a name shows the whole name too: the rail is asked again, once', async () => {
  const id = await known({ display_name: 'Wanjiru Kamau', ...account })
  const paid = await pay(id, '10000')
  await service.settle()
  await service.deps.db.query(
    "update beneficiaries set reported_name = 'WANJIRU N**** K****', result_name = null where id = $1",
    [idOf('beneficiary', id)],
  )
  const before = (await checksOf(id)).length
  const payment = {
    id: idOf('payment', paid.id),
    accountId: idOf('account', person.accountId),
    beneficiaryId: idOf('beneficiary', id),
  }
  await inTx(service.deps.db, async (tx) => recordReportedNames(tx, [{ payment, name: undefined }]))
  await service.settle()
  expect(await read(id)).toMatchObject({ name: 'WANJIRU NJERI KAMAU', source: 'lookup' })
  expect((await checksOf(id)).length).toBe(before + 1)
})
