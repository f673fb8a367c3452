import { afterAll, describe, expect, test } from 'vitest'
import { parseId } from '../../src/lib/ids.ts'
import { leafHash, rootOf, treeOf } from '../../src/lib/merkle.ts'
import type { Json } from '../harness/client.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { createKey, type Person, signIn } from '../harness/people.ts'
import { openService, startService } from '../harness/service.ts'
import { findBreaches } from '../harness/verify.ts'

const service = await openService({ env: { RATE_LIMIT_ENABLED: 'false' } })
afterAll(async () => {
  expect(await findBreaches(service)).toEqual([])
})

let serial = 0
type Payer = Person & { payees: string[] }
const payer = async (amount = 10_000_000n, payees = 4): Promise<Payer> => {
  const person = await signIn(service.api)
  await credit(service, person.accountId, amount)
  const own: string[] = []
  for (let n = 0; n < payees; n += 1) {
    serial += 1
    own.push(await newBeneficiary(person.api, { destination: `2547330${String(serial).padStart(5, '0')}` }))
  }
  return { ...person, payees: own }
}
const itemsOf = (payees: readonly string[], amount = '10000') =>
  payees.map((id) => ({ beneficiary_id: id, amount_minor: amount }))
const submit = (from: Pick<Person, 'api'>, items: readonly unknown[], fields: Json = {}, options: Json = {}) =>
  from.api.post('/v1/payment-batches', { items, ...fields }, options)
const paymentsOf = async (from: Person, id: string): Promise<Json[]> =>
  (await from.api.get(`/v1/payments?batch_id=${id}&limit=100`)).body.data.reverse()
const balance = async (from: Person) => (await from.api.get('/v1/accounts/me')).body.balance
const batchOf = async (from: Person, id: string): Promise<Json> => (await from.api.get(`/v1/payment-batches/${id}`)).body
const eventsOf = async (from: Person, type: string): Promise<Json[]> =>
  service.deps.db.query('select data from events where type = $1 and account_id = $2', [type, parseId('account', from.accountId)])
const asking = (from: Person, fields: Json = {}) =>
  from.api.post('/v1/spending-policies', { name: 'Ask', approval_threshold_minor: '50000', ...fields })

test('a list of payments can have one row for a batch: its first item, in each page', async () => {
  const someone = await payer()
  const pay = async () =>
    (await someone.api.post('/v1/payments', { beneficiary_id: someone.payees[0], amount_minor: '12300' })).body.id
  const before = await pay()
  const { id } = (await submit(someone, itemsOf(someone.payees))).body
  const after = await pay()
  const [first] = await paymentsOf(someone, id)
  const list = async (query: string) => (await someone.api.get(`/v1/payments?batch_items=first${query}`)).body
  const newest = await list('&limit=2')
  expect(newest.data.map((payment: Json) => payment.id)).toEqual([after, first?.id])
  const older = await list(`&limit=2&cursor=${newest.next_cursor}`)
  expect([older.data.map((payment: Json) => payment.id), older.next_cursor]).toEqual([[before], null])
  expect((await someone.api.get('/v1/payments?batch_items=all')).body.data).toHaveLength(someone.payees.length + 2)
  expect((await someone.api.get('/v1/payments?batch_items=none')).status).toBe(400)
})

