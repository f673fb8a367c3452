import { setTimeout as wait } from 'node:timers/promises'
import type { Caller } from './callers.ts'
import { type Connection, forEach, jsonOf, type LoadRequest, openConnection, say } from './connection.ts'
import type { Operation, Scene } from './operation-list.ts'
import { type Bench, cpuSeconds, type Started } from './processes.ts'
import type { Notes } from './results.ts'

/** The context of a part of the bench. The service runs without jobs. */
export type Run = {
  bench: Bench
  service: Started
  floor: Started
  notes: Notes
  readers: readonly Caller[]
  writers: readonly Caller[]
  operations: Readonly<Record<string, Operation>>
  /** For growth: numbers of rows, and of payments in one workspace. */
  size: Record<'rounds' | 'seconds' | 'warm' | 'callers' | 'payments' | 'events' | 'large', number>
}

/**
 * A turn of a connection is one request, or a chain in which each request needs the previous answer. It returns the status. Turns
 * follow each other while something `isLeft`, or for the time of the measurement.
 */
export type Load = {
  url: string
  connections: number
  turn: (connection: Connection, index: number) => Promise<number>
  isLeft?: () => boolean
}

/** Requests in random order, or each `once`. */
export const requesting = (url: string, requests: LoadRequest[], connections = 32, once = false): Load => {
  const next = () => (once ? requests.shift() : requests[Math.floor(Math.random() * requests.length)])
  const turn = async (connection: Connection) => (await connection.send(next() as LoadRequest)).status
  return { url, connections, turn, ...(once && { isLeft: () => requests.length > 0 }) }
}

export const measure = async ({ url, connections, turn, isLeft }: Load, seconds: number) => {
  const [took, refused, failed]: [number[], number[], unknown[]] = [[], [], []]
  const began = performance.now()
  const goesOn = isLeft ?? (() => performance.now() < began + seconds * 1000)
  const send = async (_: unknown, index: number) => {
    const connection = openConnection(url)
    while (goesOn()) {
      const sent = performance.now()
      const status = await turn(connection, index).catch((reason) => void failed.push(reason))
      if (status !== undefined) (status < 400 ? took : refused).push(performance.now() - sent)
      // An ended connection fails at once, and would fill the turn of the event loop.
      else await wait(10)
    }
    connection.close()
  }
  await Promise.all(Array.from({ length: connections }, send))
  if (refused.length + failed.length > 0) say(`  ${refused.length} refused, ${failed.length} failed ${failed[0] ?? ''}`)
  const p99 = (list: number[]) => list.sort((a, b) => a - b)[Math.floor(list.length * 0.99)] ?? Number.NaN
  const meanMs = took.reduce((sum, ms) => sum + ms, 0) / took.length
  const perSecond = (took.length * 1000) / (performance.now() - began)
  return { done: took.length, perSecond, meanMs, p99Ms: p99(took), refusedP99Ms: p99(refused) }
}

/** Includes the processor time of Node and Postgres per request in milliseconds, until the begun work has ended. */
export const costOf = async (bench: Bench, node: Started, load: Load, seconds: number, hasEnded?: () => Promise<void>) => {
  const now = () => [cpuSeconds(node.pid), cpuSeconds(bench.postgresPid)] as const
  const before = now()
  const found = await measure(load, seconds)
  await hasEnded?.()
  const after = now()
  const msOf = (of: 0 | 1) => ((after[of] - before[of]) * 1000) / found.done
  return { ...found, nodeMs: msOf(0), postgresMs: msOf(1), ms: msOf(0) + msOf(1) }
}

type Operations = Pick<Run, 'operations'>

/** An operation as requested by each caller. */
export const asked = (
  { operations }: Operations,
  name: string,
  { url }: Started,
  scenes: readonly Scene[],
  connections?: number,
) => {
  const { request, once } = operations[name] as Operation
  return requesting(url, scenes.map(request), connections, once)
}

/** The same, after the requests whose results the operation uses. */
export const prepared = async (run: Operations, name: string, service: Started, callers: readonly Scene[]): Promise<Load> => {
  const uses = run.operations[name]?.uses
  const scenes = uses ? [] : [...callers]
  if (uses)
    await forEach(service.url, callers, async (scene, connection) => {
      scenes.push({ ...scene, ...uses.take(await jsonOf(connection, uses.request(scene))) })
    })
  return asked(run, name, service, scenes)
}

export const costing = (bench: Bench, node: Started, load: Load) => (seconds: number) => costOf(bench, node, load, seconds)
type Costed = ReturnType<typeof costing>

/** One load's processor time per request ÷ another's, measured in turn. The first round warms up. */
export const compare = async ({ notes, size }: Run, name: string, goal: string, one: Costed, other: Costed): Promise<void> => {
  for (let round = 0; round <= size.rounds; round += 1) {
    const seconds = round === 0 ? size.warm : size.seconds
    const { ms } = await one(seconds)
    const ratio = ms / (await other(seconds)).ms
    if (round > 0) notes.note(name, ratio, goal)
  }
}
