import { expect, test } from 'vitest'
import { parseId } from '../../src/lib/ids.ts'
import type { Client, Json } from '../harness/client.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { createKey, type Key, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'

const service = await openService({ env: { RATE_LIMIT_ENABLED: 'false' } })
const person = await signIn(service.api)
const payee = await newBeneficiary(person.api, { display_name: 'Wanjiru Kamau', destination: '254722000111' })

const agent = (limit = '10000'): Promise<Key> =>
  createKey(person, { spending_controls: { per_payment_limit_minor: limit, new_payees: 'allow' } })
const pay = (api: Client, amount_minor: string, more: Record<string, unknown> = {}) =>
  api.post('/v1/payments', { beneficiary_id: payee, amount_minor, ...more })
const refused = async (api: Client, query = ''): Promise<Json[]> => (await api.get(`/v1/payment-refusals${query}`)).body.data

test('a refused payment is listed with who asked, for whom, how much, the code, the decision and the request', async () => {
  const key = await agent()
  const answer = await pay(key.api, '25000', { account_reference: 'INV-1' })
  expect(answer.status).toBe(403)
  const [row, ...others] = await refused(key.api)
  expect(others).toEqual([])
  const { trace: _, ...decision } = answer.body.details.decision
  expect(row).toEqual({
    id: expect.stringMatching(/^rfs_/),
    workspace_id: expect.stringMatching(/^wsp_/),
    initiated_by: { account_id: person.accountId, grant_id: key.grantId, label: 'Agent' },
    beneficiary: { id: payee, display_name: 'Wanjiru Kamau', destination_mask: expect.stringMatching(/\*0111$/) },
    amount_minor: '25000',
    currency: 'KES',
    account_reference: 'INV-1',
    error: 'policy_denied',
    message: answer.body.message,
    decision,
    request_id: answer.headers.get('x-request-id'),
    created_at: expect.any(String),
  })
  await service.settle()
  const events = (await person.api.get('/v1/notifications?type=payment.refused')).body.data as Json[]
  expect(events.find(({ data }) => data.id === row.id)?.data).toEqual(row)
})

test('a refusal for lack of money is listed without the balance, also where the answer named it', async () => {
  await credit(service, person.accountId, 123_400n)
  const answer = await pay(person.api, '200000')
  expect(answer.status).toBe(402)
  expect(answer.body.message).toContain('1,234')
  const [row] = await refused(person.api)
  expect(row).toMatchObject({ error: 'insufficient_funds', decision: null, initiated_by: { grant_id: null } })
  expect(JSON.stringify(row)).not.toContain('1,234')
})

test('a request that is invalid, unknown or accepted leaves no refused payment', async () => {
  const key = await agent()
  expect((await pay(key.api, '25.00')).status).toBe(400)
  expect((await pay(key.api, '5000', { mandate_id: 'man_01h455vb4pex5vsknk084sn02q' })).status).toBe(404)
  expect((await pay(key.api, '5000')).status).toBe(201)
  expect(await refused(key.api)).toEqual([])
})

test('a key sees what it and the keys below it were refused, and not what others were, in the list and in its events', async () => {
  const key = await agent()
  const child = await createKey(key, { spending_controls: { per_payment_limit_minor: '1000' } })
  const other = await agent()
  const ids: string[] = []
  for (const { api } of [key, child, other]) {
    await pay(api, '30000')
    ids.push((await refused(api))[0].id)
  }
  const [own, below, foreign] = ids
  expect((await refused(key.api)).map(({ id }) => id)).toEqual([below, own])
  await service.settle()
  const events = (await key.api.get('/v1/notifications?type=payment.refused')).body.data as Json[]
  expect(events.map(({ data }) => data.id)).toEqual([below, own])
  expect((await refused(person.api, `?grant_id=${other.grantId}`)).map(({ id }) => id)).toEqual([foreign])
  expect(await refused(person.api, `?grant_id=${other.grantId}&created_before=2020-01-01T00:00:00Z`)).toEqual([])
  const stranger = await signIn(service.api)
  expect(await refused(stranger.api)).toEqual([])
})

test('the name of another workspace’s beneficiary is not learnt from a refused payment to it', async () => {
  const stranger = await signIn(service.api)
  await stranger.api.post('/v1/workspaces/current/freeze', { reason: 'a test' })
  const answer = await stranger.api.post('/v1/payments', { beneficiary_id: payee, amount_minor: '100' }, { key: 'foreign' })
  expect(answer.body.error).toBe('workspace_frozen')
  expect((await refused(stranger.api))[0]).toMatchObject({ error: 'workspace_frozen', beneficiary: null })
})

