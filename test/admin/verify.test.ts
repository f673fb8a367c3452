import { afterAll, beforeAll, expect, test } from 'vitest'
import type { CheckFacts } from '../../src/db/check.ts'
import { inTx, type Tx } from '../../src/db/client.ts'
import type { Query } from '../../src/db/statement.ts'
import { countHours } from '../../src/ledger/count-hours.ts'
import { parseId, type Uuid } from '../../src/lib/ids.ts'
import { pauseRail, resumeRail } from '../../src/modules/exceptions/pauses-service.ts'
import { shellOperator } from '../../src/modules/operators.ts'
import { findInPages } from '../../src/operate/verify/audit-log.ts'
import { sealedColumns } from '../../src/operate/verify/sealed-columns.ts'
import {
  checks,
  factsOf,
  findUnfinished,
  saveCheckPoint,
  unverifiedSince,
  verify,
  verifyAll,
} from '../../src/operate/verify/verify.ts'
import { createMandate } from '../harness/mandates.ts'
import { credit, fund, newBeneficiary } from '../harness/money.ts'
import { createKey, type Person, signIn } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'
import { findBreaches, findBreachesOf } from '../harness/verify.ts'
import { pay } from '../rails-flows/scene.ts'
import { createTeam, join } from '../workspaces/team.ts'
import { startAdministered } from './administrators.ts'

let service: TestService
let admin: Person

const to = (destination: string) => ({ payment_rail: 'MPESA_B2C', destination })

/** Some of everything: payments with each outcome, rights, revoked records. */
const live = async () => {
  const team = await createTeam(service)
  const { owner } = team
  await fund(service, owner, 5_000_000n)
  await owner.api.post('/v1/topups/initiate', { amount_minor: '100000', phone_number: '254700001032' })
  await owner.api.post('/v1/spending-policies', {
    name: 'Ask',
    approval_threshold_minor: '200000',
    monthly_limit_minor: '4000000',
  })
  const member = await join(service, team, 'member')
  const key = await createKey(member, { spending_controls: { daily_limit_minor: '3000000' } })
  const child = await createKey(key)
  for (const api of [owner.api, member.api, key.api, child.api]) await pay({ api }, to('254700000000'))
  await pay(owner, to('254700000001'))
  await service.settle()
  await service.deps.jobs.sweep()
  const beneficiary_id = await newBeneficiary(owner.api)
  const requestPayment = async () => (await key.api.post('/v1/payments', { beneficiary_id, amount_minor: '250000' })).body
  const [approved, rejected, cancelled] = [await requestPayment(), await requestPayment(), await requestPayment()]
  await requestPayment()
  await owner.api.post(`/v1/approvals/${approved.approval_id}/decide`, { decision: 'approve' })
  await owner.api.post(`/v1/approvals/${rejected.approval_id}/decide`, { decision: 'reject' })
  await key.api.post(`/v1/payments/${cancelled.id}/cancel`)
  await service.settle()
  await pay(owner, to('254722000201'))
  service.sandbox.failNext({ kind: 'reset', takesEffect: false })
  await service.deps.jobs.drain()
  await owner.api.delete(`/v1/workspaces/current/members/${member.memberId}`)
  const gone = await signIn(service.api)
  await createKey(gone)
  await admin.api.patch(`/v1/admin/accounts/${gone.accountId}`, { status: 'closed' })
  const adjustment = { account_id: owner.accountId, direction: 'credit', amount_minor: '500', reason: 'rounding' }
  await admin.api.post('/v1/admin/adjustments', adjustment)
  await createMandate(service, owner.wallet)
  await owner.api.post('/v1/payments', { beneficiary_id, amount_minor: '250000' })
  // Freezes and unfreezes, with payments before and after.
  await owner.api.post('/v1/workspaces/current/freeze')
  await owner.api.post('/v1/workspaces/current/unfreeze')
  await pay(owner, to('254700000000'))
  await createKey(owner)
  await owner.api.post('/v1/auth/dashboard-tokens')
  await service.settle()
}

