import { range } from './callers.ts'
import { openConnection, say } from './connection.ts'
import { costOf, prepared, type Run, requesting } from './load.ts'
import type { Operation, Scene } from './operation-list.ts'
import { linesOf, type Sample } from './results.ts'

const columns = range(12).map((index) => `c${index + 1}`)
const mean = (list: readonly number[]): number => list.reduce((sum, value) => sum + value, 0) / list.length

const scenesOf = ({ readers, writers }: Run, { kind }: Operation): readonly Scene[] => (kind === 'write' ? writers : readers)

/** A floor for each list, with its answers' average rows and bytes. Tries every operation: a refusal ends the bench. */
const prepareFloors = async (run: Run): Promise<void> => {
  const connection = openConnection(run.service.url)
  for (const [name, operation] of Object.entries(run.operations)) {
    const lists: { rows: number; bytes: number }[] = []
    for (const scene of operation.uses ? [] : scenesOf(run, operation).slice(0, 20)) {
      const { status, text } = await connection.send(operation.request(scene))
      if (status >= 400) throw new Error(`${name}: ${status} ${text()}`)
      if (operation.kind === 'page') lists.push({ rows: JSON.parse(text()).data.length, bytes: text().length })
    }
    const rows = Math.max(1, Math.round(mean(lists.map((list) => list.rows))))
    const each = Math.max(1, Math.floor(mean(lists.map(({ bytes }) => bytes)) / rows / columns.length) - 8)
    if (lists.length > 0)
      await run.bench.query(
        `insert into bench.rows (id, page, ${columns.join(', ')})
         select gen_random_uuid(), $1, ${columns.map(() => `repeat('x', $2::int)`).join(', ')} from generate_series(1, $3::int)`,
        [name, each, rows],
      )
  }
  connection.close()
  await run.bench.query('analyze bench.rows')
}

/** P1 and P4: each operation against the minimum server, in the same round. */
export const measureOperations = async (run: Run): Promise<void> => {
  const { bench, service, floor, operations, size } = run
  await prepareFloors(run)
  const [record] = await bench.query('select id from bench.rows limit 1')
  const write = { method: 'POST', path: '/write', body: { display_name: 'Bench {n}' } }
  const floorOf = (name: string, { kind }: Operation) => {
    const paths = {
      one: [`/one/${record?.id}`],
      page: [`/page/${encodeURIComponent(name)}`],
      sum: range(1_000).map((owner) => `/sum/${owner}`),
    }
    return requesting(floor.url, kind === 'write' ? [write] : paths[kind].map((path) => ({ method: 'GET', path })))
  }
  const rows = Object.entries(operations).map(([name, operation]) => ({ name, ...operation, samples: [] as Sample[] }))
  // The first round warms up.
  for (let round = 0; round <= size.rounds; round += 1) {
    const seconds = round === 0 ? size.warm : size.seconds
    for (const { name, samples, ...operation } of rows) {
      const ours = await costOf(bench, service, await prepared(run, name, service, scenesOf(run, operation)), seconds)
      const least = await costOf(bench, floor, floorOf(name, operation), seconds)
      say(`  ${round} of ${size.rounds}: ${name}`)
      const { nodeMs, postgresMs, ms } = ours
      if (round > 0) samples.push({ ratio: ours.perSecond / least.perSecond, byTime: least.ms / ms, nodeMs, postgresMs })
    }
  }
  run.notes.wide.push(...linesOf(rows))
}
