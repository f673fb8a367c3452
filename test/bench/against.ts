import { ensureBundled } from '../../scripts/bundle.ts'
import { describeService } from '../../scripts/describe-service.ts'
import { checkOut } from '../operations/release-folder.ts'
import { prepareCallers, untilBooked } from './callers.ts'
import { say } from './connection.ts'
import { costOf, type Load, prepared, type Run } from './load.ts'
import { type Operation, operationsOf } from './operation-list.ts'
import { paying } from './payments.ts'
import { openBench, startProvider, startService } from './processes.ts'
import { median } from './results.ts'

/** The costs of a request: milliseconds of processor time, statements, touched blocks, bytes of write-ahead log. */
const measures = ['nodeMs', 'postgresMs', 'statements', 'blocks', 'wal'] as const
type Cost = Record<(typeof measures)[number], number>

const counting = `select coalesce(sum(calls), 0)::float8 as statements, coalesce(sum(shared_blks_hit + shared_blks_read), 0)::float8 as blocks,
  coalesce(sum(wal_bytes), 0)::float8 as wal from pg_stat_statements where query not like '%pg_stat_statements%'`

/** One version with its own callers on its own server, where nothing else runs during a measurement. */
const openVersion = async (size: Run['size'], operations: Run['operations'], program?: string) => {
  const bench = await openBench({ shared_preload_libraries: 'pg_stat_statements' }, program)
  await bench.query('create extension pg_stat_statements')
  const [env, readers = [], writers = []] = await prepareCallers(bench, [size.callers, Math.ceil(size.callers / 3)])
  let service = await startService(bench, env)
  const cost = async (load: Load, seconds: number, hasEnded?: () => Promise<void>): Promise<Cost> => {
    await bench.query('select pg_stat_statements_reset()')
    const { done, nodeMs, postgresMs } = await costOf(bench, service, load, seconds, hasEnded)
    const [counts] = (await bench.query(counting)) as [Omit<Cost, 'nodeMs' | 'postgresMs'>]
    const each = (of: keyof typeof counts) => counts[of] / done
    return { nodeMs, postgresMs, statements: each('statements'), blocks: each('blocks'), wal: each('wal') }
  }
  const ask = async (name: string, kind: Operation['kind'], seconds: number) => {
    if (name === 'payments.create') return cost(paying({ operations }, service, writers), seconds)
    return cost(await prepared({ operations }, name, service, kind === 'write' ? writers : readers), seconds)
  }
  /** The cost of booking all results, with jobs and the emulated provider. */
  const book = async (seconds: number): Promise<Cost> => {
    const provider = await startProvider(bench)
    const without = service
    service = await startService(bench, { JOBS: 'inline', SANDBOX_URL: provider.url })
    const found = await cost(paying({ operations }, service, writers), seconds, () => untilBooked(bench))
    await service.stop()
    await provider.stop()
    service = without
    return found
  }
  const stop = async () => {
    await service.stop()
    await bench.stop()
  }
  return { ask, book, stop }
}

/**
 * P0: every operation, and a payment until it is booked, by this version and by each commit in turn: ratios of the costs. Prints
 * a table for the changelog with the spread of processor time, for each commit.
 */
export const measureAgainst = async (commits: readonly string[], size: Run['size']): Promise<void> => {
  await ensureBundled()
  const releases = await Promise.all(commits.map((commit) => checkOut(commit, commit, { built: true })))
  const operations = operationsOf((await describeService()).routes)
  const now = await openVersion(size, operations)
  const versions = [now]
  for (const { start } of releases) versions.push(await openVersion(size, operations, start))
  try {
    /** The costs of each round, of this version and then of each commit. */
    const samples = new Map<string, Cost[][]>()
    // The first round warms up.
    for (let round = 0; round <= size.rounds; round += 1) {
      const seconds = round === 0 ? size.warm : size.seconds
      const note = async (name: string, ask: (version: typeof now) => Promise<Cost>) => {
        const costs: Cost[] = []
        // Rotated, because the version that is measured first costs a fifth more in short measurements.
        for (const index of versions.keys()) {
          const turn = (index + round) % versions.length
          costs[turn] = await ask(versions[turn] as typeof now)
        }
        if (round > 0) samples.set(name, [...(samples.get(name) ?? []), costs])
      }
      for (const [name, operation] of Object.entries(operations))
        await note(name, (version) => version.ask(name, operation.kind, seconds))
      await note('a payment until it is booked', (version) => version.book(2 * seconds))
      say(`round ${round} of ${size.rounds}`)
    }
    for (const [index, commit] of commits.entries()) say(tableOf(commit, index + 1, samples))
  } finally {
    for (const version of versions) await version.stop()
    for (const release of releases) release.remove()
  }
}

const tableOf = (commit: string, index: number, samples: ReadonlyMap<string, readonly Cost[][]>): string => {
  const lines = [
    `| Operation | processor time, this ÷ ${commit} | least … most | Node | Postgres | statements | blocks | log, bytes |`,
    '|---|---|---|---|---|---|---|---|',
  ]
  const both = ({ nodeMs, postgresMs }: Cost) => nodeMs + postgresMs
  for (const [name, rounds] of samples) {
    const pairs = rounds.flatMap(({ 0: now, [index]: before }) => (now && before ? [{ before, now }] : []))
    // Only one of the two has the operation.
    const known = pairs.filter((pair) => Number.isFinite(both(pair.now) + both(pair.before)))
    if (known.length === 0) continue
    const ratios = known.map((pair) => both(pair.now) / both(pair.before))
    const cells = measures.map((measure) => {
      const of = (version: 'before' | 'now') => median(known.map((pair) => pair[version][measure]))
      return `${of('before').toPrecision(3)} → ${of('now').toPrecision(3)}`
    })
    const ratio = median(ratios)
    const shown = ratio > 1.1 ? `**${ratio.toFixed(2)}**` : ratio.toFixed(2)
    lines.push(
      `| ${name} | ${shown} | ${Math.min(...ratios).toFixed(2)} … ${Math.max(...ratios).toFixed(2)} | ${cells.join(' | ')} |`,
    )
  }
  return lines.join('\n')
}