beforeAll(async () => {
  const FEES = JSON.stringify({ MPESA_B2C: [{ up_to_minor: null, fee_minor: '1500' }] })
  ;({ service, admin } = await startAdministered({ env: { FEES } }))
  await live()
  await service.deps.jobs.sweep()
  await service.settle()
  service.clock.advance(7_200)
  await countHours(service.deps.db, service.clock.now())
})
afterAll(() => service.close())

test('data that the service itself wrote keeps every promise', async () => {
  const statuses = await service.deps.db.query<{ status: string }>('select distinct status from payments order by status')
  expect(statuses.map(({ status }) => status)).toEqual([
    'cancelled',
    'failed',
    'pending_approval',
    'rejected',
    'succeeded',
    'unknown',
  ])
  expect(await findBreaches(service)).toEqual([])
})

class Undone extends Error {}

/** The breaches found after a superuser's change of the database. The change is then undone. */
const breachesAfter = (...tampering: string[]): Promise<string[]> => breachesWith({}, ...tampering)

const breachesWith = (facts: Partial<CheckFacts>, ...tampering: string[]): Promise<string[]> =>
  afterwards((tx) => findBreaches(service, tx, facts), ...tampering)

const afterwards = async (find: (tx: Tx) => Promise<string[]>, ...tampering: string[]): Promise<string[]> => {
  let breaches: string[] = []
  await service.deps.db
    .transaction(async (tx: Tx) => {
      // An owner of the database can do this: neither triggers nor foreign keys prevent it.
      await tx.query('set local session_replication_role = replica')
      for (const statement of tampering)
        expect([statement, (await tx.query(`${statement} returning 1`)).length > 0]).toEqual([statement, true])
      breaches = await find(tx)
      throw new Undone()
    })
    .catch((error: unknown) => {
      if (!(error instanceof Undone)) throw error
    })
  return breaches
}

const anAudit = `(select id from audit_log where transaction <= (select through_transaction from audit_seals where sequence = 1) order by transaction, id limit 1)`
const paid = `(select id from payments where status = 'succeeded' limit 1)`

