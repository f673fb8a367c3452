import { type Answer, createClient } from '../harness/client.ts'
import { findGenerator } from './load.ts'
import { payments, preparePayers, reads } from './prepare.ts'
import { type Bench, startService } from './processes.ts'
import { row, save, say, spread } from './report.ts'

export type GrowthOptions = {
  rounds: number
  seconds: number
  write: boolean
  paymentCount: number
  eventCount: number
  keyCount: number
  policyCount: number
}

/** Every column of the rows of one table, with some of them replaced: rows that the schema's own checks accept. */
export const multiply = async (bench: Bench, table: string, count: number, replaced: Record<string, string>): Promise<void> => {
  const columns = await bench.query(
    `select column_name as name from information_schema.columns where table_name = $1 and is_generated = 'NEVER' and identity_generation is null`,
    [table],
  )
  const names = columns.map(({ name }) => String(name))
  const values = names.map((name) => replaced[name] ?? `t.${name}`)
  await bench.query('set session_replication_role = replica')
  const [counted] = await bench.query(`select count(*) as rows from ${table}`)
  // Joined by a value of each side: hashed, where a condition over both would compare every row with every number.
  await bench.query(
    `insert into ${table} (${names.join(', ')}) select ${values.join(', ')}
     from (select *, row_number() over () - 1 as r from ${table}) t join (select n, n % ${counted?.rows} as r from generate_series(1, ${count}) n) as n on n.r = t.r`,
  )
  await bench.query('set session_replication_role = origin')
  say(`  ${count} more rows in ${table}`)
}

/** A service on a database of its own, with accounts that can pay. */
const prepare = async (bench: Bench) => {
  const service = await startService(bench.databaseUrl, bench.folder)
  const payers = await preparePayers(service.url, bench, 50)
  const loads = {
    read: { name: 'reads', url: service.url, requests: reads(payers.map(({ key }) => key)) },
    pay: { name: 'payments', url: service.url, requests: payments(payers) },
  }
  return { bench, service, payers, loads }
}
type Prepared = Awaited<ReturnType<typeof prepare>>

/** Nothing that is added is due. */
const grow = async ({ bench }: Prepared, { paymentCount, eventCount, keyCount }: GrowthOptions): Promise<void> => {
  const id = 'uuidv7()'
  await multiply(bench, 'payments', paymentCount, {
    id,
    status: `'succeeded'`,
    dispatch_due_at: 'null',
    idempotency_key: `concat(t.idempotency_key, '-', n)`,
  })
  await multiply(bench, 'events', eventCount, { id })
  await multiply(bench, 'api_keys', keyCount, { id, lookup: `lpad(to_hex(n), 12, '0')`, hash: `sha256(n::text::bytea)` })
  await bench.query('vacuum analyze')
}

const pagesOf = async ({ service, payers: [payer] }: Prepared): Promise<number[]> => {
  const reader = createClient(service.url, { bearer: payer?.key })
  const took: number[][] = [[], []]
  let cursor: string | null = null
  for (let page = 0; payer && page < 200; page += 1) {
    const began = performance.now()
    const answer: Answer = await reader.get(`/v1/payments?limit=100${cursor ? `&cursor=${cursor}` : ''}`)
    took[page < 100 ? 0 : 1]?.push(performance.now() - began)
    cursor = answer.body.next_cursor
    if (cursor === null) break
  }
  const mean = (list: readonly number[] = []) => list.reduce((sum, value) => sum + value, 0) / Math.max(1, list.length)
  return [mean(took[1]) / mean(took[0])]
}

/**
 * P6: the same reads and payments on an empty database, on one that has grown, and on one whose workspaces have a hundred policies,
 * in turn, each by a service of its own on the same Postgres. Then pages at the beginning of a list and deep down.
 */
export const measureGrowth = async (bench: Bench, options: GrowthOptions): Promise<void> => {
  const empty = await prepare(bench)
  const grown = await prepare(await bench.another('grown'))
  const governed = await prepare(await bench.another('governed'))
  try {
    const { measure } = await findGenerator()
    const take = async ({ loads }: Prepared, what: 'read' | 'pay', seconds: number) =>
      (await measure(loads[what], { connections: 32, seconds })).perSecond
    for (const one of [empty, grown, governed]) for (const what of ['read', 'pay'] as const) await take(one, what, 1)
    await grow(grown, options)
    await multiply(governed.bench, 'spending_policies', options.policyCount * governed.payers.length, {
      id: 'uuidv7()',
      // The other policies of a large workspace: each for a beneficiary that this payment does not pay.
      beneficiary_ids: 'array[gen_random_uuid()]',
    })
    await governed.bench.query('vacuum analyze')
    const ratios: Record<'read' | 'pay' | 'governed', number[]> = { read: [], pay: [], governed: [] }
    for (let round = 1; round <= options.rounds; round += 1) {
      const firstReads = await take(empty, 'read', options.seconds)
      ratios.read.push((await take(grown, 'read', options.seconds)) / firstReads)
      const paid = await take(empty, 'pay', options.seconds)
      ratios.pay.push((await take(grown, 'pay', options.seconds)) / paid)
      ratios.governed.push((await take(governed, 'pay', options.seconds)) / paid)
      say(`round ${round} of ${options.rounds}`)
    }
    const result = [
      { name: 'reads, grown ÷ empty', goal: '≥ 0.85', ...spread(ratios.read) },
      { name: 'payments, grown ÷ empty', goal: '≥ 0.85', ...spread(ratios.pay) },
      {
        name: `payments, ${options.policyCount} more policies in each workspace ÷ one policy`,
        goal: '≥ 0.85',
        ...spread(ratios.governed),
      },
      { name: 'pages 101–200 of payments ÷ pages 1–100', goal: 'about 1', ...spread(await pagesOf(grown)) },
    ]
    for (const one of result) say(row(one.name, one, one.goal))
    await save('growth', result, options.write, options)
  } finally {
    for (const { service } of [empty, grown, governed]) await service.stop()
  }
}