describe('a batch that needs no approval', () => {
  test('is ordinary payments: held together, sent each by itself, counted until all have ended', async () => {
    const someone = await payer()
    const answer = await submit(someone, itemsOf(someone.payees), { name: 'March salaries', metadata: { month: '3' } })
    expect(answer.status).toBe(201)
    expect(answer.body).toMatchObject({
      status: 'processing',
      name: 'March salaries',
      metadata: { month: '3' },
      items_count: 4,
      total_minor: '40000',
      counts: { processing: 4 },
      approval_id: null,
      completed_at: null,
    })
    const { warnings: _, ...record } = answer.body
    expect(await batchOf(someone, answer.body.id)).toEqual(record)
    expect(await balance(someone)).toMatchObject({ held_minor: '40000' })
    const items = await paymentsOf(someone, answer.body.id)
    expect(items.map(({ batch_index, beneficiary_id }) => [batch_index, beneficiary_id])).toEqual(
      someone.payees.map((id, index) => [index, id]),
    )
    await service.settle()
    expect(await batchOf(someone, answer.body.id)).toMatchObject({ status: 'completed', counts: { succeeded: 4 } })
    expect(await balance(someone)).toMatchObject({ available_minor: '9960000', held_minor: '0' })
    const types = ['payment_batch.created', 'payment_batch.completed']
    for (const type of types) expect((await eventsOf(someone, type)).map(({ data }) => data.id)).toEqual([answer.body.id])
  })

  test('completes when a third of it fails, and fails when nothing of it was paid', async () => {
    const someone = await payer()
    const failing = '254700000001'
    const bad = await newBeneficiary(someone.api, { destination: failing })
    const mixed = (await submit(someone, itemsOf([...someone.payees.slice(0, 2), bad]))).body
    const lost = (await submit(someone, itemsOf([bad], '20000'))).body
    await service.settle()
    const [done, failed] = [await batchOf(someone, mixed.id), await batchOf(someone, lost.id)]
    expect([done.status, done.counts]).toEqual(['completed', { succeeded: 2, failed: 1 }])
    expect([failed.status, failed.counts]).toEqual(['failed', { failed: 1 }])
    expect(await balance(someone)).toMatchObject({ available_minor: '9980000', held_minor: '0' })
  })

  test('is created once for a key, at two processes at once', async () => {
    const someone = await payer()
    const other = await startService({ database: service.database, clock: service.clock })
    const second = other.api.as({ cookie: someone.cookie })
    const send = (api: Person['api']) => submit({ api }, itemsOf(someone.payees), {}, { key: 'salaries' })
    const answers = await Promise.all([send(someone.api), send(second), send(someone.api), send(second)])
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201])
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(await balance(someone)).toMatchObject({ held_minor: '40000' })
    const listed = (await someone.api.get('/v1/payment-batches?idempotency_key=salaries')).body.data
    expect(listed.map(({ id }: Json) => id)).toEqual([answers[0]?.body.id])
    await other.close()
  })
})

describe('a batch that cannot be paid whole', () => {
  test('creates nothing, and names every item with its reason: 400 before 403 before 402', async () => {
    const someone = await payer(100_000n)
    await someone.api.post('/v1/spending-policies', { name: 'Least', per_payment_limit_minor: '60000' })
    const [one = '', two = ''] = someone.payees
    const items = [
      { beneficiary_id: one, amount_minor: '10000' },
      { beneficiary_id: two, amount_minor: '10050' },
      { beneficiary_id: `ben_${'0'.repeat(26)}`, amount_minor: '10000' },
      { beneficiary_id: one, amount_minor: '70000' },
      { beneficiary_id: two, amount_minor: '60000' },
      { beneficiary_id: two, amount_minor: '50000' },
    ]
    const first = await submit(someone, items, {}, { key: 'again' })
    expect([first.status, first.body.error]).toEqual([400, 'invalid_request'])
    expect(first.body.details.items.map(({ index, error, param }: Json) => [index, error, param])).toEqual([
      [1, 'invalid_request', 'amount_minor'],
      [2, 'not_found', 'beneficiary_id'],
      [3, 'policy_denied', undefined],
    ])
    expect(first.body.details.fields.map(({ path }: Json) => path)).toEqual([
      ...['items.1.amount_minor', 'items.2.beneficiary_id'],
    ])
    const second = await submit(someone, [items[0], items[3], items[4], items[5]])
    expect([second.status, second.body.error]).toEqual([403, 'policy_denied'])
    const third = await submit(someone, [items[0], items[4], items[5]])
    expect([third.status, third.body.details]).toMatchObject([
      402,
      { total_minor: '120000', available_minor: '100000', items: [] },
    ])
    expect((await someone.api.get('/v1/payments')).body.data).toEqual([])
    expect(await balance(someone)).toMatchObject({ available_minor: '100000', held_minor: '0' })
    // A failed request leaves no key behind.
    expect((await submit(someone, items.slice(0, 1), {}, { key: 'again' })).status).toBe(201)
  })

  test('counts limits item by item: seven of ten fit, and the other three are named', async () => {
    const someone = await payer()
    await someone.api.post('/v1/spending-policies', { name: 'Seven', daily_limit_minor: '70000' })
    const [one = ''] = someone.payees
    const items = Array.from({ length: 10 }, (_, n) => ({ ...itemsOf([one])[0], account_reference: `INV-${n}` }))
    const answer = await submit(someone, items)
    expect([answer.status, answer.body.details.items.map(({ index }: Json) => index)]).toEqual([403, [7, 8, 9]])
    expect((await submit(someone, items.slice(0, 7))).status).toBe(201)
    expect((await submit(someone, items.slice(7, 8))).status).toBe(403)
  })

  test('falls under the controls of the key that sends it', async () => {
    const someone = await payer()
    const key = await createKey(someone, { spending_controls: { per_payment_limit_minor: '5000' } })
    expect((await submit(key, itemsOf(someone.payees))).status).toBe(403)
    expect((await submit(key, itemsOf(someone.payees, '5000'))).body.initiated_by.grant_id).toBe(key.grantId)
  })
})