test.each([
  [
    'a transfer of another amount',
    'debits equal|stored totals',
    `update ledger_transfers set amount_minor = amount_minor + 1 where kind = 'direct' and reference_type = 'topup'`,
  ],
  [
    'a transfer taken out',
    'the hold of every payment',
    `delete from ledger_transfers where kind = 'post' and reference_type = 'payment' and reference_id = ${paid}`,
  ],
  ...[
    ['not booked', `delete from ledger_transfers where kind = 'post' and reference_type = 'fee' and reference_id = ${paid}`],
    ['not given back', `delete from ledger_transfers where kind = 'void' and reference_type = 'fee'`],
    ['of another amount', `update payments set fee_minor = fee_minor + 1 where id = ${paid}`],
    [
      'charged twice',
      `insert into ledger_transfers (id, amount_minor, created_at, kind, debit_account_id, credit_account_id, reference_type, reference_id, customer_account_id)
       select gen_random_uuid(), amount_minor, created_at, 'direct', debit_account_id, credit_account_id, reference_type, reference_id, customer_account_id
       from ledger_transfers where kind = 'post' and reference_type = 'fee' and reference_id = ${paid}`,
    ],
    ['of a payment that has none', `update payments set fee_minor = null, fee_hold_transfer_id = null where id = ${paid}`],
  ].map(([what = '', change = '']): [string, string, string] => [`a fee that is ${what}`, 'every fee is held', change]),
  [
    'a balance that was raised',
    'stored totals',
    `update ledger_accounts set posted_credits_minor = posted_credits_minor + 1 where kind = 'customer'`,
  ],
  [
    'a sum kept for comparisons that was raised',
    'the stored clearing sums',
    'update clearing_points set went_out_minor = went_out_minor + 1',
  ],
  ...['payment', 'made', 'opening'].map((type): [string, string, string] => [
    `a sum that was raised: ${type}`,
    'hourly totals',
    `update hour_totals set came_in_minor = came_in_minor + 1 where type = '${type}'`,
  ]),
  ['a sum that is missing', 'hourly totals', `delete from hour_totals where type = 'topup'`],
  ['money from nowhere', 'no balance was corrected without', `delete from adjustments where status = 'posted'`],
  [
    'a payment given back by one person, without an adjustment',
    'at the expense of the organisation',
    `update payments set status = 'failed', failure_code = 'resolved_by_operator' where status = 'unknown'`,
  ],
  [
    'an outcome that waits for a second administrator after the payment had another one',
    'waits for a second administrator only while',
    `insert into adjustments (id, kind, status, account_id, payment_id, amount_minor, currency, reason, requested_by, created_at)
     select id, 'payment_failed', 'pending', account_id, id, amount_minor, currency, 'x', 'x', now() from payments where status = 'succeeded' limit 1`,
  ],
  [
    'a top-up that was never credited',
    'every successful top-up',
    `update topups set status = 'succeeded', received_minor = 1 where status <> 'succeeded'`,
  ],
  ['a payment paid on paper', 'the hold of every payment', `update payments set status = 'succeeded' where status = 'unknown'`],
  ['every returned payment on paper', 'every returned payment', `update payments set status = 'returned' where id = ${paid}`],
  [
    'a payment without its events',
    'published statuses of every payment',
    `update payments set status = 'failed' where status = 'cancelled'`,
  ],
  [
    'a transition that the table lacks',
    'published statuses of every payment',
    `update events set data = replace(data::text, '"status":"processing"', '"status":"rejected"')::json where type = 'payment.processing' and data is not null`,
  ],
  [
    'a creation that was published after what followed it',
    'published statuses of every payment',
    `update events set transaction = pg_current_xact_id() where type = 'payment.created' and payment_id = ${paid}`,
  ],
  [
    'a counter that was lowered',
    'every usage counter',
    'update usage_counters set used_minor = used_minor - 1 where used_minor > 0',
  ],
  ['a counter that is missing', 'every usage counter', `delete from usage_counters where period = 'month'`],
  ...['rail_attempts', 'callback_deliveries', 'approvals', 'usage_counters', 'spending_totals'].map(
    (table): [string, string, string] => [
      `rows of ${table} under another account`,
      'has the same account',
      `update ${table} set account_id = gen_random_uuid()`,
    ],
  ),
  [
    'decisions under another account',
    'has the same account',
    'update approval_decisions set owning_account_id = gen_random_uuid()',
  ],
  ['an approval without its decisions', 'the status of every approval agrees', 'delete from approval_decisions'],
  [
    'an approval that had stopped counting when its payment was sent',
    'fewer valid approvals',
    `insert into approval_voids (decision_id, owning_account_id, reason, voided_at) select id, owning_account_id, 'approver', '2020-01-01' from approval_decisions where decision = 'approve'`,
  ],
  [
    'a payment sent by a grant that had ended',
    'under a mandate or a grant that had ended',
    `update grants set revoked_at = '2020-01-01'`,
  ],
  [
    'an open approval by an account that may not decide',
    'a decision is voided if its approver',
    `insert into approval_decisions (id, approval_id, owning_account_id, account_id, decision, via, decided_at)
     select gen_random_uuid(), p.approval_id, p.account_id, gen_random_uuid(), 'approve', 'credential', p.created_at from payments p where p.status = 'pending_approval'`,
  ],
  [
    'a request of a member who left',
    'a pending approval is cancelled',
    `with old as (update approvals set updated_at = '2020-01-01' where status = 'pending') update members set status = 'suspended'`,
  ],
  [
    'an active mandate without its wallet',
    'a mandate is active only while',
    `update identities set subject_key = 'x' || subject_key where provider = 'wallet'`,
  ],
  [
    'a payment that hangs',
    'every payment ends or becomes unknown',
    `update payments set status = 'processing', updated_at = '2020-01-01' where status = 'unknown'`,
  ],
  [
    'a delivery that was not processed',
    'every top-up ends within an hour',
    `update callback_deliveries set processed_at = null, received_at = '2020-01-01'`,
  ],
  [
    'a workspace without its owner',
    'its owning account as an active owner',
    `update members set role = 'viewer' where role = 'owner'`,
  ],
  [
    'a child that outlived its parent',
    'descendants and API keys of a revoked grant',
    `update grants set revoked_at = null where parent_grant_id is not null`,
  ],
  [
    'a closed account that was opened at the back',
    'a closed account',
    `update sessions set revoked_at = null where account_id in (select id from accounts where status = 'closed')`,
  ],
  [
    'a payment of a frozen workspace',
    'a frozen workspace created',
    `update events e set type = 'workspace.frozen' where id = (select id from events where type = 'policy.created' and workspace_id = (select workspace_id from payments limit 1) limit 1)`,
  ],
  [
    'a payment by a session that had ended',
    'no session or grant was used',
    `update audit_log set action = 'session.revoke', subject_id = credential_id, at = at - interval '1 hour'
     where id = (select min(id::text)::uuid from audit_log where credential_id = (select credential_id from audit_log where action = 'payment.create' and credential_kind = 'session' limit 1))`,
  ],
  [
    'a key of a suspended member',
    'a suspended member created no grant after the suspension',
    `with suspended as (update members set status = 'suspended' where account_id = (select account_id from grants where revoked_at is null limit 1) returning id),
       suspension as (insert into audit_log (id, transaction, at, action, subject_id) select gen_random_uuid(), '3'::xid8, now(), 'member.update', id from suspended returning 1)
     update grants set frozen_at = frozen_at where exists (select from suspension)`,
  ],
  [
    'a person whose key went where they were invited',
    'no key or agent accepted an invitation',
    `update audit_log set grant_id = gen_random_uuid() where action = 'invitation.accept'`,
  ],
  [
    'a token that a dead grant gave',
    'no token was issued from a credential that had ended',
    `update dashboard_tokens set grant_id = (select id from grants where revoked_at is not null limit 1), created_at = created_at + interval '1 day'`,
  ],
  [
    'a key without a trace',
    'every row of api_keys matches the audit log: .*not in the audit log',
    `update audit_log set subject_id = null where subject_type = 'api_key'`,
  ],
  ['an event taken out', 'has a payment.created event', `delete from events where type = 'payment.created'`],
  [
    'a payment without an initiator',
    'every record that a payment refers to exists',
    `update payments set initiator_account_id = gen_random_uuid() where id = ${paid}`,
  ],
  [
    'a key that was moved to another payment',
    'every row of payments matches the audit log: .*idempotency_key',
    `update payments set idempotency_key = 'moved', request_hash = 'any' where id = ${paid}`,
  ],
  ['a destination under a lost key', 'every encrypted value', `update beneficiaries set destination_key_id = 'lost'`],
  [
    'an audit row that was changed',
    'a sealed row was changed',
    `update audit_log set after = '{"harmless": true}' where id = ${anAudit}`,
  ],
  ['an audit row taken out', 'rows, but .* exist', `delete from audit_log where id = ${anAudit}`],
  ['a seal taken out', 'a seal before it is missing', 'delete from audit_seals where sequence = 1'],
  [
    'a changed node of the tree over all seals',
    'a node of the proof tree was changed',
    `update audit_seal_nodes set hash = sha256('mine') where level = 0 and place = 0`,
  ],
  [
    'a seal that was replaced',
    'its hash was not computed with our secret',
    `update audit_seals set hash = sha256('forged') where sequence = 1`,
  ],
] as const)('%s is found', async (_what, promise, statement) => {
  const breaches = await afterwards((tx) => findBreachesOf(service, tx, promise), statement)
  expect(breaches.join('\n')).toMatch(new RegExp(promise))
})

