import { prepareCallers, untilQuiet, usual, uuidOf } from './callers.ts'
import { Connection, jsonOf, say } from './connection.ts'
import { measure, type Timing } from './load.ts'
import { measured } from './operation-list.ts'
import { type Bench, startProvider, startService } from './processes.ts'
import type { Notes } from './results.ts'

export type Growth = { payments: number; events: number; keys: number; large: number }

/** Rows of a table again, with some columns replaced: rows that the schema's own checks accept. */
const multiply = async (
  bench: Bench,
  table: string,
  count: number,
  replaced: Record<string, string>,
  where = 'true',
): Promise<void> => {
  const columns = await bench.query(
    `select column_name as name from information_schema.columns where table_name = $1 and is_generated = 'NEVER' and identity_generation is null`,
    [table],
  )
  const names = columns.map(({ name }) => String(name))
  const [all] = await bench.query(`select count(*) from ${table} where ${where}`)
  const rows = `(select *, row_number() over () - 1 as r from ${table} where ${where})`
  await bench.query(
    `insert into ${table} (${names.join(', ')}) select ${names.map((name) => replaced[name] ?? `t.${name}`).join(', ')}
     from generate_series(1, ${count}) n join ${rows} t on t.r = n % ${all?.count}`,
  )
  say(`${count} more rows in ${table}`)
}

/** Nothing that is added is due. The payments of one workspace have their holds, and what posted them two seconds later. */
const grow = async (bench: Bench, workspace: string, { payments, events, keys, large }: Growth): Promise<void> => {
  await bench.query('set session_replication_role = replica; set synchronous_commit = off')
  const paid = (count: number, key: string) => {
    const ago = `n * interval '${(58 * 86_400_000) / count} milliseconds'`
    const [id, at] = [`uuidv7(-(${ago}))`, `now() - ${ago}`]
    return {
      id,
      hold_transfer_id: id,
      created_at: at,
      completed_at: at,
      provider_receipt: 'null',
      idempotency_key: `'${key}' || n`,
    }
  }
  await multiply(bench, 'payments', large, paid(large, 'large'), `status = 'succeeded' and workspace_id = '${workspace}'`)
  await multiply(
    bench,
    'payments',
    payments - large,
    paid(payments, 'k'),
    `status = 'succeeded' and workspace_id <> '${workspace}'`,
  )
  // What follows is planned by what is there now.
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

/** P6: readings and payments on a database that has grown ÷ one with little, in turn, and what is read of its large workspace. */
export const measureGrowth = async (bench: Bench, notes: Notes, timing: Timing, growth: Growth): Promise<void> => {
  const [little, grown] = [await bench.another('little'), await bench.another('grown')]
  const [before, after] = [await prepareCallers(little, [usual(100)]), await prepareCallers(grown, [usual(1), usual(100)])]
  const [[owner] = [], others = []] = after.groups
  if (!owner) throw new Error('there is no large workspace')
  await grow(grown, uuidOf('workspace', owner.workspace), growth)
  const provider = await startProvider(bench.folder)
  const counting = await startService(grown, { ...after.env, JOBS: 'inline', SANDBOX_URL: provider.url })
  const connection = new Connection(counting.url)
  const timed = async (name: string, path: string): Promise<void> => {
    const began = performance.now()
    await jsonOf(connection, { method: 'GET', path, credential: `cookie ${owner.session}` })
    notes.note(`${name} of ${growth.large} payments, ms`, performance.now() - began, '≤ 1000')
  }
  await timed('statement before they are counted', '/v1/accounts/me/statement')
  await untilQuiet(grown)
  const paths = ['accounts/me/statement', 'payments', 'payments?status=failed', 'payments/summary', 'payments/attention']
  for (let round = 1; round <= timing.rounds; round += 1) for (const path of paths) await timed(path, `/v1/${path}`)
  connection.close()
  await counting.stop()
  await provider.stop()
  const services = [await startService(little, before.env), await startService(grown, after.env)] as const
  const perSecond = async (name: string, at: 0 | 1, seconds: number) => {
    const requests = (at === 0 ? before.groups.flat() : others).flatMap((caller) => measured[name]?.request(caller) ?? [])
    return (await measure({ kind: 'requests', url: services[at].url, connections: 32, seconds, requests })).perSecond
  }
  for (const name of ['payments.get', 'payments.list', 'notifications.list', 'payments.create']) {
    for (const at of [0, 1] as const) await perSecond(name, at, timing.warmSeconds)
    for (let round = 1; round <= timing.rounds; round += 1) {
      const first = await perSecond(name, 0, timing.seconds)
      notes.note(`${name}: grown ÷ little`, (await perSecond(name, 1, timing.seconds)) / first, '≥ 0.85')
    }
    say(`growth: ${name}`)
  }
  for (const service of services) await service.stop()
}
