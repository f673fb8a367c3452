import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { startEmbeddedPostgres } from '../../src/dev/embedded-postgres/start.ts'

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })

const clockTicks = 100

type Stat = { pid: number; parent: number; ticks: number }

const statOf = (pid: number): Stat | undefined => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const [user, system, endedUser, endedSystem] = [11, 12, 13, 14].map((at) => Number(fields[at]))
    return {
      pid,
      parent: Number(fields[1]),
      ticks: (user ?? 0) + (system ?? 0) + (endedUser ?? 0) + (endedSystem ?? 0),
    }
  } catch {
    return undefined
  }
}

/** Seconds of processor time that a process, its children and their children have used, those that ended included. */
export const cpuSeconds = (root: number): number => {
  const stats = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => statOf(Number(name)) ?? [])
  const family = new Set([root])
  for (let grown = true; grown; ) {
    grown = false
    for (const { pid, parent } of stats) {
      if (family.has(parent) && !family.has(pid)) {
        family.add(pid)
        grown = true
      }
    }
  }
  return stats.reduce((sum, { pid, ticks }) => (family.has(pid) ? sum + ticks / clockTicks : sum), 0)
}

export const residentMb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024

export type Started = { url: string; operatorUrl?: string; pid: number; readyMs: number; stop: () => Promise<void> }

const ended = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) =>
    child.exitCode === null && child.signalCode === null ? child.once('exit', () => resolve()) : resolve(),
  )

const stopper = (child: ChildProcess) => async () => {
  child.kill('SIGTERM')
  await ended(child)
}

const readyTimeoutMs = 60_000

export const startService = async (
  databaseUrl: string,
  folder: string,
  env: Record<string, string> = {},
  args: readonly string[] = [],
): Promise<Started> => {
  const [port, operatorPort] = [env.PORT ?? (await freePort()), await freePort()]
  const began = performance.now()
  const child = spawn(
    process.execPath,
    ['--max-semi-space-size=8', fileURLToPath(new URL('../../scripts/start.js', import.meta.url)), ...args],
    {
      env: {
        ...process.env,
        DATABASE_URL: databaseUrl,
        DATA_DIR: folder,
        PORT: String(port),
        OPERATOR_PORT: String(operatorPort),
        JOBS: 'off',
        LOG_LEVEL: 'silent',
        RATE_LIMIT_ENABLED: 'false',
        ...env,
      },
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  )
  const url = `http://localhost:${port}`
  for (;;) {
    const ready = await fetch(`${url}/readyz`).catch(() => undefined)
    if (ready?.ok) {
      const operatorUrl = `http://127.0.0.1:${operatorPort}`
      return { url, operatorUrl, pid: child.pid ?? 0, readyMs: performance.now() - began, stop: stopper(child) }
    }
    if (child.exitCode !== null || performance.now() - began > readyTimeoutMs) throw new Error('the service did not get ready')
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** The providers' emulator in a process of its own. It answers at once. */
export const startSandbox = async (folder: string): Promise<Pick<Started, 'url' | 'stop'>> => {
  const port = await freePort()
  const child = spawn(process.execPath, [fileURLToPath(new URL('../../src/dev/sandbox/run.ts', import.meta.url))], {
    env: { ...process.env, DATA_DIR: join(folder, 'provider'), SANDBOX_PORT: String(port), SANDBOX_DELAY_MS: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const url = `http://127.0.0.1:${port}`
  await new Promise<void>((resolve, reject) => {
    child.stdout.once('data', () => resolve())
    child.once('exit', (code) => reject(new Error(`the provider's emulator ended with ${code}`)))
  })
  child.stdout.resume()
  return { url, stop: stopper(child) }
}

export const startFloor = async (databaseUrl: string): Promise<Started> => {
  const began = performance.now()
  const server = fileURLToPath(new URL('./floor-server.ts', import.meta.url))
  const child = spawn(process.execPath, [server, databaseUrl], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [url] = await new Promise<[string]>((resolve) => {
    createInterface({ input: child.stdout }).once('line', (text) => resolve([text]))
  })
  return { url, pid: child.pid ?? 0, readyMs: performance.now() - began, stop: stopper(child) }
}

export type Bench = {
  folder: string
  databaseUrl: string
  postgresPid: number
  query: (text: string, values?: unknown[]) => Promise<Record<string, unknown>[]>
  /** Another database on the same server, and a folder for the service that uses it. */
  another: (name: string) => Promise<Bench>
  stop: () => Promise<void>
}

const connectTo = async (url: string): Promise<pg.Client> => {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  return client
}

/** A database that is thrown away afterwards: DATABASE_URL's server when BENCH_DATABASE_URL names one, else our own. */
export const openBench = async (): Promise<Bench> => {
  const folder = await mkdtemp(join(tmpdir(), 'payments-bench-'))
  const postgres = await startEmbeddedPostgres({
    dataDir: join(folder, 'postgres'),
    settings: {
      shared_preload_libraries: 'pg_stat_statements',
      'pg_stat_statements.track_planning': 'on',
      track_io_timing: 'off',
    },
  })
  const pidFile = await readFile(join(folder, 'postgres', 'cluster', 'data', 'postmaster.pid'), 'utf8')
  const postgresPid = Number(pidFile.split('\n')[0])
  const of = async (databaseUrl: string, ownFolder: string, stop: () => Promise<void>): Promise<Bench> => {
    const client = await connectTo(databaseUrl)
    await client.query('create extension if not exists pg_stat_statements')
    const others: Bench[] = []
    return {
      folder: ownFolder,
      databaseUrl,
      postgresPid,
      query: async (text, values) => (await client.query(text, values)).rows,
      another: async (name) => {
        await client.query(`create database ${name}`)
        const url = new URL(databaseUrl)
        url.pathname = `/${name}`
        const other = await of(url.href, join(folder, name), async () => undefined)
        others.push(other)
        return other
      },
      stop: async () => {
        for (const other of others) await other.stop()
        await client.end()
        await stop()
      },
    }
  }
  return of(postgres.url, folder, async () => {
    await postgres.stop()
    await rm(folder, { recursive: true, force: true })
  })
}
