import { fallenOf, readLast, writeLast } from './last-operations.ts'
import { autocannon, type Load, type LoadRequest } from './load.ts'
import { measured, type Operation, type Scene } from './operation-list.ts'
import { type Bench, cpuSeconds, type Started, startFloor, startSandbox, startService } from './processes.ts'
import { row, save, say, spread, tableOf } from './report.ts'
import { all, approvalsFor, dashboardTokenOf, furnish, headersOf, warm } from './scene.ts'
import { countSums } from './sums.ts'
import { secondsUntilNone } from './until-none.ts'

export type OperationsOptions = { rounds: number; seconds: number; write: boolean; check: boolean; only: RegExp | undefined }

const payers = 8
const connections = 32
/** Before the rounds, for each operation and its floor: V8 compiles what runs often in its first tens of thousands of requests (see ratios.ts). */
const warmSeconds = 3
const columns = all(12).map((at) => `c${at + 1}`)

/** For each list a floor of as many rows and bytes as its own answer has. */
const preparePages = async (bench: Bench, service: Started, scene: Scene): Promise<void> => {
  for (const [name, operation] of Object.entries(measured)) {
    if (operation.kind !== 'page') continue
    const request = operation.request(scene)
    const answer = await fetch(service.url + request.path, { headers: headersOf(request) })
    const text = await answer.text()
    if (answer.status !== 200) throw new Error(`${name}: ${answer.status} ${text.slice(0, 300)}`)
    const found = (JSON.parse(text) as { data: unknown[] }).data.length
    const each = Math.max(1, Math.floor(text.length / Math.max(1, found) / columns.length) - 8)
    await bench.query(
      `insert into bench.rows (id, page, ${columns.join(', ')})
       select gen_random_uuid(), $1, ${columns.map(() => `repeat('x', $2::int)`).join(', ')} from generate_series(1, $3::int)`,
      [name, each, found],
    )
  }
}

const floorTables = `
  create schema bench;
  create table bench.rows (id uuid primary key, page text not null, ${columns.map((name) => `${name} text`).join(', ')});
  create index on bench.rows (page, id);
  ${['records', 'events', 'audit'].map((name) => `create table bench.${name} (id bigint generated always as identity primary key, owner uuid not null, text text not null, at timestamptz not null); create index on bench.${name} (owner, at);`).join('\n')}`

type Sample = { ratio: number; cpuRatio: number; nodeMs: number; postgresMs: number; p50Ms: number }

type Scenes = { readers: Scene[]; writers: Scene[]; port: string }

/**
 * Payers with a past: their payments and top-ups have ended by the emulated provider. Others write: payments that are made in a measurement stay under
 * way, thousands of them in a few minutes, which no account of a service that works has.
 */
const furnishAll = async (bench: Bench): Promise<Scenes> => {
  const sandbox = await startSandbox(bench.folder)
  const service = await startService(bench.databaseUrl, bench.folder, { JOBS: 'inline', SANDBOX_URL: sandbox.url })
  try {
    const scenes: Scene[] = []
    for (const at of all(2 * payers)) scenes.push(await furnish(service, bench, at + 1))
    await secondsUntilNone(bench, `select from payments where status in ('processing', 'unknown')`)
    await secondsUntilNone(bench, `select from topups where status = 'pending'`)
    return { readers: scenes.slice(0, payers), writers: scenes.slice(payers), port: new URL(service.url).port }
  } finally {
    await service.stop()
    await sandbox.stop()
  }
}

