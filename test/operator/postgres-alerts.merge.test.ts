import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { startEmbeddedPostgres } from '../../src/dev/embedded-postgres/start.ts'
import { connected } from '../harness/connected.ts'
import { freePort } from '../harness/ports.ts'
import { isInstalled } from '../operations/balancer.ts'
import { evaluate, parseScrape } from './promql.ts'

const file = (path: string) => fileURLToPath(new URL(`../../deploy/${path}`, import.meta.url))
type Rule = { alert: string; expr: string }
const { groups } = parse(readFileSync(file('postgres-rules.yml'), 'utf8')) as { groups: { rules: Rule[] }[] }
const rules = new Map(groups.flatMap((group) => group.rules.map(({ alert, expr }) => [alert, expr])))
type Metric = Record<string, { usage: 'GAUGE' | 'LABEL' }>
const queries = parse(readFileSync(file('postgres-exporter/queries.yml'), 'utf8')) as Record<
  string,
  { query: string; metrics: Metric[] }
>

let folder: string
let server: Awaited<ReturnType<typeof startEmbeddedPostgres>>
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'watched-'))
  const settings = {
    wal_level: 'replica',
    archive_mode: 'on',
    archive_command: 'false',
    autovacuum_freeze_max_age: '100000',
    autovacuum_naptime: '1s',
  }
  server = await startEmbeddedPostgres({ dataDir: folder, durable: false, settings })
})
afterAll(async () => {
  await server.stop()
  await rm(folder, { recursive: true, force: true })
})

/** In postgres_exporter's form: a series for each value of a row, with the row's labels. */
const scrape = (): Promise<string> =>
  connected(server.url, async (client) => {
    const lines: string[] = []
    for (const [name, { query, metrics }] of Object.entries(queries)) {
      const { rows } = await client.query<Record<string, unknown>>(query)
      const columns = metrics.flatMap((metric) => Object.entries(metric))
      for (const row of rows) {
        expect(Object.keys(row).sort()).toEqual(columns.map(([column]) => column).sort())
        const labels = columns.filter(([, { usage }]) => usage === 'LABEL').map(([column]) => `${column}="${row[column]}"`)
        for (const [column, { usage }] of columns)
          if (usage === 'GAUGE') lines.push(`${name}_${column}{${labels.join(',')}} ${row[column]}`)
      }
    }
    return lines.join('\n')
  })
const firing = async (alert: string, more = '') => {
  const samples = parseScrape(`${await scrape()}\n${more}`)
  return evaluate(rules.get(alert) ?? '', samples, samples)
}
const ask = (text: string) => connected(server.url, (client) => client.query(text))

const disk = (available: number) => {
  const labels = '{device="/dev/sdb",fstype="ext4",instance="db1",mountpoint="/var/lib/postgresql"}'
  return `node_filesystem_avail_bytes${labels} ${available}\nnode_filesystem_size_bytes${labels} 100`
}

