import { afterAll, describe, expect, test } from 'vitest'
import { inTx } from '../../src/db/client.ts'
import { formatId, newId } from '../../src/lib/ids.ts'
import { shellOperator } from '../../src/modules/operators.ts'
import { createAdjustment } from '../../src/modules/suspense/adjustment-service.ts'
import { CreateAdjustment } from '../../src/modules/suspense/schema.ts'
import { recordSuspense } from '../../src/modules/suspense/service.ts'
import { createKey, type Person, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'
import { findBreachesOf } from '../harness/verify.ts'
import { createTeam, join } from '../workspaces/team.ts'
import { startAdministered } from './administrators.ts'

const env = { ADJUSTMENT_CONFIRM_MINOR: '10000' }
const started = await startAdministered({ env })
const { service, admin, second } = started
const names = started.wallets.map(({ address }) => address).join(',')
const other = await openService({ database: service.database, clock: service.clock, env: { ...env, ADMIN_ACCOUNTS: names } })
afterAll(() => service.close())

const path = '/v1/admin/adjustments'
const fields = (person: Pick<Person, 'accountId'>, direction: string, amount: string) => ({
  account_id: person.accountId,
  direction,
  amount_minor: amount,
  reason: 'a wrong booking',
})
const balanceOf = async (person: Person) => (await person.api.get('/v1/accounts/me')).body.balance.available_minor

test('a small adjustment moves the balance at once, is in the history and leaves the ledger balanced', async () => {
  const person = await signIn(service.api)
  const credit = await admin.api.post(path, fields(person, 'credit', '10000'), { key: 'a' })
  expect(credit.status).toBe(201)
  expect(credit.body).toMatchObject({
    status: 'posted',
    direction: 'credit',
    amount_minor: '10000',
    requested_by: admin.accountId,
  })
  expect((await admin.api.post(path, fields(person, 'credit', '10000'), { key: 'a' })).text).toBe(credit.text)
  const debit = await second.api.post(path, fields(person, 'debit', '2500'))
  expect([debit.status, debit.body.direction]).toEqual([201, 'debit'])
  expect(await balanceOf(person)).toBe('7500')
  const history = await person.api.get('/v1/accounts/me/history')
  expect(history.body.data).toMatchObject([
    {
      type: 'adjustment',
      amount_minor: '-2500',
      available_after_minor: '7500',
      reference: { type: 'adjustment', id: debit.body.id },
    },
    { type: 'adjustment', amount_minor: '10000', available_after_minor: '10000' },
  ])
  const { body } = await admin.api.get('/v1/admin/ledger/trial-balance')
  expect([body.balanced, body.totals.debits_minor === body.totals.credits_minor]).toEqual([true, true])
  expect(body.lines.map(({ account }: { account: string }) => account).sort()).toEqual([
    'adjustments',
    'customers',
    'fees',
    'rail_clearing',
    'suspense',
    'topup_clearing',
  ])
})

test('a large adjustment moves nothing until a second administrator confirms it', async () => {
  const person = await signIn(service.api)
  const created = await admin.api.post(path, fields(person, 'credit', '10001'))
  expect([created.status, created.body.status, await balanceOf(person)]).toEqual([201, 'pending', '0'])
  const own = await admin.api.post(`${path}/${created.body.id}/confirm`)
  expect([own.status, own.body.error, await balanceOf(person)]).toEqual([403, 'separation_of_duties', '0'])
  expect((await admin.api.get(`${path}?status=pending&account_id=${person.accountId}`)).body.data).toHaveLength(1)
  const confirmed = await second.api.post(`${path}/${created.body.id}/confirm`)
  expect(confirmed.body).toMatchObject({ status: 'posted', requested_by: admin.accountId, decided_by: second.accountId })
  expect((await second.api.post(`${path}/${created.body.id}/confirm`)).text).toBe(confirmed.text)
  expect(await balanceOf(person)).toBe('10001')
  const late = await second.api.post(`${path}/${created.body.id}/reject`)
  expect([late.status, late.body.details.reason]).toEqual([409, 'status'])
})

test('an adjustment that many confirm and reject at once ends once and moves the money at most once', async () => {
  const person = await signIn(service.api)
  const { id } = (await admin.api.post(path, fields(person, 'credit', '20000'))).body
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, index) => {
      const { api } = index % 2 ? service : other
      return api.as({ cookie: second.cookie }).post(`${path}/${id}/${index % 3 ? 'confirm' : 'reject'}`)
    }),
  )
  const { status } = (await admin.api.get(`${path}/${id}`)).body
  expect(answers.filter((answer) => answer.status === 200).every((answer) => answer.body.status === status)).toBe(true)
  expect(await balanceOf(person)).toBe(status === 'posted' ? '20000' : '0')
})