describe('a batch of which one item needs an approval', () => {
  const waiting = async (fields: Json = {}) => {
    const someone = await payer()
    await asking(someone, fields)
    const items = [...itemsOf(someone.payees.slice(0, 3)), ...itemsOf(someone.payees.slice(3), '50000')]
    const batch = (await submit(someone, items, { name: 'March' })).body
    return { someone, batch, approval: (await someone.api.get(`/v1/approvals/${batch.approval_id}`)).body }
  }

  test('waits as a whole, for one approval whose text names the sum, the largest and the root over all items', async () => {
    const { someone, batch, approval } = await waiting()
    expect([batch.status, batch.counts]).toEqual(['pending_approval', { pending_approval: 4 }])
    expect(approval).toMatchObject({
      status: 'pending',
      payment: null,
      batch: { id: batch.id, items_count: 4, total_minor: '80000' },
    })
    const items = await paymentsOf(someone, batch.id)
    expect(new Set(items.map(({ approval_id }) => approval_id))).toEqual(new Set([batch.approval_id]))
    const rows = await service.deps.db.query<{ leaf: string }>(
      'select batch_leaf as leaf from payments where batch_id = $1 order by batch_index',
      [parseId('payment_batch', batch.id)],
    )
    const leaves = rows.map(({ leaf }) => leafHash(leaf))
    const root = Buffer.from(rootOf(leaves.length, treeOf(leaves))).toString('hex')
    expect(batch.merkle_root).toBe(root)
    const lines = (await someone.api.get(`/v1/payment-batches/${batch.id}/lines`)).body
    expect([lines.merkle_root, lines.lines.map(({ leaf }: Json) => leaf)]).toEqual([root, rows.map(({ leaf }) => leaf)])
    expect(lines.lines.map(({ payment_id, last_amount_minor }: Json) => [payment_id, last_amount_minor])).toEqual(
      items.map(({ id }) => [id, null]),
    )
    expect(approval.signing.approve).toContain(`Merkle root: ${root}`)
    expect(approval.signing.approve).toContain('Total: KES 800.00')
    expect(approval.signing.approve).toContain('Payees never paid before: 4')
    expect(approval.signing.approve).toContain('Payees with a different registered name: 0')
    expect(approval.signing.approve).toContain('- KES 500.00 to ')
  })

  test('names in its text each payee once, however many items it has', async () => {
    const someone = await payer()
    await asking(someone)
    const [one = '', other = ''] = someone.payees
    const batch = (
      await submit(someone, [
        ...itemsOf([one], '50000'),
        ...itemsOf([one], '60000'),
        ...itemsOf([one], '70000'),
        ...itemsOf([other]),
      ])
    ).body
    const { signing } = (await someone.api.get(`/v1/approvals/${batch.approval_id}`)).body
    expect(signing.approve).toContain('\nPayments: 4\nPayees: 2\n')
    expect(signing.approve).toContain('\nPayees never paid before: 2\n')
  })

  test('names in its text, and in its facts, what is unusual of every item too, with both names', async () => {
    const someone = await payer()
    await asking(someone, { approval_threshold_minor: '1' })
    const row = (name: string, serial: number) => ({
      ...{ display_name: name, destination: `072200060${serial}`, amount_minor: '10000' },
    })
    expect((await submit(someone, [row('Achieng', 1), row('Baraka', 2)])).status).toBe(201)
    const mixedUp = [row('Baraka', 1), row('Achieng', 2)]
    const batch = (await submit(someone, mixedUp, { duplicates_intended: true })).body
    const { message, facts } = (await service.api.get(`/v1/approvals/${batch.approval_id}/message`)).body
    expect(message.approve ?? message).toContain(`
Warning: The batch gives 2 beneficiaries other names
- "Achieng": "Baraka" in the batch, KES 100.00
- "Baraka": "Achieng" in the batch, KES 100.00
Warning: 2 payments repeat the amount and reference of an earlier payment
- "Achieng": like one of `)
    expect(facts.filter(({ level }: Json) => level === 'warning').map(({ type, count }: Json) => [type, count])).toEqual([
      ['name_differs', 2],
      ['possible_duplicate', 2],
    ])
    const { lines } = (await someone.api.get(`/v1/payment-batches/${batch.id}/lines`)).body
    for (const line of lines) expect(line.facts.map(({ type }: Json) => type)).toEqual(['name_differs', 'possible_duplicate'])
  })

  test('is sent whole by one signature', async () => {
    const { someone, batch, approval } = await waiting()
    const signature = await someone.wallet.signMessage({ message: approval.signing.approve })
    const decided = await service.api.post(`/v1/approvals/${approval.id}/decide-by-signature`, { decision: 'approve', signature })
    expect([decided.status, decided.body.status, decided.body.batch.status]).toEqual([200, 'approved', 'processing'])
    await service.settle()
    expect(await batchOf(someone, batch.id)).toMatchObject({ status: 'completed', counts: { succeeded: 4 } })
    expect(await balance(someone)).toMatchObject({ available_minor: '9920000', held_minor: '0' })
  })

  test.each([
    ['rejected', (s: Person, a: string) => s.api.post(`/v1/approvals/${a}/decide`, { decision: 'reject' })],
    ['cancelled', (s: Person, _: string, b: string) => s.api.post(`/v1/payment-batches/${b}/cancel`)],
    [
      'expired',
      async () => {
        service.clock.advance(73 * 3600)
        await service.deps.jobs.sweep()
      },
    ],
  ])('gives everything back when it is %s', async (status, end) => {
    const { someone, batch, approval } = await waiting()
    await end(someone, approval.id, batch.id)
    expect(await batchOf(someone, batch.id)).toMatchObject({ status, counts: { [status]: 4 } })
    expect((await someone.api.get(`/v1/approvals/${approval.id}`)).body.status).toBe(status)
    expect(await balance(someone)).toMatchObject({ available_minor: '10000000', held_minor: '0' })
    expect((await eventsOf(someone, `payment_batch.${status}`)).map(({ data }) => data.id)).toEqual([batch.id])
    await service.settle()
    expect(await batchOf(someone, batch.id)).toMatchObject({ counts: { [status]: 4 } })
  })

  test('fails only the item whose payee was frozen meanwhile', async () => {
    const { someone, batch, approval } = await waiting()
    await someone.api.patch(`/v1/beneficiaries/${someone.payees[1]}`, { status: 'frozen' })
    expect((await someone.api.post(`/v1/approvals/${approval.id}/decide`, { decision: 'approve' })).status).toBe(200)
    await service.settle()
    expect(await batchOf(someone, batch.id)).toMatchObject({ status: 'completed', counts: { succeeded: 3, failed: 1 } })
    expect((await paymentsOf(someone, batch.id))[1]).toMatchObject({ status: 'failed', failure_code: 'policy_changed' })
  })

  test('counts in the day of its approval, item by item: what no longer fits then fails alone', async () => {
    const { someone, batch, approval } = await waiting({ daily_limit_minor: '80000' })
    service.clock.advance(24 * 3600)
    const paid = await someone.api.post('/v1/payments', { beneficiary_id: someone.payees[0], amount_minor: '20000' })
    expect(paid.status).toBe(201)
    expect((await someone.api.post(`/v1/approvals/${approval.id}/decide`, { decision: 'approve' })).status).toBe(200)
    await service.settle()
    expect(await batchOf(someone, batch.id)).toMatchObject({ counts: { succeeded: 3, failed: 1 } })
    expect((await paymentsOf(someone, batch.id))[3]).toMatchObject({ status: 'failed', failure_code: 'policy_changed' })
  })

  test.each([
    ['its total reaches, while it waits: nothing leaves', { of: 4, threshold: '200000', isApproved: false }, { failed: 4 }],
    ['its total reaches, after its approval: nothing leaves', { of: 4, threshold: '200000', isApproved: true }, { failed: 4 }],
    [
      'two of its items reach together: they alone fail',
      { of: 2, threshold: '100000', isApproved: true },
      { succeeded: 2, failed: 2 },
    ],
    ['no item under it reaches: everything leaves', { of: 1, threshold: '50100', isApproved: true }, { succeeded: 4 }],
  ])('is compared again with a new threshold for two approvals, that %s', async (_, { of, threshold, isApproved }, counts) => {
    const someone = await payer()
    expect((await asking(someone, { approval_threshold_minor: null, required_approval_count: 1 })).status).toBe(201)
    const batch = (await submit(someone, itemsOf(someone.payees, '50000'))).body
    const approve = () => someone.api.post(`/v1/approvals/${batch.approval_id}/decide`, { decision: 'approve' })
    if (isApproved) expect((await approve()).body.status).toBe('approved')
    const payees = someone.payees.slice(0, of)
    const rule = { beneficiary_ids: payees, approval_threshold_minor: threshold, required_approval_count: 2 }
    expect((await asking(someone, rule)).status).toBe(201)
    if (!isApproved) expect((await approve()).body.status).toBe('approved')
    await service.settle()
    expect((await batchOf(someone, batch.id)).counts).toEqual(counts)
    for (const { status, failure_code } of await paymentsOf(someone, batch.id))
      expect([status, failure_code]).toEqual(status === 'failed' ? ['failed', 'policy_changed'] : ['succeeded', null])
  })

  test('is decided once when approval and cancellation come together', async () => {
    const { someone, batch, approval } = await waiting()
    const [approved, cancelled] = await Promise.all([
      someone.api.post(`/v1/approvals/${approval.id}/decide`, { decision: 'approve' }),
      someone.api.post(`/v1/payment-batches/${batch.id}/cancel`),
    ])
    expect([approved.status, cancelled.status].sort()).toEqual([200, 409])
    await service.settle()
    const counts = (await batchOf(someone, batch.id)).counts
    expect([{ succeeded: 4 }, { cancelled: 4 }]).toContainEqual(counts)
  })

  test('cannot be cancelled item by item', async () => {
    const { someone, batch } = await waiting()
    const [item] = await paymentsOf(someone, batch.id)
    const answer = await someone.api.post(`/v1/payments/${item?.id}/cancel`)
    const { reason, batch_id } = answer.body.details
    expect([answer.status, reason, batch_id]).toEqual([409, 'batch_item', batch.id])
  })

  test('ends whole when its key is revoked', async () => {
    const someone = await payer()
    await asking(someone)
    const key = await createKey(someone, {})
    const batch = (await submit(key, [...itemsOf(someone.payees.slice(0, 2)), ...itemsOf(someone.payees.slice(2), '50000')])).body
    expect(batch.status).toBe('pending_approval')
    expect((await someone.api.delete(`/v1/accounts/me/api-keys/${key.id}`)).status).toBe(200)
    await service.deps.jobs.sweep()
    expect(await batchOf(someone, batch.id)).toMatchObject({ status: 'cancelled', counts: { cancelled: 4 } })
  })
})