describe('an alert is raised by its fault, and not before:', () => {
  test('DiskFilling', async () => {
    expect(await firing('DiskFilling', disk(30))).toEqual([])
    expect(await firing('DiskFilling', disk(19))).not.toEqual([])
  })

  test('ArchiveFailing, from the files that wait and from the time that it fails', async () => {
    expect(await firing('ArchiveFailing')).toEqual([])
    for (let n = 0; n < 3; n += 1) await ask('select pg_logical_emit_message(true, $$x$$, $$y$$), pg_switch_wal()')
    await expect.poll(async () => (await scrape()).match(/postgres_archive_waiting_files\{\} (\d+)/)?.[1]).toBe('3')
    await expect
      .poll(async () => Number((await scrape()).match(/postgres_archive_failing_seconds\{\} (\S+)/)?.[1]))
      .toBeGreaterThan(0)
    const later = (await scrape()).replace(/(failing_seconds\{\}) \S+/, '$1 601')
    const samples = parseScrape(later)
    expect(evaluate(rules.get('ArchiveFailing') ?? '', samples, samples)).not.toEqual([])
  })

  test('SlotUnused and SlotKeepsMuch', async () => {
    expect(await firing('SlotUnused')).toEqual([])
    await ask(`select pg_create_physical_replication_slot('gone', true)`)
    expect(await firing('SlotUnused')).toMatchObject([{ labels: { slot_name: 'gone' } }])
    expect(await firing('SlotKeepsMuch')).toEqual([])
    await ask('select pg_logical_emit_message(true, $$x$$, $$y$$)')
    expect((await scrape()).match(/postgres_slot_kept_bytes\{slot_name="gone"\} (\d+)/)?.[1]).toMatch(/^[1-9]/)
    const samples = parseScrape(`postgres_slot_kept_bytes{slot_name="gone"} ${11 * 1024 ** 3}`)
    expect(evaluate(rules.get('SlotKeepsMuch') ?? '', samples, samples)).not.toEqual([])
    await ask(`select pg_drop_replication_slot('gone')`)
    expect(await firing('SlotUnused')).toEqual([])
  })

  test('FreezeLate: an open transaction keeps autovacuum from freezing', async () => {
    expect(await firing('FreezeLate')).toEqual([])
    const open = new pg.Client({ connectionString: server.url })
    await open.connect()
    await open.query('begin')
    await open.query('select pg_current_xact_id()')
    await ask('do $$ begin for n in 1..160000 loop perform pg_current_xact_id(); commit; end loop; end $$')
    expect((await firing('FreezeLate')).map(({ labels }) => labels.datname)).toContain('payments')
    await open.end()
  })

  test('every alert of the rules is here', () => {
    expect([...rules.keys()]).toEqual([
      'PostgresUnwatched',
      'DiskFilling',
      'ArchiveFailing',
      'SlotUnused',
      'SlotKeepsMuch',
      'FreezeLate',
    ])
  })
})

const missing = ['promtool', 'prometheus-postgres-exporter'].filter((program) => !isInstalled(program))
for (const program of missing)
  process.stderr.write(`${program} is not installed here: deploy/postgres-rules.yml is not run by it\n`)
test.skipIf(missing.includes('promtool'))('promtool accepts the rules', () => {
  const checked = spawnSync('promtool', ['check', 'rules', file('postgres-rules.yml')], { encoding: 'utf8' })
  expect([checked.status, checked.stderr]).toEqual([0, ''])
})
test.skipIf(missing.includes('prometheus-postgres-exporter'))(
  'postgres_exporter serves every series that the rules name',
  async () => {
    const port = await freePort()
    await ask(`select pg_create_physical_replication_slot('served', true)`)
    await ask('create role watcher login password $$watching$$')
    await ask('grant pg_monitor to watcher')
    const url = new URL(server.url)
    Object.assign(url, { username: 'watcher', password: 'watching', search: '?sslmode=disable' })
    const args = [`--web.listen-address=127.0.0.1:${port}`, `--extend.query-path=${file('postgres-exporter/queries.yml')}`]
    const exporter = spawn('prometheus-postgres-exporter', args, { env: { DATA_SOURCE_NAME: url.href }, stdio: 'ignore' })
    try {
      const served = () =>
        fetch(`http://127.0.0.1:${port}/metrics`).then(
          (answer) => answer.text(),
          () => '',
        )
      const names = Object.entries(queries).flatMap(([name, { metrics }]) =>
        metrics.flatMap((metric) =>
          Object.entries(metric).flatMap(([column, { usage }]) => (usage === 'GAUGE' ? `${name}_${column}` : [])),
        ),
      )
      await expect.poll(served).toContain('pg_up 1')
      const text = await served()
      expect(names.filter((name) => !text.includes(`\n${name}`))).toEqual([])
    } finally {
      const ended = once(exporter, 'exit')
      exporter.kill()
      await ended
    }
  },
)
