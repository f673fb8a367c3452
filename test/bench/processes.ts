import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { startEmbeddedPostgres } from '../../src/dev/embedded-postgres/start.ts'
import { freePort } from '../harness/ports.ts'

/** Of /proc: the parent, and the hundredths of a second that a process and its ended children have used. */
const statOf = (pid: string): { parent: number; ticks: number } | undefined => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return { parent: Number(fields[1]), ticks: [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0) }
  } catch {
    return undefined
  }
}

/** Seconds of processor time that a process and all below it have used. */
export const cpuSeconds = (root: number): number => {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const stats = new Map(pids.map((pid) => [Number(pid), statOf(pid)]))
  const isBelow = (pid: number): boolean => pid === root || (pid > 1 && isBelow(stats.get(pid)?.parent ?? 0))
  return [...stats].reduce((sum, [pid, stat]) => sum + (stat && isBelow(pid) ? stat.ticks / 100 : 0), 0)
}

export const residentMb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024

export type Started = { url: string; pid: number; readyMs: number; line: string; stop: () => Promise<void> }
type Env = Record<string, string>

const scriptOf = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const startedOf = (child: ChildProcess, began: number, url: string, line = url): Started => {
  const stop = async () => {
    child.kill('SIGTERM')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }
  return { url, line, pid: child.pid ?? 0, readyMs: performance.now() - began, stop }
}

/** The service as production starts it, without jobs, rate limits and logs. */
export const startService = async (
  { databaseUrl, folder }: Bench,
  env: Env = {},
  args: readonly string[] = [],
): Promise<Started> => {
  const own = {
    DATABASE_URL: databaseUrl,
    DATA_DIR: folder,
    PORT: String(await freePort()),
    OPERATOR_PORT: String(await freePort()),
  }
  const all = { ...process.env, ...own, JOBS: 'off', LOG_LEVEL: 'silent', RATE_LIMIT_ENABLED: 'false', ...env }
  const began = performance.now()
  const program = ['--max-semi-space-size=8', scriptOf('../../scripts/start.js'), ...args]
  const child = spawn(process.execPath, program, { env: all, stdio: ['ignore', 'ignore', 'inherit'] })
  const url = `http://localhost:${all.PORT}`
  while (!(await fetch(`${url}/readyz`).catch(() => undefined))?.ok) {
    if (child.exitCode !== null || performance.now() - began > 60_000) throw new Error('the service did not get ready')
    await wait(10)
  }
  return startedOf(child, began, url)
}

/** A program that is ready when it prints a line: its address, or what it has to say. */
export const startProgram = async (args: readonly string[], env: Env = {}, cwd?: string): Promise<Started> => {
  const began = performance.now()
  const child = spawn(process.execPath, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })
  const [line] = await Promise.race([once(lines, 'line'), once(child, 'exit').then(() => [])])
  if (line === undefined) throw new Error(`${args[0]} ended`)
  return startedOf(child, began, line)
}

export const startFloor = ({ databaseUrl }: Bench) =>
  startProgram([fileURLToPath(new URL('./floor-server.ts', import.meta.url)), databaseUrl])

/** The providers' emulator in a process of its own. It answers at once. */
export const startProvider = async (folder: string): Promise<Started> => {
  const url = `http://127.0.0.1:${await freePort()}`
  const env = { DATA_DIR: join(folder, 'provider'), SANDBOX_URL: url, SANDBOX_DELAY_MS: '0' }
  return { ...(await startProgram([scriptOf('../../src/dev/sandbox/run.ts')], env)), url }
}

export type Bench = {
  folder: string
  databaseUrl: string
  postgresPid: number
  /** By one connection: what is set on it holds for the next query. */
  query: (text: string, values?: unknown[]) => Promise<Record<string, unknown>[]>
  /** Another database on the same server, and a folder for the service that uses it. */
  another: (name: string) => Promise<Bench>
  stop: () => Promise<void>
}

/** A Postgres of our own with fsync, which is deleted afterwards. */
export const openBench = async (): Promise<Bench> => {
  const root = await mkdtemp(join(tmpdir(), 'payments-bench-'))
  const postgres = await startEmbeddedPostgres({ dataDir: join(root, 'postgres') })
  const postgresPid = Number((await readFile(join(root, 'postgres', 'cluster', 'data', 'postmaster.pid'), 'utf8')).split('\n')[0])
  const pools: pg.Pool[] = []
  const open = (databaseUrl: string, folder: string): Bench => {
    const pool = new pg.Pool({ connectionString: databaseUrl, max: 1, idleTimeoutMillis: 0 })
    pools.push(pool.on('error', () => undefined))
    const query: Bench['query'] = async (text, values) => (await pool.query(text, values)).rows
    const another = async (name: string) => {
      await query(`create database ${name}`)
      return open(Object.assign(new URL(databaseUrl), { pathname: `/${name}` }).href, join(folder, name))
    }
    const stop = async () => {
      for (const one of pools) await one.end()
      await postgres.stop()
      await rm(root, { recursive: true, force: true })
    }
    return { folder, databaseUrl, postgresPid, query, another, stop }
  }
  return open(postgres.url, root)
}
