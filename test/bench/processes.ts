import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { startEmbeddedPostgres } from '../../src/dev/embedded-postgres/start.ts'
import { freePort } from '../harness/ports.ts'

/** Processor seconds of a process, its ended children and its descendants, from the hundredths in /proc. 0 if it has ended. */
export const cpuSeconds = (pid: number): number => {
  try {
    const fields = (readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1) ?? '').split(' ')
    const own = fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) / 100, 0)
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').match(/\d+/g) ?? []
    return children.reduce((sum, child) => sum + cpuSeconds(Number(child)), own)
  } catch {
    return 0
  }
}

export const residentMb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024

export type Started = { url: string; pid: number; readyMs: number; stop: () => Promise<void> }
type Env = Record<string, string>

/** Starts a program, and waits until it answers at a path. */
export const start = async (program: readonly string[], url: string, env: Env = {}, ready = '/readyz'): Promise<Started> => {
  const began = performance.now()
  const all = { ...process.env, PORT: new URL(url).port, ...env }
  const child = spawn(process.execPath, program, { env: all, stdio: ['ignore', 'ignore', 'inherit'] })
  while (!(await fetch(url + ready).catch(() => undefined))?.ok) {
    if (child.exitCode !== null || performance.now() - began > 180_000) throw new Error(`${program.at(-1)} did not get ready`)
    await wait(10)
  }
  const stop = async () => {
    child.kill('SIGTERM')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }
  return { url, pid: child.pid ?? 0, readyMs: performance.now() - began, stop }
}

export const freeUrl = async (): Promise<string> => `http://localhost:${await freePort()}`

/** The service as in production, without jobs, rate limits and logs. */
export const startService = async ({ databaseUrl, folder, program }: Bench, env: Env = {}) => {
  const own = { DATABASE_URL: databaseUrl, DATA_DIR: folder, OPERATOR_PORT: String(await freePort()) }
  const quiet = { JOBS: 'off', LOG_LEVEL: 'silent', RATE_LIMIT_ENABLED: 'false' }
  return start(['--max-semi-space-size=8', program], env.PUBLIC_URL ?? (await freeUrl()), { ...own, ...quiet, ...env })
}

export const startFloor = async ({ databaseUrl }: Bench) =>
  start([join(import.meta.dirname, 'floor-server.ts'), databaseUrl], await freeUrl())

/** The providers' emulator in a process of its own, with immediate answers. */
export const startProvider = async ({ folder }: Bench): Promise<Started> => {
  const url = `http://127.0.0.1:${await freePort()}`
  const env = { DATA_DIR: join(folder, 'provider'), SANDBOX_URL: url, SANDBOX_DELAY_MS: '0' }
  return start([join(import.meta.dirname, '../../src/dev/sandbox/run.ts')], url, env, '/control')
}

export type Bench = Awaited<ReturnType<typeof openBench>>

const startProgram = join(import.meta.dirname, '../../scripts/start.js')

/** A Postgres of our own with fsync, deleted afterwards. All queries share one connection, so settings hold for later queries. */
export const openBench = async (settings: Env = {}, program = startProgram) => {
  const folder = await mkdtemp(join(tmpdir(), 'payments-bench-'))
  const { url: databaseUrl, stop: stopPostgres } = await startEmbeddedPostgres({ dataDir: join(folder, 'postgres'), settings })
  const postgresPid = Number.parseInt(await readFile(join(folder, 'postgres/cluster/data/postmaster.pid'), 'utf8'), 10)
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1, idleTimeoutMillis: 0 }).on('error', () => undefined)
  const query = async (text: string, values?: unknown[]): Promise<Record<string, unknown>[]> =>
    (await pool.query(text, values)).rows
  const stop = async () => {
    await pool.end()
    await stopPostgres()
    await rm(folder, { recursive: true, force: true })
  }
  return { folder, databaseUrl, postgresPid, program, query, stop }
}
