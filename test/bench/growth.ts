import { prepareCallers } from './callers.ts'
import { say } from './connection.ts'
import { asked, compare, costing, type Run } from './load.ts'
import { beside } from './machine.ts'
import { type Bench, openBench, startService } from './processes.ts'

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

/** No added row is due. */
const grow = async (bench: Bench, { payments, events, large }: Run['size']): Promise<void> => {
  const [first] = await bench.query('select workspace_id from payments order by id limit 1')
  await bench.query('set session_replication_role = replica; set synchronous_commit = off')
  const pay = async (count: number, key: string, whose: string) => {
    const ago = `n * interval '${(58 * 86_400_000) / count} milliseconds'`
    const [id, at] = [`uuidv7(-(${ago}))`, `now() - ${ago}`]
    const times = { id, hold_transfer_id: id, created_at: at, completed_at: at }
    const own = { ...times, provider_receipt: 'null', idempotency_key: `'${key}' || n` }
    await multiply(bench, 'payments', count, own, `status = 'succeeded' and workspace_id ${whose} '${first?.workspace_id}'`)
  }
  await pay(large, 'large', '=')
  await pay(payments - large, 'k', '<>')
  await multiply(bench, 'ledger_transfers', 2 * payments, { id: 'uuidv7()', pending_id: 'uuidv7()', reference_id: 'uuidv7()' })
  await multiply(bench, 'events', events, { id: 'uuidv7()' })
  await bench.query('set session_replication_role = origin')
  await bench.query('vacuum analyze')
}

/** P6: reads and payments on a grown database and an empty one, in turn. P8: an export of the large workspace. */
export const measureGrowth = async (run: Run): Promise<void> => {
  const { service: little, readers, notes, size } = run
  const grown = await openBench()
  const [env, owners = [], others = []] = await prepareCallers(grown, [1, 100])
  await grow(grown, size)
  const much = await startService(grown, env)
  const headers = { accept: 'text/csv', cookie: `service_session=${owners[0]?.session}` }
  for (let round = 1; round <= size.rounds; round += 1)
    await beside(run, much, { name: `an export of ${size.large} payments` }, async () => {
      const answer = await fetch(`${much.url}/v1/payments`, { headers })
      for await (const _ of answer.body ?? []);
      return answer
    })
  notes.wide.push(`${size.payments} payments, ${size.events} events, ${size.large} payments of one workspace | | | | `)
  for (const name of ['payments.get', 'payments.list', 'notifications.list', 'payments.create']) {
    const before = asked(run, name, little, readers.slice(0, others.length))
    const after = asked(run, name, much, others)
    const costs = [costing(run.bench, little, before), costing(grown, much, after)] as const
    await compare(run, `${name}: processor time, little ÷ grown`, '≥ 0.85', ...costs)
  }
  await much.stop()
  await grown.stop()
}
