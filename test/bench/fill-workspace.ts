import { multiply } from './growth.ts'
import type { Bench } from './processes.ts'
import { say } from './report.ts'
import { countSums } from './sums.ts'

export type Fill = { paymentCount: number; eventCount: number }

const payees = 2_000
/** Transactions among which the rows are spread that have the number of theirs. */
const transactions = 200_000
const uuidBy = (name: string, number = 'n') => `md5('${name}' || ${number})::uuid`

/** Rows one after another, the last one now, by their ids, times and transactions. */
const spread = (count: number, days = 58) => {
  const ago = `n * interval '${(days * 86_400_000) / count} milliseconds'`
  return {
    row: { id: `uuidv7(-(${ago}))`, created_at: `now() - ${ago}` },
    transaction: `((select max(number) from bench_transactions) - n * ${transactions}::bigint / ${count + 1})::text::xid8`,
  }
}

/** A position of an event or an audit row is that of its transaction: as many are ended as rows are spread over. */
const endTransactions = async (bench: Bench): Promise<void> => {
  await bench.query('create table bench_transactions (number bigint)')
  await bench.query(`do $$ begin for n in 1..${transactions} loop perform pg_current_xact_id(); commit; end loop; end $$`)
  await bench.query('insert into bench_transactions values (pg_current_xact_id()::text::bigint)')
}

/** The parts of divided tables that a service of this age has. */
const createPast = async (bench: Bench): Promise<void> => {
  for (const [table, unit, count] of [
    ['events', 'week', 10],
    ['audit_log', 'month', 3],
  ] as const)
    for (let ago = 1; ago <= count; ago += 1) {
      const [period] = await bench.query(
        `select first_id_at(date_trunc('${unit}', now()) - $1 * interval '1 ${unit}') as begins, first_id_at(date_trunc('${unit}', now()) - ($1 - 1) * interval '1 ${unit}') as ends`,
        [ago],
      )
      await bench.query(
        `create table ${table}_past_${ago} partition of ${table} for values from ('${period?.begins}') to ('${period?.ends}')`,
      )
    }
}

/** A hold for each payment, and its post; two seconds later, as a result arrives. */
const book = async (bench: Bench): Promise<void> => {
  const columns =
    'amount_minor, available_after_minor, reference_type, reference_id, customer_account_id, debit_account_id, credit_account_id'
  const values = `p.amount_minor, 1000, 'payment', p.id, p.account_id, p.account_id, (select id from ledger_accounts where code = 'rail_clearing')`
  await bench.query(
    `insert into ledger_transfers (id, created_at, kind, ${columns}) select p.hold_transfer_id, p.created_at, 'pending', ${values}
     from payments p where p.idempotency_key like 'k%' order by p.id`,
  )
  await bench.query(
    `insert into ledger_transfers (id, created_at, kind, pending_id, ${columns})
     select uuidv7(p.created_at - now() + interval '2 seconds'), p.created_at + interval '2 seconds', case p.status when 'succeeded' then 'post' else 'void' end, p.hold_transfer_id, ${values}
     from payments p where p.idempotency_key like 'k%' order by p.id`,
  )
  say('  their transfers')
  await countSums(bench)
  say('  their sums')
}

const actions = ['payment.create', 'payment.processing', 'payment.succeeded']
const oneOf = (names: readonly string[]) => `(array['${names.join("', '")}'])[1 + n % ${names.length}]`

/** One workspace with many of everything. Nothing that is added is due. */
export const fillWorkspace = async (bench: Bench, { paymentCount, eventCount }: Fill): Promise<void> => {
  await bench.query('set synchronous_commit = off')
  await endTransactions(bench)
  await createPast(bench)
  const paid = spread(paymentCount)
  // As many days as events are kept: what is older has been dropped.
  const events = spread(eventCount, 6)
  const audited = spread(2 * paymentCount)
  await multiply(bench, 'payees', payees, { id: uuidBy('payee'), fingerprint: `sha256(('payee' || n)::bytea)` })
  await multiply(bench, 'beneficiaries', payees, {
    id: uuidBy('one'),
    payee_id: uuidBy('payee'),
    display_name: `'Supplier ' || n`,
  })
  const slowly = spread(1_000).row
  await multiply(bench, 'spending_policies', 100, { ...slowly, beneficiary_ids: `array[${uuidBy('one')}]` })
  await multiply(bench, 'grants', 1_000, { ...slowly, id: uuidBy('grant') })
  await multiply(bench, 'api_keys', 1_000, {
    ...slowly,
    grant_id: uuidBy('grant'),
    lookup: `lpad(to_hex(n), 12, '0')`,
    hash: `sha256(n::text::bytea)`,
  })
  await multiply(bench, 'payment_batches', 1_000, {
    ...slowly,
    status: `'completed'`,
    idempotency_key: `'k' || n`,
    request_hash: 'sha256(n::text::bytea)',
    approval_id: 'null',
  })
  await multiply(bench, 'payments', paymentCount, {
    ...paid.row,
    status: `case when n % 50 = 0 then 'failed' else 'succeeded' end`,
    completed_at: paid.row.created_at,
    dispatch_due_at: 'null',
    execute_at: 'null',
    beneficiary_id: uuidBy('one', `(n % ${payees} + 1)`),
    payee_id: uuidBy('payee', `(n % ${payees} + 1)`),
    amount_minor: '1000 + n % 80000',
    account_reference: `'INV' || n`,
    grant_id: `case when n % 2 = 0 then ${uuidBy('grant', `(n % 1000 + 1)`)} end`,
    idempotency_key: `'k' || n`,
    request_hash: 'sha256(n::text::bytea)',
    hold_transfer_id: paid.row.id,
    approval_id: 'null',
    batch_id: 'null',
    batch_index: 'null',
    batch_leaf: 'null',
  })
  await bench.query('set session_replication_role = replica')
  await book(bench)
  await multiply(bench, 'approvals', Math.ceil(paymentCount / 10), {
    ...spread(Math.ceil(paymentCount / 10)).row,
    status: `'approved'`,
    payment_id: `(select p.id from payments p where p.workspace_id = t.workspace_id and p.idempotency_key = 'k' || n)`,
    batch_id: 'null',
  })
  await multiply(bench, 'audit_log', 2 * paymentCount, {
    id: audited.row.id,
    at: audited.row.created_at,
    transaction: audited.transaction,
    action: oneOf(actions),
    subject_id: uuidBy('subject', '(n / 3)'),
  })
  await multiply(bench, 'events', eventCount, { ...events.row, transaction: events.transaction })
  await bench.query('drop table bench_transactions')
  await bench.query('vacuum analyze')
}