test('the administrator who created an adjustment may reject it', async () => {
  const person = await signIn(service.api)
  const { id } = (await admin.api.post(path, fields(person, 'credit', '20000'))).body
  const rejected = await admin.api.post(`${path}/${id}/reject`, { reason: 'a typing error' })
  expect([rejected.status, rejected.body.status, await balanceOf(person)]).toEqual([200, 'rejected', '0'])
  expect((await second.api.post(`${path}/${id}/confirm`)).status).toBe(409)
})

test('an adjustment of more than the balance is refused, at its creation and at its confirmation', async () => {
  service.clock.advance(86_401)
  const again = { ...admin, api: (await signIn(service.api, admin.wallet)).api }
  const person = await signIn(service.api)
  const refused = await again.api.post(path, fields(person, 'debit', '1'))
  expect([refused.status, refused.body.error]).toEqual([402, 'insufficient_funds'])
  const { id } = (await admin.api.post(path, fields(person, 'debit', '10001'))).body
  expect((await second.api.post(`${path}/${id}/confirm`)).status).toBe(402)
  expect((await admin.api.get(`${path}/${id}`)).body.status).toBe('pending')
})

test('a closed account is credited neither at the creation nor at the confirmation', async () => {
  const person = await signIn(service.api)
  const { id } = (await admin.api.post(path, fields(person, 'credit', '10001'))).body
  expect((await admin.api.patch(`/v1/admin/accounts/${person.accountId}`, { status: 'closed' })).status).toBe(200)
  const confirmed = await second.api.post(`${path}/${id}/confirm`)
  const created = await admin.api.post(path, fields(person, 'credit', '1'))
  for (const { status, body } of [confirmed, created])
    expect([status, body.error, body.message, body.details]).toMatchObject([
      ...[409, 'conflict', 'This account is closed.'],
      { reason: 'status', status: 'closed' },
    ])
  expect((await second.api.post(`${path}/${id}/reject`)).body.status).toBe('rejected')
})

test('the change of a balance is published to its account, and every step is in the audit log', async () => {
  const person = await signIn(service.api)
  const { id } = (await admin.api.post(path, fields(person, 'credit', '10001'))).body
  await second.api.post(`${path}/${id}/confirm`)
  const events = await service.deps.db.query<{ available: string }>(
    `select data->'balance'->>'available_minor' as available from events where type = 'balance.updated' and data->>'id' = $1`,
    [person.accountId],
  )
  expect(events).toEqual([{ available: '10001' }])
  const { body } = await admin.api.get(`/v1/admin/audit-log?subject_id=${id}`)
  expect(body.data.map(({ action, account_id }: { action: string; account_id: string }) => [action, account_id])).toEqual([
    ['admin.adjustment_post', second.accountId],
    ['admin.adjustment_request', admin.accountId],
  ])
  expect(body.data[1].after.reason).toBe('a wrong booking')
})

test('an adjustment has an account, a direction, an amount above 0 and a reason', async () => {
  const person = await signIn(service.api)
  const good = fields(person, 'credit', '1')
  for (const wrong of [
    { reason: ' ' },
    { reason: undefined },
    { amount_minor: '0' },
    { amount_minor: '-1' },
    { amount_minor: 1 },
    { direction: 'up' },
    { against: 'suspense' },
  ]) {
    expect([wrong, (await admin.api.post(path, { ...good, ...wrong })).status]).toEqual([wrong, 400])
  }
  const unknown = await admin.api.post(path, { ...good, account_id: 'acc_01h455vb4pex5vsknk084sn02q' })
  expect([unknown.status, unknown.body.details.field]).toEqual([404, 'account_id'])
})

test('only an administrator in person adjusts, confirms and reads', async () => {
  const person = await signIn(service.api)
  const key = await createKey(admin)
  const { id } = (await admin.api.post(path, fields(person, 'credit', '20000'))).body
  const calls: [string, string, object?][] = [
    ['POST', path, fields(person, 'credit', '1')],
    ['GET', path],
    ['GET', `${path}/${id}`],
    ['POST', `${path}/${id}/confirm`],
    ['POST', `${path}/${id}/reject`],
    ['GET', '/v1/admin/ledger/trial-balance'],
    ['GET', '/v1/admin/audit-log'],
  ]
  for (const [method, to, body] of calls) {
    for (const { api } of [person, key]) {
      const answer = await api.call(method, to, { ...(body && { body }) })
      expect([to, answer.status, answer.body.error]).toEqual([to, 403, 'admin_required'])
    }
    expect((await service.api.call(method, to, { ...(body && { body }) })).status).toBe(401)
  }
  for (const missing of ['led_01h455vb4pex5vsknk084sn02q', 'nonsense']) {
    expect((await admin.api.get(`${path}/${missing}`)).status).toBe(404)
    expect((await admin.api.post(`${path}/${missing}/confirm`)).status).toBe(404)
  }
})