test('a batch of a thousand items and single payments of the same account go on together', async () => {
  const someone = await payer(1_000_000_000n, 1)
  const [one = ''] = someone.payees
  const items = Array.from({ length: 1_000 }, (_, n) => ({
    beneficiary_id: one,
    amount_minor: '1000',
    account_reference: `S-${n}`,
  }))
  const big = submit(someone, items)
  const tenFrom = (first: number) =>
    Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        someone.api.post('/v1/payments', { beneficiary_id: one, amount_minor: '1000', account_reference: `P-${first + n}` }),
      ),
    )
  // Ten at a time: from sixteen concurrent requests on, a process with a late event loop may refuse some (`admission.ts`).
  const singles = tenFrom(0).then(async (paid) => [...paid, ...(await tenFrom(10))])
  expect((await big).body).toMatchObject({ items_count: 1_000, total_minor: '1000000', counts: { processing: 1_000 } })
  expect((await singles).map(({ status }) => status)).toEqual(Array(20).fill(201))
  expect(await balance(someone)).toMatchObject({ held_minor: '1020000' })
  expect((await submit(someone, [...items, items[0]])).status).toBe(400)
  // The last decision's inputs do not name the payments before it.
  const [longest] = await service.deps.db.query<{ bytes: number }>(
    `select max(octet_length(inputs)) as bytes from audit_log where account_id = $1 and action = 'payment.create'`,
    [parseId('account', someone.accountId)],
  )
  expect(longest?.bytes).toBeLessThan(1_000)
})
