import { prepareCallers } from './callers.ts'
import { say } from './connection.ts'
import { asked, compare, measure, type Run } from './load.ts'
import { type Bench, openBench, startService } from './processes.ts'
import { beside } from './waits.ts'

/** Copies a table's rows with some columns replaced. The schema's own checks accept them. */
const multiply = async (bench: Bench, table: string, count: number, replaced: Record<string, string>, where = 'true') => {
  const columns = await bench.query(
    `select column_name as name from information_schema.columns where table_name = $1 and is_generated = 'NEVER' and identity_generation is null`,
    [table],
  )
  const names = columns.map(({ name }) => String(name))
  await bench.query(
    `insert into ${table} (${names.join(', ')}) select ${names.map((name) => replaced[name] ?? `t.${name}`).join(', ')}
     from generate_series(1, ${count}) n join (select *, row_number() over () - 1 as r from ${table} where ${where}) t
       on t.r = n % (select count(*) from ${table} where ${where})`,
  )
  say(`${count} more rows in ${table}`)
}

/** No added row is due. The first workspace's payments have holds, and transfers that posted them two seconds later. */
const grow = async (bench: Bench, { payments, events, keys, large }: Run['size']): Promise<void> => {
  const [first] = await bench.query('select workspace_id from payments order by id limit 1')
  await bench.query('set session_replication_role = replica; set synchronous_commit = off')
  const pay = async (count: number, key: string, whose: string) => {
    const ago = `n * interval '${(58 * 86_400_000) / count} milliseconds'`
    const [id, at] = [`uuidv7(-(${ago}))`, `now() - ${ago}`]
    const own = {
      id,
      hold_transfer_id: id,
      created_at: at,
      completed_at: at,
      provider_receipt: 'null',
      idempotency_key: `'${key}' || n`,
    }
    await multiply(bench, 'payments', count, own, `status = 'succeeded' and workspace_id ${whose} '${first?.workspace_id}'`)
  }
  await pay(large, 'large', '=')
  await pay(payments - large, 'k', '<>')
  // The planner plans the following statements by today's data.
  await bench.query('analyze')
  const columns = 'amount_minor, available_after_minor, reference_type, reference_id, customer_account_id, debit_account_id'
  for (const [id, at, kind, pending] of [
    ['p.hold_transfer_id', 'p.created_at', 'pending', 'null::uuid'],
    [`uuidv7(p.created_at - now() + interval '2 seconds')`, `p.created_at + interval '2 seconds'`, 'post', 'p.hold_transfer_id'],
  ])
    await bench.query(
      `insert into ledger_transfers (id, created_at, kind, pending_id, ${columns}, credit_account_id)
       select ${id}, ${at}, '${kind}', ${pending}, p.amount_minor, 1000, 'payment', p.id, p.account_id, p.account_id, c.id
       from payments p, ledger_accounts c where c.code = 'rail_clearing' and p.idempotency_key like 'large%'`,
    )
  await multiply(bench, 'events', events, { id: 'uuidv7()' })
  await multiply(bench, 'api_keys', keys, { id: 'uuidv7()', lookup: `lpad(to_hex(n), 12, '0')`, hash: `sha256(n::text::bytea)` })
  await bench.query('set session_replication_role = origin')
  await bench.query('vacuum analyze')
}

/** P6: reads and payments on a grown database ÷ a small one, in turn, and reads of the large workspace. */
export const measureGrowth = async (run: Run): Promise<void> => {
  const { service: little, readers, notes, size } = run
  const grown = await openBench()
  const [env, owners = [], others = []] = await prepareCallers(grown, [1, 100])
  await grow(grown, size)
  const much = await startService(grown, env)
  for (const name of ['accounts.statement', 'payments.list', 'payments.summary', 'payments.attention'])
    for (let round = 1; round <= size.rounds; round += 1) {
      const { meanMs } = await measure(asked(run, name, much, owners, 1), size.seconds)
      notes.note(`${name} of ${size.large} payments, ms`, meanMs, '≤ 1000')
    }
  const headers = { accept: 'text/csv', cookie: `service_session=${owners[0]?.session}` }
  for (let round = 1; round <= size.rounds; round += 1)
    await beside(run, much, { name: `an export of ${size.large} payments`, items: size.large }, async () => {
      const answer = await fetch(`${much.url}/v1/payments`, { headers })
      for await (const _ of answer.body ?? []);
      return answer
    })
  notes.wide.push(`${size.payments} payments, ${size.events} events, ${size.keys} keys | | | | `)
  for (const name of ['payments.get', 'payments.list', 'notifications.list', 'payments.create']) {
    const before = asked(run, name, little, readers.slice(0, others.length))
    await compare(run, `${name}: grown ÷ little`, '≥ 0.85', asked(run, name, much, others), before)
  }
  await much.stop()
  await grown.stop()
}