test('an audit row that was inserted afterwards is found, at any place', async () => {
  const copy = `insert into audit_log (id, transaction, at, action) select gen_random_uuid(), transaction, at, 'payment.create' from audit_log where id = ${anAudit}`
  expect((await breachesAfter(copy)).join('\n')).toContain(' exist')
})

test('only the seals are named whose rows are not those that they sealed', async () => {
  const inserted =
    'insert into audit_log (id, transaction, at, action) select gen_random_uuid(), transaction, at, action from added'
  const removed =
    'delete from audit_log where (transaction, id) = (select through_transaction, through_id from audit_seals where sequence = 2)'
  const first = 'select transaction, at, action from audit_log order by transaction, id limit 1'
  const sealsOf = async (change: string) => (await breachesAfter(change)).filter((breach) => /seal \d+ .*it covers/.test(breach))
  const [seal] = await service.deps.db.query<{ sequence: bigint }>('select max(sequence) as sequence from audit_seals')
  expect(Number(seal?.sequence)).toBeGreaterThanOrEqual(2)

  expect(await sealsOf(`with added as (${first}) ${inserted}`)).toEqual([expect.stringMatching(/seal 1 .*but more exist/)])
  const both = await sealsOf(`with added as (${first}), gone as (${removed}) ${inserted}`)
  expect(both).toEqual([expect.stringContaining('seal 1 '), expect.stringContaining('seal 2 ')])
  const three = `select a.* from (${first}) a, generate_series(1, 3)`
  const more = await sealsOf(`with added as (${three}), gone as (${removed}) ${inserted}`)
  expect(more).toEqual([expect.stringContaining('seal 1 '), expect.stringContaining('seal 2 ')])
})

