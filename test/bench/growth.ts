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
  await bench.query(
    `insert into ${table} (${names.join(', ')}) select ${values.join(', ')}
     from (select *, row_number() over () as r, count(*) over () as total from ${table}) t join generate_series(1, ${count}) n on n % t.total = t.r - 1`,
  )
  await bench.query('set session_replication_role = origin')
  say(`  ${count} more rows in ${table}`)
}

/** P6: the same reads and payments before and after the tables have grown, and pages at their beginning and deep down. */
export const measureGrowth = async (bench: Bench, options: GrowthOptions): Promise<void> => {
  const service = await startService(bench.databaseUrl, bench.folder)
  try {
    const { measure } = await findGenerator()
    const payers = await preparePayers(service.url, bench, 50)
    const read = { name: 'reads', url: service.url, requests: reads(payers.map(({ key }) => key)) }
    const pay = { name: 'payments', url: service.url, requests: payments(payers) }
    const measured = { read: [[], []] as [number[], number[]], pay: [[], []] as [number[], number[]] }
    const take = async (at: 0 | 1) => {
      for (const load of [read, pay]) await measure(load, { connections: 32, seconds: 1 })
      for (let round = 0; round < options.rounds; round += 1) {
        measured.read[at].push((await measure(read, { connections: 32, seconds: options.seconds })).perSecond)
        measured.pay[at].push((await measure(pay, { connections: 32, seconds: options.seconds })).perSecond)
      }
    }
    await take(0)
    const id = 'gen_random_uuid()'
    // Beyond the last moment that was really used, so that nothing is due and every page has its place.
    await multiply(bench, 'payments', options.paymentCount, { id, status: `'succeeded'`, dispatch_due_at: 'null' })
    await multiply(bench, 'events', options.eventCount, { id })
    await multiply(bench, 'api_keys', options.keyCount, {
      id,
      lookup: `lpad(to_hex(n), 12, '0')`,
      hash: `sha256(n::text::bytea)`,
    })
    await multiply(bench, 'spending_policies', options.policyCount * payers.length, { id })
    await bench.query('vacuum analyze')
    await take(1)
    const pages: number[][] = [[], []]
    const [payer] = payers
    let cursor: string | null = null
    for (let page = 0; payer && page < 200; page += 1) {
      const began = performance.now()
      const answer = await payer.person.api.get(`/v1/payments?limit=100${cursor ? `&cursor=${cursor}` : ''}`)
      pages[page < 100 ? 0 : 1]?.push(performance.now() - began)
      cursor = answer.body.next_cursor
      if (cursor === null) break
    }
    const ratios = ([before, after]: [number[], number[]]) => before.map((value, at) => (after[at] ?? Number.NaN) / value)
    const mean = (list: readonly number[] = []) => list.reduce((sum, value) => sum + value, 0) / Math.max(1, list.length)
    const result = [
      { name: 'reads, grown ÷ empty', goal: '≥ 0.85', ...spread(ratios(measured.read)) },
      { name: 'payments, grown ÷ empty', goal: '≥ 0.85', ...spread(ratios(measured.pay)) },
      { name: 'pages 101–200 of payments ÷ pages 1–100', goal: 'about 1', ...spread([mean(pages[1]) / mean(pages[0])]) },
    ]
    for (const one of result) say(row(one.name, one, one.goal))
    await save('growth', result, options.write, options)
  } finally {
    await service.stop()
  }
}