test('a payment and a batch that a freeze refuses are listed, with an idempotency key and without', async () => {
  const someone = await signIn(service.api)
  const beneficiary_id = await newBeneficiary(someone.api, { destination: '254722000114' })
  await someone.api.post('/v1/workspaces/current/freeze', { reason: 'a test' })
  const payment = { beneficiary_id, amount_minor: '100' }
  for (const options of [{}, { key: 'frozen' }]) {
    for (const send of [
      () => someone.api.post('/v1/payments', payment, options),
      () => someone.api.post('/v1/payment-batches', { items: [payment] }, options),
    ]) {
      const answer = await send()
      expect([answer.status, answer.body.error]).toEqual([403, 'workspace_frozen'])
    }
  }
  expect((await refused(someone.api)).map(({ error }) => error)).toEqual(Array(4).fill('workspace_frozen'))
})

test('each item of a batch that is refused is listed, also those that the answer only counts', async () => {
  const key = await agent()
  const items = Array.from({ length: 102 }, (_, index) => ({ beneficiary_id: payee, amount_minor: `${20_000 + index * 100}` }))
  const answer = await key.api.post('/v1/payment-batches', { items })
  expect([answer.status, answer.body.details.items.length, answer.body.details.more]).toEqual([403, 100, 2])
  const first = await key.api.get('/v1/payment-refusals?limit=100')
  const rest = await key.api.get(`/v1/payment-refusals?limit=100&cursor=${first.body.next_cursor}`)
  expect(first.body.data.length + rest.body.data.length).toBe(102)
})

test('only the items of a batch that are refused are listed', async () => {
  const key = await agent()
  const items = ['25000', '6000', '15000'].map((amount_minor) => ({ beneficiary_id: payee, amount_minor }))
  expect((await key.api.post('/v1/payment-batches', { items })).status).toBe(403)
  expect((await refused(key.api)).map(({ amount_minor }) => amount_minor).sort()).toEqual(['15000', '25000'])
})

test('a dry run of a batch that a rule refuses leaves no trace in the audit log', async () => {
  const someone = await signIn(service.api)
  await someone.api.post('/v1/spending-policies', { name: 'Small', per_payment_limit_minor: '10000' })
  const items = [{ beneficiary_id: await newBeneficiary(someone.api, { destination: '254722000113' }), amount_minor: '25000' }]
  const denials = async () =>
    (await someone.api.get('/v1/workspaces/current/audit-log?action=payment_batch.denied')).body.data.length
  expect((await someone.api.post('/v1/payment-batches?dry_run=true', { items })).status).toBe(403)
  expect(await denials()).toBe(0)
  expect((await someone.api.post('/v1/payment-batches', { items })).status).toBe(403)
  expect(await denials()).toBe(1)
})

test('of one grant at most 1,000 in 24 hours are recorded, and the 1,001st still gets its answer', async () => {
  const key = await agent()
  await pay(key.api, '25000')
  await refused(key.api)
  const grant = parseId('grant', key.grantId)
  await service.deps.db.query(
    `insert into payment_refusals select gen_random_uuid(), workspace_id, account_id, initiator_account_id, grant_id, beneficiary_id, amount_minor,
       account_reference, error, message, decision, request_id, created_at from payment_refusals, generate_series(2, 1000) where grant_id = $1`,
    [grant],
  )
  expect((await pay(key.api, '25000')).status).toBe(403)
  await refused(key.api)
  const count = async () =>
    (
      await service.deps.db.query<{ n: number }>('select count(*)::int as n from payment_refusals where grant_id = $1', [grant])
    )[0]?.n
  expect(await count()).toBe(1_000)
  service.clock.advance(86_401)
  await pay(key.api, '25000')
  await refused(key.api)
  expect(await count()).toBe(1_001)
})

test('the caller gets its answer also where the refusal cannot be recorded', async () => {
  const key = await agent()
  await service.deps.db.query('alter table payment_refusals rename to hidden')
  try {
    const answer = await pay(key.api, '25000')
    expect([answer.status, answer.body.error]).toEqual([403, 'policy_denied'])
    await service.deps.refusals.settled()
  } finally {
    await service.deps.db.query('alter table hidden rename to payment_refusals')
  }
  expect(service.log.some((line) => line.includes('a refused payment could not be recorded'))).toBe(true)
  await pay(key.api, '25000')
  expect(await refused(key.api)).toHaveLength(1)
})