test('a check that was stopped behind a seal goes on with the next one', async () => {
  const check = checks.find(({ promise }) => promise.startsWith('no row of the audit log was changed'))
  const seals = await service.deps.db.query<{ id: Uuid }>('select through_id as id from audit_seals order by sequence limit 2')
  const [first, second] = seals.map(({ id }) => id)
  const facts = { ...factsOf(service.deps), sealedThrough: '0' }
  const findAfter = (changed: Uuid | undefined, behind?: Uuid) =>
    afterwards(
      async (tx) => (await check?.find(tx, { ...facts, lastChecked: behind })) ?? [],
      `update audit_log set after = '{"harmless": true}' where id = '${changed}'`,
    )
  expect(await findAfter(first)).toEqual([expect.stringMatching(/^seal 1 .*was changed/)])
  expect(await findAfter(second)).toEqual([expect.stringMatching(/^seal 2 .*was changed/)])
  expect(await findAfter(first, first)).toEqual([])
  expect(await findAfter(second, first)).toEqual([expect.stringMatching(/^seal 2 .*was changed/)])
})

test('a chain that was sealed again from the changed row on no longer has the head that was logged', async () => {
  const heads = service.log.flatMap((line) => JSON.parse(line).hash ?? [])
  const [newest] = await service.deps.db.query<{ hash: Buffer }>('select hash from audit_seals order by sequence desc limit 1')
  expect(heads.at(-1)).toBe(newest?.hash.toString('hex'))
})

test('a chain that was computed again with write access alone is found, and so is one of unknown secrets', async () => {
  const [seal] = await service.deps.db.query<{ sequence: bigint; rows: bigint }>(
    'select sequence from audit_seals order by sequence desc limit 1',
  )
  const last = String(seal?.sequence)
  const recomputed = `update audit_seals set digest = sha256('rows of mine'), hash = sha256('rows of mine') where sequence = ${last}`
  expect((await breachesAfter(recomputed)).join('\n')).toContain(`seal ${last}`)
  const forged = `update audit_seals set hash = sha256(digest) where sequence = ${last}`
  expect((await breachesAfter(forged)).join('\n')).toContain('its hash was not computed with our secret')
  const unknown = `update audit_seals set hash = sha256(digest), key_id = 'unknown' where sequence = ${last}`
  expect((await breachesAfter(unknown)).join('\n')).toContain('its secret unknown is not configured')
  const both = `update audit_seals set hash = sha256(digest || sequence::text::bytea), key_id = 'unknown' where sequence >= ${Number(last) - 1}`
  expect((await breachesAfter(both)).join('\n')).toContain(`seal ${Number(last) - 1} (through`)
})

