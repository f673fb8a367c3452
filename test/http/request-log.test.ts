import { expect, test } from 'vitest'
import { formatId, parseId } from '../../src/lib/ids.ts'
import type { Client, Json } from '../harness/client.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { createKey, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'

const service = await openService()
const person = await signIn(service.api)

const logOf = async (api: Client, query = ''): Promise<Json[]> => (await api.get(`/v1/request-log${query}`)).body.data
const told = (rows: readonly Json[]) => rows.map(({ method, path, status, error }) => [method, path, status, error].join(' '))

test('what was refused, failed or changed something is in the log with its credential, and what was read is not', async () => {
  const key = await createKey(person)
  const payee = await newBeneficiary(key.api)
  await key.api.get(`/v1/beneficiaries/${payee}`)
  await key.api.post('/v1/spending-policies/simulate', { beneficiary_id: payee, amount_minor: '1000' })
  const refused = await key.api.post('/v1/payments', { beneficiary_id: payee, amount_minor: '10.00' })
  await key.api.get('/v1/payments/pay_01h455vb4pex5vsknk084sn02q')
  const rows = await logOf(key.api)
  expect(told(rows)).toEqual([
    'GET /v1/payments/pay_01h455vb4pex5vsknk084sn02q 404 not_found',
    'POST /v1/payments 400 invalid_request',
    'POST /v1/beneficiaries 201 ',
  ])
  expect(rows[1]).toEqual({
    id: expect.stringMatching(/^req_/),
    at: service.clock.now().toISOString(),
    grant_id: key.grantId,
    operation: 'payments.create',
    method: 'POST',
    path: '/v1/payments',
    status: 400,
    error: 'invalid_request',
    message: refused.body.message,
    request_id: refused.headers.get('x-request-id'),
    ms: expect.any(Number),
  })
  expect(told(await logOf(key.api, '?status=404'))).toEqual(told(rows).slice(0, 1))
  expect(told(await logOf(key.api, '?status=4xx&limit=1'))).toEqual(told(rows).slice(0, 1))
  expect(await logOf(key.api, `?created_after=${service.clock.now().toISOString()}`)).toEqual([])
  const soon = new Date(service.clock.now().getTime() + 1).toISOString()
  expect(told(await logOf(key.api, `?created_before=${soon}`))).toEqual(told(rows))
  expect(await logOf(key.api, `?created_before=${service.clock.now().toISOString()}`)).toEqual([])
  expect((await key.api.get('/v1/request-log?status=403,404')).status).toBe(400)
})

test("one search for a payment's id finds its request, its send and its result in the log; no id of a record is a bare UUID", async () => {
  await credit(service, person.accountId, 1_000_000n)
  const beneficiary_id = await newBeneficiary(person.api)
  const { id } = (await person.api.post('/v1/payments', { beneficiary_id, amount_minor: '1000' })).body
  await service.settle()
  await person.api.get(`/v1/payments/${id}`)
  const lines = service.log.filter((line) => line.includes(id)).map((line): Json => JSON.parse(line))
  expect(lines.map(({ operation, msg }) => operation ?? msg)).toEqual([
    'payments.create',
    'rail called',
    'callback processed',
    'payments.get',
  ])
  const bare = parseId('payment', id) ?? ''
  expect(service.log.filter((line) => line.includes(bare))).toEqual([])
  const account = parseId('account', person.accountId) ?? ''
  service.deps.logger.info({ account, sweep: 'policies.change', id: account, attempt: account }, 'a line')
  const { account: named, id: policy, attempt } = JSON.parse(service.log.at(-1) ?? '')
  expect([named, policy, attempt]).toEqual([formatId('account', account), formatId('policy', account), account])
  service.deps.alerts.raise('sweep_failing', { subject: 'approvals.renew', id: account })
  expect(JSON.parse(service.log.at(-1) ?? '').id).toBe(formatId('approval', account))
})

test('a request is found by its id, also one of an earlier version; another account does not find it', async () => {
  const key = await createKey(person)
  const refused = await key.api.post('/v1/payments', { beneficiary_id: 'ben_01h455vb4pex5vsknk084sn02q', amount_minor: '1000' })
  const id = String(refused.headers.get('x-request-id'))
  const found = await logOf(person.api, `?request_id=${id}`)
  expect(found.map(({ request_id, operation }) => [request_id, operation])).toEqual([[id, 'payments.create']])
  const earlier = '5b0dbb93-5d1c-4a6e-9f3a-0d6f3e2f1a77'
  await service.deps.db.query('update request_log set request_id = $1 where request_id = $2', [earlier, id])
  expect(await logOf(person.api, `?request_id=${earlier}`)).toHaveLength(1)
  expect(await logOf(person.api, `?request_id=${id}`)).toEqual([])
  expect(await logOf((await signIn(service.api)).api, `?request_id=${earlier}`)).toEqual([])
})

