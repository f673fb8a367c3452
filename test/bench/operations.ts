import { type Caller, range, renewSignIns } from './callers.ts'
import { Connection, forEach, jsonOf, type LoadRequest, say } from './connection.ts'
import { costOf, type Load, measure, type Timing } from './load.ts'
import { measured, type Operation, type Scene } from './operation-list.ts'
import type { Bench, Started } from './processes.ts'
import { median, type Row } from './results.ts'

const columns = range(12).map((at) => `c${at + 1}`)
const mean = (list: readonly number[]): number => list.reduce((sum, value) => sum + value, 0) / list.length

/** For each list a floor of as many rows and bytes as its answers have on average. Every operation is tried, so that a refusal ends the bench. */
const prepareFloors = async (bench: Bench, url: string, scenesOf: (operation: Operation) => readonly Scene[]): Promise<void> => {
  const connection = new Connection(url)
  const refusals: string[] = []
  for (const [name, operation] of Object.entries(measured)) {
    const answers: { rows: number; bytes: number }[] = []
    for (const scene of operation.uses ? [] : scenesOf(operation).slice(0, operation.kind === 'page' ? 20 : 1)) {
      const { status, text } = await connection.send(operation.request(scene))
      if (status >= 400) refusals.push(`${name}: ${status} ${text().slice(0, 300)}`)
      else if (operation.kind === 'page') answers.push({ rows: JSON.parse(text()).data.length, bytes: text().length })
    }
    const rows = Math.max(1, Math.round(mean(answers.map((answer) => answer.rows))))
    const each = Math.max(1, Math.floor(mean(answers.map(({ bytes }) => bytes)) / rows / columns.length) - 8)
    if (answers.length > 0)
      await bench.query(
        `insert into bench.rows (id, page, ${columns.join(', ')})
         select gen_random_uuid(), $1, ${columns.map(() => `repeat('x', $2::int)`).join(', ')} from generate_series(1, $3::int)`,
        [name, each, rows],
      )
  }
  connection.close()
  if (refusals.length > 0) throw new Error(refusals.join('\n'))
  await bench.query('analyze bench.rows')
}

type Sides = { service: Started; floor: Started; readers: readonly Caller[]; writers: readonly Caller[] }

/** P1 and P4: each operation against the least that answers the same, in the same round. */
export const measureOperations = async (
  bench: Bench,
  sides: Sides,
  timing: Timing,
  only: RegExp,
): Promise<Record<string, Row>> => {
  const { service, floor, readers, writers } = sides
  const scenesOf = ({ kind }: Operation): readonly Scene[] => (kind === 'write' ? writers : readers)
  await renewSignIns(bench, service.url, readers)
  await prepareFloors(bench, service.url, scenesOf)
  const [record] = await bench.query('select id from bench.rows limit 1')
  const load = (node: Started, requests: LoadRequest[], seconds: number, once = false): Load => {
    return { kind: 'requests', url: node.url, connections: 32, seconds, requests, once }
  }
  const loadOf = async (operation: Operation, seconds: number): Promise<Load> => {
    const { uses, once = uses !== undefined } = operation
    const scenes = uses ? [] : [...scenesOf(operation)]
    if (uses)
      await forEach(service.url, scenesOf(operation), async (scene, connection) => {
        scenes.push({ ...scene, ...uses.take(await jsonOf(connection, uses.request(scene))) })
      })
    return load(service, scenes.map(operation.request), seconds, once)
  }
  const floorOf = async (name: string, { kind, calls }: Operation, seconds: number): Promise<[Started, Load]> => {
    const route = measured[calls ?? '']
    if (route) return [service, await loadOf(route, seconds)]
    const path = kind === 'page' ? `/page/${encodeURIComponent(name)}` : `/one/${record?.id}`
    const write: LoadRequest = { method: 'POST', path: '/write', body: { display_name: 'Bench {n}' } }
    return [floor, load(floor, [kind === 'write' ? write : { method: 'GET', path }], seconds)]
  }
  const selected = Object.entries(measured).filter(([name]) => only.test(name))
  const samples = new Map<string, Omit<Row, 'floor' | 'goal'>[]>(selected.map(([name]) => [name, []]))
  const warmed = new Set<string>()
  for (let round = 1; round <= timing.rounds; round += 1) {
    if (round > 1) await renewSignIns(bench, service.url, readers)
    for (const [name, operation] of selected) {
      const kind = operation.calls ?? operation.kind
      if (round === 1) await measure(await loadOf(operation, timing.warmSeconds))
      if (!warmed.has(kind)) await measure((await floorOf(name, operation, timing.warmSeconds))[1])
      warmed.add(kind)
      const ours = await costOf(bench, service, await loadOf(operation, timing.seconds))
      if (ours.refused + ours.failed > 0) say(`    in ${name}`)
      const least = await costOf(bench, ...(await floorOf(name, operation, timing.seconds)))
      const { nodeMs, postgresMs, ms } = ours
      samples.get(name)?.push({ ratio: ours.perSecond / least.perSecond, byTime: least.ms / ms, nodeMs, postgresMs })
    }
    say(`operations: round ${round} of ${timing.rounds}`)
  }
  const rowOf = (name: string, { kind, calls = kind, goal }: Operation): Row => {
    const of = (field: 'ratio' | 'byTime' | 'nodeMs' | 'postgresMs') =>
      median((samples.get(name) ?? []).map((sample) => sample[field]))
    return { floor: calls, ratio: of('ratio'), byTime: of('byTime'), nodeMs: of('nodeMs'), postgresMs: of('postgresMs'), goal }
  }
  return Object.fromEntries(selected.map(([name, operation]) => [name, rowOf(name, operation)]))
}