test('a recent check covers what changed since the last check, and leaves older rows to the weekly check', async () => {
  const change = (from: string) =>
    `update payments set status = 'failed', failure_code = 'provider_refused', updated_at = '${from}' where id = (select id from payments where status = 'succeeded' limit 1)`
  const since = service.clock.now()
  const later = new Date(since.getTime() + 1_000).toISOString()
  const before = new Date(since.getTime() - 1_000).toISOString()
  expect((await breachesWith({ since }, change(later))).join('\n')).toContain('the hold of every payment')
  expect((await breachesWith({ since }, change(before))).join('\n')).not.toContain('the hold of every payment')
  expect((await breachesAfter(change(before))).join('\n')).toContain('the hold of every payment')
  const [seal] = await service.deps.db.query<{ sequence: bigint }>(
    'select sequence from audit_seals order by sequence desc limit 1',
  )
  const forged = `update audit_seals set hash = sha256(digest) where sequence = ${seal?.sequence}`
  const sealedAt = new Date(since.getTime() - 86_400_000)
  expect((await breachesWith({ since: sealedAt }, forged)).join('\n')).toContain('its hash was not computed with our secret')
})

test('the next check begins at the last one that found nothing; after a week, or a breach, everything is checked again', async () => {
  const { db } = service.deps
  await db.query('delete from verify_points')
  const now = service.clock.now()
  const day = 86_400_000
  const breaches = { kept: 1, broken: 0, seconds: 1 }
  expect(await unverifiedSince(db, now)).toBeNull()
  await saveCheckPoint(db, { now, since: null }, { ...breaches, broken: 1 })
  expect(await unverifiedSince(db, now)).toBeNull()
  await saveCheckPoint(db, { now, since: null }, breaches)
  expect(await unverifiedSince(db, now)).toEqual(new Date(now.getTime() - day))
  const next = new Date(now.getTime() + day)
  await saveCheckPoint(db, { now: next, since: now }, breaches)
  expect(await unverifiedSince(db, next)).toEqual(now)
  expect(await unverifiedSince(db, new Date(now.getTime() + 8 * day))).toBeNull()
  const metrics = await (await fetch(`${service.operatorUrl}/metrics`)).text()
  expect(metrics).toMatch(/^promises_broken 0$/m)
  expect(metrics).toMatch(/^promises_verified_age_seconds\{scope="whole"\} 0$/m)
  // A check of a shorter period may not read the row whose breach a longer one found.
  const published = async () => /^promises_broken (\d+)$/m.exec(await (await fetch(`${service.operatorUrl}/metrics`)).text())?.[1]
  await saveCheckPoint(db, { now, since: null }, { ...breaches, broken: 2 })
  await saveCheckPoint(db, { now: next, since: now }, breaches)
  expect(await published()).toBe('2')
  await saveCheckPoint(db, { now: next, since: null }, breaches)
  expect(await published()).toBe('0')
  // The days that passed here are in the database's future.
  await db.query('delete from verify_points')
})

