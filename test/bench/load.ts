import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import secp256k1 from 'secp256k1'
import { hashMessage, hexToBytes } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { createSiweMessage } from 'viem/siwe'
import type { Caller } from './callers.ts'
import { type Connection, jsonOf, type LoadRequest, openConnection, say } from './connection.ts'
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
  size: Record<'rounds' | 'seconds' | 'warm' | 'callers' | 'payments' | 'events' | 'keys' | 'large', number>
}

/** Requests in random order, or each `once`; or turns: refresh token rotations, wallet sign-ins here and at better-auth. */
export type Load = { url: string; connections: number; perSecond?: number } & (
  | { kind: 'requests'; requests: LoadRequest[]; once?: boolean }
  | { kind: 'refresh'; path: string; clientId: string; tokens: string[] }
  | { kind: 'sign_in' | 'siwe' }
)

const sign = (key: `0x${string}`, message: string): string => {
  const { signature, recid } = secp256k1.ecdsaSign(hexToBytes(hashMessage(message)), hexToBytes(key))
  return `0x${Buffer.from(signature).toString('hex')}${(27 + recid).toString(16)}`
}

/** One turn of a connection: one request, or a chain in which each request needs the previous answer. Returns the status. */
const turnsOf = (load: Load, connection: Connection, at: number): (() => Promise<number>) => {
  const post = async (path: string, body: object) => jsonOf(connection, { method: 'POST', path, body })
  if (load.kind === 'requests') {
    const { requests, once } = load
    const next = once ? () => requests.shift() : () => requests[Math.floor(Math.random() * requests.length)]
    return async () => (await connection.send(next() as LoadRequest)).status
  }
  if (load.kind === 'refresh') {
    const { tokens, path, clientId: client_id } = load
    return async () => {
      const form = { grant_type: 'refresh_token', refresh_token: tokens[at] ?? '', client_id }
      tokens[at] = (await jsonOf(connection, { method: 'POST', path, form })).refresh_token
      return 200
    }
  }
  const key = generatePrivateKey()
  const address = privateKeyToAddress(key)
  if (load.kind === 'sign_in')
    return async () => {
      const { message } = await post('/v1/auth/wallet/nonce', { address })
      await post('/v1/auth/wallet/verify', { message, signature: sign(key, message) })
      return 200
    }
  return async () => {
    const { nonce } = await post('/api/auth/siwe/nonce', {})
    const message = createSiweMessage({ address, chainId: 1, domain: 'localhost', nonce, uri: 'http://localhost', version: '1' })
    await post('/api/auth/siwe/verify', { message, signature: sign(key, message) })
    return 200
  }
}

const sendFor = async (load: Load, seconds: number) => {
  const [took, refusals]: [number[], number[]] = [[], []]
  let failed = 0
  let error: string | undefined
  const began = performance.now()
  const isLeft = () =>
    load.kind === 'requests' && load.once ? load.requests.length > 0 : performance.now() < began + seconds * 1000
  const everyMs = load.perSecond === undefined ? 0 : (load.connections * 1000) / load.perSecond
  const send = async (_: unknown, at: number) => {
    const connection = openConnection(load.url)
    const turn = turnsOf(load, connection, at)
    await wait((at * everyMs) / load.connections)
    while (isLeft()) {
      const sent = performance.now()
      try {
        const list = (await turn()) < 400 ? took : refusals
        list.push(performance.now() - sent)
      } catch (reason) {
        error ??= String(reason)
        failed += 1
      }
      if (everyMs > 0) await wait(Math.max(0, everyMs - (performance.now() - sent)))
    }
    connection.close()
  }
  await Promise.all(Array.from({ length: load.connections }, send))
  const perSecond = (took.length * 1000) / (performance.now() - began)
  const p99 = (list: number[]) => list.sort((a, b) => a - b)[Math.floor(list.length * 0.99)] ?? Number.NaN
  const meanMs = took.reduce((sum, ms) => sum + ms, 0) / took.length
  const counts = { done: took.length, perSecond, refused: refusals.length, failed, error }
  return { ...counts, meanMs, p99Ms: p99(took), refusedP99Ms: p99(refusals), tokens: load.kind === 'refresh' ? load.tokens : [] }
}

// This process sends a load, so that it does not share the service's thread.
if (process.send !== undefined)
  process.on('message', ([load, seconds]: [Load, number]) => void sendFor(load, seconds).then((found) => process.send?.(found)))

/** Sending processes, one for each concurrent load. */
const workers: ReturnType<typeof fork>[] = []

type Measured = Awaited<ReturnType<typeof sendFor>>
export const measure = async (load: Load, seconds: number): Promise<Measured> => {
  const worker = workers.pop() ?? fork(import.meta.filename)
  worker.send([load, seconds])
  const [measured] = (await once(worker, 'message')) as [Measured]
  workers.push(worker)
  // The next rotation begins with this one's tokens.
  if (load.kind === 'refresh') load.tokens = measured.tokens
  const { refused, failed, error = '' } = measured
  if (refused + failed > 0) say(`  ${load.kind}: ${refused} refused, ${failed} failed ${error}`)
  return measured
}

export const stopLoad = (): void => {
  for (const worker of workers.splice(0)) worker.kill()
}

/** Includes the processor time of Node and Postgres per request in milliseconds, until the begun work has ended. */
export const costOf = async (bench: Bench, node: Started, load: Load, seconds: number, hasEnded?: () => Promise<void>) => {
  const now = () => [cpuSeconds(node.pid), cpuSeconds(bench.postgresPid)] as const
  const before = now()
  const found = await measure(load, seconds)
  await hasEnded?.()
  const after = now()
  const msOf = (of: 0 | 1) => ((after[of] - before[of]) * 1000) / Math.max(1, found.done)
  return { ...found, nodeMs: msOf(0), postgresMs: msOf(1), ms: msOf(0) + msOf(1) }
}

/** An operation as requested by each caller. */
export const asked = (
  { operations }: Pick<Run, 'operations'>,
  name: string,
  { url }: Started,
  scenes: readonly Scene[],
  connections = 32,
) => {
  const requests = scenes.flatMap((scene) => operations[name]?.request(scene) ?? [])
  return { kind: 'requests', url, connections, requests } as const
}

/** The ratio of two rates per second, measured in turn. */
export const compare = async ({ notes, size }: Run, name: string, goal: string, one: Load, other: Load): Promise<void> => {
  for (const load of [one, other]) await measure(load, size.warm)
  for (let round = 1; round <= size.rounds; round += 1) {
    const { perSecond } = await measure(one, size.seconds)
    notes.note(name, perSecond / (await measure(other, size.seconds)).perSecond, goal)
  }
}