/** P12: every operation of the API against the least that answers the same, in the same round. */
export const measureOperations = async (bench: Bench, options: OperationsOptions): Promise<void> => {
  const { readers, writers, port } = await furnishAll(bench)
  // The tokens are for that address.
  const service = await startService(bench.databaseUrl, bench.folder, { PORT: port })
  await bench.query(floorTables)
  const floor = await startFloor(bench.databaseUrl)
  try {
    const scenesOf = ({ kind }: Operation) => (kind === 'write' ? writers : readers)
    const [first] = readers
    if (!first) throw new Error('there is no payer')
    await preparePages(bench, service, first)
    await bench.query('analyze')
    const [one] = await bench.query('select id from bench.rows limit 1')
    const run = (load: Load) => autocannon(load, { connections, seconds: options.seconds })
    const floorOf = (name: string, { kind, calls }: Operation): { process: Started; load: Load } => {
      const route = calls === undefined ? undefined : measured[calls]
      if (route)
        return { process: service, load: { name: 'route', url: service.url, requests: scenesOf(route).map(route.request) } }
      const request: LoadRequest =
        kind === 'write'
          ? { method: 'POST', path: '/write', credential: '', body: { display_name: 'Bench {n}' } }
          : { method: 'GET', path: kind === 'page' ? `/page/${encodeURIComponent(name)}` : `/one/${one?.id}`, credential: '' }
      return { process: floor, load: { name: 'floor', url: floor.url, requests: [request] } }
    }
    const selected = Object.entries(measured).filter(([name]) => options.only?.test(name) ?? true)
    const samples = new Map<string, Sample[]>(selected.map(([name]) => [name, []]))
    const failures: string[] = []
    const take = async (name: string, operation: Operation): Promise<void> => {
      await countSums(bench)
      const scenes = scenesOf(operation)
      const used = operation.uses ? await approvalsFor(service, scenes, 25 * options.seconds) : scenes
      const cpuNow = (node: Started) => [cpuSeconds(node.pid), cpuSeconds(bench.postgresPid)] as const
      const before = cpuNow(service)
      const ours = await run({
        name,
        url: service.url,
        requests: used.map(operation.request),
        once: operation.uses !== undefined,
      })
      const after = cpuNow(service)
      if (ours.refused + ours.failed > 0) failures.push(`${name}: ${ours.refused} refused, ${ours.failed} failed`)
      const held = floorOf(name, operation)
      const floorBefore = cpuNow(held.process)
      const least = await run(held.load)
      const floorAfter = cpuNow(held.process)
      const answered = Math.max(1, operation.uses ? used.length - ours.refused - ours.failed : ours.perSecond * options.seconds)
      const nodeMs = ((after[0] - before[0]) * 1000) / answered
      const postgresMs = ((after[1] - before[1]) * 1000) / answered
      const floorMs = (floorAfter[0] - floorBefore[0] + floorAfter[1] - floorBefore[1]) * 1000
      samples.get(name)?.push({
        ratio: ours.perSecond / least.perSecond,
        cpuRatio: floorMs / Math.max(1, least.perSecond * options.seconds) / (nodeMs + postgresMs),
        nodeMs,
        postgresMs,
        p50Ms: ours.p50Ms,
      })
    }
    const warmed = new Set<string>()
    const warmUp = (load: Load) => autocannon(load, { connections, seconds: warmSeconds })
    for (const [name, operation] of selected) {
      const { request, uses } = operation
      if (!uses) await warm(service, name, scenesOf(operation).map(request))
      const used = uses ? await approvalsFor(service, scenesOf(operation), 25 * warmSeconds) : scenesOf(operation)
      await warmUp({ name, url: service.url, requests: used.map(request), once: uses !== undefined })
      // A baseline has the same code for all operations of its kind.
      if (!warmed.has(operation.kind)) await warmUp(floorOf(name, operation).load)
      warmed.add(operation.kind)
    }
    for (let round = 1; round <= options.rounds; round += 1) {
      for (const scene of [...readers, ...writers]) scene.dashboardToken = await dashboardTokenOf(service, scene.session)
      for (const [name, operation] of selected) await take(name, operation)
      say(`round ${round} of ${options.rounds}`)
    }
    for (const failure of new Set(failures)) say(`  ${failure}`)
    const result = selected.map(([name, { goal, kind, calls }]) => {
      const against = calls ?? kind
      const list = samples.get(name) ?? []
      const ratio = spread(list.map((sample) => sample.ratio))
      const of = (field: 'cpuRatio' | 'nodeMs' | 'postgresMs' | 'p50Ms') => spread(list.map((sample) => sample[field])).median
      say(
        row(
          name,
          ratio,
          `≥ ${goal} of ${against}; by processor time ${of('cpuRatio').toFixed(2)}; Node ${of('nodeMs').toFixed(2)}, Postgres ${of('postgresMs').toFixed(2)} ms`,
        ),
      )
      return {
        name,
        goal: `≥ ${goal}`,
        floor: against,
        cpuRatio: of('cpuRatio'),
        nodeMs: of('nodeMs'),
        postgresMs: of('postgresMs'),
        p50Ms: of('p50Ms'),
        ...ratio,
      }
    })
    await save('operations', result, options.write, { connections, seconds: options.seconds }, tableOf(result))
    const now = new Map(result.map(({ name, median }) => [name, median]))
    const before = await readLast()
    if (options.write) await writeLast(new Map([...before, ...now].filter(([name]) => name in measured)))
    const fallen = options.check ? fallenOf(before, now) : []
    if (fallen.length > 0) throw new Error(`fell by more than a quarter: ${fallen.join('; ')}`)
  } finally {
    await service.stop()
    await floor.stop()
  }
}