test('a whole check that was stopped goes on behind what it found kept, and counts from the time at which it began', async () => {
  const { db } = service.deps
  await service.deps.jobs.sweep()
  await db.query('delete from verify_points')
  const began = new Date(service.clock.now().getTime() - 60_000)
  const facts = { ...factsOf(service.deps), now: began }
  const seen: string[] = []
  const onRows = () => undefined
  const stopAt = (count: number) => (result: { promise: string }) => {
    if (seen.length === count) throw new Error('stopped')
    seen.push(result.promise)
  }
  await expect(verifyAll(db, facts, { onResult: stopAt(7), onRows })).rejects.toThrow('stopped')
  const from = await findUnfinished(db)
  expect(from).toEqual({ kept: checks[6]?.promise, row: undefined, now: began })
  // A version with other promises, or one that did not keep their names, begins again.
  for (const other of [`totals || '{"checks":"others"}'`, `totals - 'checks'`]) {
    await db.query(`create table kept as select * from verify_points where name = 'unfinished'`)
    await db.query(`update verify_points set totals = ${other} where name = 'unfinished'`)
    expect(await findUnfinished(db)).toBeUndefined()
    await db.query('update verify_points v set totals = kept.totals from kept where v.name = kept.name')
    await db.query('drop table kept')
  }
  await verifyAll(db, { ...facts, now: from?.now ?? service.clock.now() }, { from, onResult: stopAt(1_000), onRows })
  expect(seen).toEqual(checks.map(({ promise }) => promise))
  expect(await findUnfinished(db)).toBeUndefined()
  expect(await db.query(`select at from verify_points where name = 'whole'`)).toEqual([{ at: began }])
})

test('a check that goes on compares a head that is given now, although the part before it was checked without one', async () => {
  const { db } = service.deps
  const head = { sequence: 1, hash: Buffer.alloc(32) }
  const results: string[] = []
  for await (const { breaches } of verify(db, { ...factsOf(service.deps), head }, { kept: checks.at(-2)?.promise ?? '' }))
    results.push(...breaches)
  expect(results).toEqual(['seal 1 differs from the stored one'])
})

test('verify looks at every column that is sealed under a key, before that key is removed', async () => {
  const columns = await service.deps.db.query<{ name: string }>(
    `select table_name || '.' || column_name as name from information_schema.columns
     where table_schema = current_schema() and column_name like '%\\_ciphertext'
       and not (select relispartition from pg_class where oid = table_name::regclass) order by 1`,
  )
  // Tokens of providers expire within an hour.
  const shortLived = ['provider_tokens.token_ciphertext']
  const checked = sealedColumns.map(({ table, column }) => `${table}.${column}_ciphertext`)
  expect(columns.map(({ name }) => name)).toEqual([...checked, ...shortLived].sort())
})

test('rows are checked while a query runs, and a stopped check begins no other query', async () => {
  const { db } = service.deps
  const held = Promise.withResolvers<void>()
  let begun = 0
  const query: Query = async (statement, values) => {
    if (typeof statement === 'string' && statement.startsWith('select subject from')) {
      begun += 1
      await held.promise
    }
    return db.query(statement, values)
  }
  const results = verify({ ...db, query }, factsOf(service.deps))
  for (const { promise } of checks.filter(({ isQuery }) => !isQuery)) {
    const { value } = await results.next()
    expect(value).toMatchObject({ promise, breaches: [] })
  }
  await results.return(undefined)
  held.resolve()
  await db.query('select')
  expect(begun).toBe(1)
})

test('a broken promise, and all after it, are looked at again by a check that goes on', async () => {
  const { db } = service.deps
  const counter = "('policy', gen_random_uuid(), gen_random_uuid(), 'day', '2026-03-04', 7, 1)"
  await db.query(
    `insert into usage_counters (subject, subject_id, account_id, period, period_start, used_minor, payments) values ${counter}`,
  )
  const broken = 'every usage counter equals the sum and the number of the payments that it counts'
  const onResult = ({ invariant }: { invariant: string }) => {
    if (invariant === 'I10') throw new Error('stopped')
  }
  const facts = factsOf(service.deps)
  await expect(verifyAll(db, facts, { onResult, onRows: () => undefined })).rejects.toThrow('stopped')
  const from = await findUnfinished(db)
  expect(checks[checks.findIndex(({ promise }) => promise === from?.kept) + 1]?.promise).toBe(broken)
  await db.query('delete from usage_counters where used_minor = 7')
  await db.query('delete from verify_points')
})