test('what one administrator moves alone adds up over a day, credits and debits, for all accounts, also when sent at once', async () => {
  service.clock.advance(86_401)
  const [one, another] = [await signIn(service.api), await signIn(service.api)]
  const alone = async (by: Person, person: Person, direction: string, amount: string) =>
    (await by.api.post(path, fields(person, direction, amount))).body.status
  expect(await alone(admin, one, 'credit', '6000')).toBe('posted')
  expect(await alone(admin, another, 'credit', '3000')).toBe('posted')
  expect(await alone(admin, one, 'debit', '1001')).toBe('pending')
  expect(await alone(admin, one, 'debit', '1000')).toBe('posted')
  expect(await alone(admin, another, 'credit', '1')).toBe('pending')
  expect(await alone(second, another, 'credit', '10000')).toBe('posted')
  service.clock.advance(86_401)
  const elsewhere = { ...admin, api: other.api.as({ cookie: (await signIn(other.api, admin.wallet)).cookie }) }
  const here = { ...admin, api: service.api.as(elsewhere.api.credentials) }
  const split = await Promise.all(
    Array.from({ length: 5 }, (_, index) => alone(index % 2 ? here : elsewhere, index % 2 ? one : another, 'credit', '4000')),
  )
  expect(split.sort()).toEqual(['pending', 'pending', 'pending', 'posted', 'posted'])
})

test('what one person moves alone from the shell adds up in the same way, for several accounts at once', async () => {
  const people = await Promise.all(Array.from({ length: 5 }, () => signIn(service.api)))
  const statuses = await Promise.all(
    people.map(async ({ accountId }) => {
      const input = CreateAdjustment.parse(fields({ accountId }, 'credit', '4000'))
      return (await inTx(service.deps.db, (tx) => createAdjustment(tx, service.deps.config, shellOperator('alone'), input)))
        .status
    }),
  )
  expect(statuses.sort()).toEqual(['pending', 'pending', 'pending', 'posted', 'posted'])
})

test('no administrator adjusts an account of their own, alone or as the second one, or rejects what another proposes about it', async () => {
  service.clock.advance(86_401)
  const administrator = await signIn(service.api, admin.wallet)
  const confirmer = await signIn(service.api, second.wallet)
  const own = await administrator.api.post(path, fields(admin, 'credit', '1'))
  expect([own.status, own.body.error]).toEqual([403, 'separation_of_duties'])
  const created = await confirmer.api.post(path, fields(admin, 'credit', '10001'))
  expect(created.body.status).toBe('pending')
  const confirmed = await administrator.api.post(`${path}/${created.body.id}/confirm`)
  expect([confirmed.status, confirmed.body.error]).toEqual([403, 'separation_of_duties'])
  expect(await balanceOf(administrator)).toBe('0')
  const debit = await confirmer.api.post(path, fields(admin, 'debit', '10001'))
  for (const { body } of [created, debit]) {
    const rejected = await administrator.api.post(`${path}/${body.id}/reject`)
    expect([rejected.status, rejected.body.error]).toEqual([403, 'separation_of_duties'])
    expect((await confirmer.api.post(`${path}/${body.id}/reject`)).body.status).toBe('rejected')
  }
})

