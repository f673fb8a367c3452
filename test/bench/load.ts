import { execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Turns } from './turns.ts'

const run = promisify(execFile)

/**
 * One request of a load; `credential` is a bearer, or `cookie …`. Bodies go with an Idempotency-Key of their own. Autocannon also replaces
 * `{n}` in a body by a number of eight digits, different each time, and sends `accept`.
 */
export type LoadRequest = { method: 'GET' | 'POST' | 'PATCH'; path: string; credential: string; body?: unknown; accept?: string }
/** Requests that are sent in turn, over and over; `once`: each once, by autocannon. */
export type Load = { name: string; url: string; requests: readonly LoadRequest[]; once?: boolean }
export type Measured = {
  perSecond: number
  refused: number
  failed: number
  meanMs: number
  p50Ms: number
  p99Ms: number
  maxMs: number
}

const has = (program: string): Promise<boolean> =>
  run('which', [program]).then(
    () => true,
    () => false,
  )

const line = ({ method, path, credential, body }: LoadRequest): string =>
  [method, path, credential, body === undefined ? '' : JSON.stringify(body)].join('\t')

type Options = { connections: number; seconds: number }
type Generator = (load: Load, options: Options) => Promise<Measured>

const script = fileURLToPath(new URL('./requests.lua', import.meta.url))

const wrk: Generator = async (load, { connections, seconds }) => {
  const file = join(tmpdir(), `bench-${randomBytes(6).toString('hex')}.tsv`)
  await writeFile(file, `${load.requests.map(line).join('\n')}\n`)
  try {
    const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '30s', '-s', script, load.url, '--', file]
    const { stdout } = await run('wrk', [...args, randomBytes(6).toString('hex')])
    const lastLine = stdout.trim().split('\n').at(-1) ?? ''
    const { requests, seconds: lasted, ...rest } = JSON.parse(lastLine) as Measured & { requests: number; seconds: number }
    return { ...rest, perSecond: (requests - rest.refused) / lasted }
  } finally {
    await rm(file, { force: true })
  }
}

const worker = fileURLToPath(new URL('./autocannon-worker.ts', import.meta.url))

/** Used without wrk: slower, and in a separate process, so that it does not use the service's core. */
export const autocannon: Generator = async (load, options) => {
  const { stdout } = await run(process.execPath, [worker, JSON.stringify({ load, ...options })], { maxBuffer: 1e7 })
  return JSON.parse(stdout) as Measured
}

export const findGenerator = async (): Promise<{ name: string; measure: Generator }> =>
  (await has('wrk')) ? { name: 'wrk', measure: wrk } : { name: 'autocannon', measure: autocannon }

/** pgbench with one script on so many clients; undefined where it is not installed. */
export const pgbench = async (databaseUrl: string, text: string, options: Options): Promise<number | undefined> => {
  if (!(await has('pgbench'))) return undefined
  const file = join(tmpdir(), `bench-${randomBytes(6).toString('hex')}.sql`)
  await writeFile(file, text)
  try {
    const { stdout } = await run('pgbench', [
      '-n',
      `-c${options.connections}`,
      '-j1',
      `-T${options.seconds}`,
      '-Mprepared',
      `-f${file}`,
      databaseUrl,
    ])
    return Number(/tps = ([\d.]+)/.exec(stdout)?.[1])
  } finally {
    await rm(file, { force: true })
  }
}

/** A process that sends requests of which each needs the answer to the one before. */
export const openTurns = async (turns: Turns) => {
  const file = fileURLToPath(new URL('./turns.ts', import.meta.url))
  const child = spawn(process.execPath, [file, JSON.stringify(turns)], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })
  const answers = lines[Symbol.asyncIterator]()
  await answers.next()
  return {
    /** Turns a second; `perSecond`: not more than these. */
    measure: async (seconds: number, perSecond?: number): Promise<number> => {
      child.stdin.write(`${seconds}${perSecond === undefined ? '' : ` ${perSecond}`}\n`)
      const { value, done } = await answers.next()
      if (done) throw new Error('a process that sends requests has ended')
      return Number(value)
    },
    stop: () => void child.kill(),
  }
}