test('rows are read in portions: what is behind the last one is read, and none is kept after a breach', async () => {
  const numbered = `select t.id, t.n from (
    select ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid as id, n from generate_series(1, 100) n) t where t.id > $1`
  const idOf = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}` as Uuid
  const look = async (more: object, wrong: readonly number[] = []) => {
    const portions: [string, number][] = []
    const facts = { ...factsOf(service.deps), sealedThrough: '0', ...more }
    const onProgress = async (last: string, rows: number) => void portions.push([last, rows])
    const breachesOf = (rows: readonly { id: Uuid; n: number }[]) =>
      rows.flatMap(({ n }) => (wrong.includes(n) ? [String(n)] : []))
    return { found: await findInPages(service.deps.db, { ...facts, onProgress }, numbered, breachesOf, 2), portions }
  }
  expect(await look({}, [41, 99])).toEqual({ found: ['41', '99'], portions: [[idOf(40), 40]] })
  expect((await look({})).portions).toEqual([
    [idOf(40), 40],
    [idOf(80), 80],
  ])
  expect((await look({ lastChecked: idOf(80) }, [41, 99])).found).toEqual(['99'])
})

test('a seal that was kept outside is compared: a different or missing seal is a breach', async () => {
  const logged = service.log.map((line) => JSON.parse(line)).filter(({ seal }) => seal !== undefined)
  const { seal, hash } = logged.at(-1)
  const broken = async (head: { sequence: number; hash: Buffer }) =>
    (await findBreaches(service, service.deps.db, { head })).join('\n')
  expect(await broken({ sequence: seal, hash: Buffer.from(hash, 'hex') })).toBe('')
  expect(await broken({ sequence: seal, hash: Buffer.alloc(32, 1) })).toContain('differs from the stored one')
  expect(await broken({ sequence: seal + 1, hash: Buffer.from(hash, 'hex') })).toContain('is missing')
})

test('the database refuses to change or delete audit rows, seals and transfers', async () => {
  for (const statement of [
    `update audit_log set action = 'nothing'`,
    'delete from audit_log',
    'truncate audit_log',
    'delete from audit_seals',
    'update ledger_transfers set amount_minor = 1',
  ]) {
    await expect(service.deps.db.query(statement)).rejects.toThrow('append-only')
  }
})

test('audit rows that are not sealed are found', async () => {
  await signIn(service.api)
  expect(await findBreaches(service)).toEqual([])
  service.clock.advance(601)
  expect((await findBreaches(service)).join('\n')).toContain('sealed within ten minutes')
  await service.deps.jobs.sweep()
  await service.settle()
  expect(await findBreaches(service)).toEqual([])
})

test('a payment keeps its promise while its rail is paused, and while it may wait for a rail that is down; not after that', async () => {
  const paused = await startService({ env: { PAYMENT_WAIT_MINUTES: '120' } })
  const { db } = paused.deps
  const breaches = (minutes: number) => {
    paused.clock.advance(minutes * 60)
    return findBreachesOf(paused, db, 'every payment ends or becomes unknown in time')
  }
  const person = await signIn(paused.api)
  await credit(paused, person.accountId, 150_000n)
  await inTx(db, (tx) => pauseRail(tx, shellOperator('jane'), 'MPESA_B2C', 'a drill'))
  const id = await pay(person, to('254700000002'))
  expect(await breaches(600)).toEqual([])
  await inTx(db, (tx) => resumeRail(tx, shellOperator('jane'), 'MPESA_B2C'))
  // It may have waited for as long when the rail goes down.
  expect(await breaches(2 * 120 + 14)).toEqual([])
  expect(await breaches(2)).toEqual([expect.stringContaining(parseId('payment', id) ?? '')])
  await paused.close()
})