test('the balance of a team is adjusted by its workspace, and is neither its owner’s nor for an administrator who belongs to it', async () => {
  const team = await createTeam(service)
  const { owner } = team
  await join(service, team, 'viewer', second.wallet)
  const [administrator, other] = [await signIn(service.api, second.wallet), await signIn(service.api, admin.wallet)]
  const given = (amount_minor: string) => ({ workspace_id: team.id, direction: 'credit', amount_minor, reason: 'a test' })
  const refused = await administrator.api.post(path, given('1'))
  expect([refused.status, refused.body.error]).toEqual([403, 'separation_of_duties'])
  const proposed = await other.api.post(path, given('10001'))
  const confirmed = await administrator.api.post(`${path}/${proposed.body.id}/confirm`)
  expect([confirmed.status, confirmed.body.error]).toEqual([403, 'separation_of_duties'])
  const posted = await other.api.post(path, given('700'))
  expect([posted.status, posted.body]).toMatchObject([
    201,
    { status: 'posted', account_id: owner.accountId, workspace_id: team.id },
  ])
  const { workspace } = (await owner.api.get('/v1/workspaces/current')).body
  expect([workspace.balance.available_minor, await balanceOf(owner)]).toEqual(['700', '0'])
  for (const body of [
    { ...given('1'), account_id: owner.accountId },
    { direction: 'credit', amount_minor: '1', reason: 'a test' },
  ])
    expect((await other.api.post(path, body)).status).toBe(400)
  expect(await findBreachesOf(service, service.deps.db, 'every row of adjustments')).toEqual([])
})

describe('money that leaves suspense', () => {
  /** Books money on the suspense account, unless a person must find out how much moved. */
  const found = async (amountMinor: bigint, direction: 'in' | 'out' = 'in', book = true): Promise<string> => {
    const finding = { rail: 'MPESA', direction, reason: 'not_in_our_books', receipt: `S${newId()}`, amountMinor } as const
    const id = await inTx(service.deps.db, (tx) => recordSuspense(tx, { ...finding, book, alerted: true }))
    return formatId('suspense', id ?? '')
  }
  const resolve = (by: Person, id: string, outcome: string) =>
    by.api.post(`/v1/admin/suspense/${id}/resolve`, { outcome, note: 'read in the portal' })
  const adjust = async (by: Person, amount: string) =>
    (await by.api.post(path, fields(await signIn(service.api), 'credit', amount))).body.status

  test.each([
    ['reversed', 'in'],
    ['explained', 'out'],
  ] as const)('as %s adds up with what an administrator moves alone in a day', async (outcome, direction) => {
    service.clock.advance(86_401)
    expect((await resolve(admin, await found(6_000n, direction), outcome)).status).toBe(200)
    expect(await adjust(admin, '4001')).toBe('pending')
    const more = await found(4_001n, direction)
    const waits = await resolve(admin, more, outcome)
    expect([waits.status, waits.body]).toEqual([
      202,
      expect.objectContaining({ outcome: null, resolved_by: null, proposal: { outcome, by: admin.accountId } }),
    ])
    expect((await resolve(admin, more, outcome)).status).toBe(202)
    expect(await findBreachesOf(service, service.deps.db, 'every row of suspense_items')).toEqual([])
    const both = await admin.api.post('/v1/admin/suspense/resolve', { ids: [more], outcome, note: 'again' })
    expect([both.status, both.body.data[0].outcome]).toEqual([202, null])
    const agreed = await resolve(second, more, outcome)
    expect([agreed.status, agreed.body]).toEqual([
      200,
      expect.objectContaining({ outcome, resolved_by: second.accountId, proposal: { outcome, by: admin.accountId } }),
    ])
    expect(await adjust(second, '10000')).toBe('posted')
  })

  test('with another outcome than the one proposed is decided anew, and counts for who decides', async () => {
    service.clock.advance(86_401)
    const item = await found(60_000n)
    expect((await resolve(admin, item, 'reversed')).status).toBe(202)
    const other = await resolve(second, item, 'explained')
    expect([other.status, other.body.proposal]).toEqual([202, { outcome: 'explained', by: second.accountId }])
    const small = await found(10_000n)
    await resolve(admin, await found(9_000n), 'reversed')
    expect((await resolve(admin, small, 'reversed')).status).toBe(202)
    expect((await resolve(second, small, 'explained')).body).toMatchObject({ outcome: 'explained', proposal: null })
    expect(await adjust(second, '1')).toBe('pending')
  })

  test('what no transfer books, and what an adjustment gave away, counts by itself', async () => {
    service.clock.advance(86_401)
    expect((await resolve(admin, await found(90_000n, 'in', false), 'explained')).status).toBe(200)
    expect((await resolve(admin, await found(90_000n), 'adjusted')).status).toBe(200)
    expect(await adjust(admin, '10000')).toBe('posted')
  })

  test('by many at once is alone within the sum, and beyond it by two', async () => {
    service.clock.advance(86_401)
    const items = await Promise.all(Array.from({ length: 5 }, () => found(4_000n)))
    const answers = await Promise.all(items.map((id) => resolve(admin, id, 'reversed')))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 202, 202, 202])
    const { body } = await admin.api.get('/v1/admin/ledger/trial-balance')
    expect(body.balanced).toBe(true)
  })
})