test('a key sees its own requests and those of the keys below it; its person sees all; another account sees none', async () => {
  const key = await createKey(person)
  const child = await createKey(key)
  const other = await createKey(person)
  for (const { api } of [key, child, other]) await newBeneficiary(api)
  const grants = (rows: readonly Json[]) => rows.map(({ grant_id }) => grant_id)
  expect(grants(await logOf(key.api))).toEqual([child.grantId, key.grantId, key.grantId])
  expect(grants(await logOf(child.api))).toEqual([child.grantId])
  expect(grants(await logOf(person.api, `?grant_id=${other.grantId}`))).toEqual([other.grantId])
  const stranger = await signIn(service.api)
  expect(await logOf(stranger.api)).toEqual([])
  expect(await logOf(stranger.api, `?grant_id=${key.grantId}`)).toEqual([])
})

test('neither a body, a query nor a secret in a path is kept', async () => {
  const someone = await signIn(service.api)
  await someone.api.get('/v1/oauth/device/BCDF-GHJK?note=hidden-query')
  await someone.api.get('/v1/oauth/device/BCDF-GHJK')
  await newBeneficiary(someone.api, { display_name: 'hidden-body', destination: '254722999888' })
  const text = JSON.stringify(await logOf(someone.api))
  expect(text).toContain('/v1/oauth/device/:user_code')
  for (const secret of ['BCDF', 'hidden', '722999888']) expect(text).not.toContain(secret)
})

test('what does not reach the database is counted in the service’s log, and the next requests are kept', async () => {
  const someone = await signIn(service.api)
  await service.deps.requestLog.flush()
  await service.deps.db.query('alter table request_log rename to hidden')
  expect((await someone.api.post('/v1/payments', {})).status).toBe(400)
  await service.deps.requestLog.flush()
  await service.deps.db.query('alter table hidden rename to request_log')
  expect(service.log.some((line) => line.includes('requests are missing from the request log'))).toBe(true)
  expect((await someone.api.post('/v1/payments', {})).status).toBe(400)
  expect(await logOf(someone.api)).toHaveLength(1)
})

test('a request that the database refuses costs no other request its row', async () => {
  const [refused, ...others] = await Promise.all(Array.from({ length: 4 }, () => signIn(service.api)))
  await service.deps.requestLog.flush()
  const planted = `alter table request_log add constraint planted check (account_id <> '${parseId('account', refused?.accountId ?? '')}')`
  await service.deps.db.query(planted)
  for (const { api } of [...others, refused ?? person, ...others]) expect((await api.post('/v1/payments', {})).status).toBe(400)
  await service.deps.requestLog.flush()
  for (const { api } of others) expect(told(await logOf(api))).toEqual(Array(2).fill('POST /v1/payments 400 invalid_request'))
  expect(await logOf(refused?.api ?? person.api)).toEqual([])
  await service.deps.db.query('alter table request_log drop constraint planted')
})

test('an account keeps its newest 10,000 for seven days', async () => {
  const someone = await signIn(service.api)
  await someone.api.post('/v1/payments', {})
  const [first] = await logOf(someone.api)
  const account = parseId('account', someone.accountId)
  await service.deps.db.query(
    `insert into request_log select gen_random_uuid(), account_id, grant_id, 'planted', method, path, status, error, message, request_id, ms, at
     from request_log, generate_series(1, 10005) where account_id = $1`,
    [account],
  )
  await service.deps.jobs.sweep()
  const count = async () =>
    (await service.deps.db.query<{ n: number }>('select count(*)::int as n from request_log where account_id = $1', [account]))[0]
      ?.n
  expect(await count()).toBe(10_000)
  await someone.api.post('/v1/payments', {})
  expect(await logOf(someone.api, '?limit=2')).toHaveLength(2)
  expect(first.operation).toBe('payments.create')
  service.clock.advance(7 * 86_400 + 1)
  await service.deps.jobs.sweep()
  expect(await count()).toBe(0)
})
