import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { existsSync } from 'node:fs'
import { open, readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type pg from 'pg'
import { StartupError } from '../../lib/errors.ts'
import { findBinaries } from './binaries.ts'
import {
  type Cluster,
  environment,
  isCode,
  isProcessRunning,
  openCluster,
  type Place,
  readPassword,
  reason,
  role,
} from './cluster.ts'
import { openDataFolder } from './data-folder.ts'
import { connectWhenReady, runningPostmaster, stopPostmaster, takeOwnership } from './postmaster.ts'
import { asUser, choosePostgresUser } from './user.ts'

export type EmbeddedPostgres = { url: string; port: number; stop: () => Promise<void> }
export type EmbeddedPostgresOptions = {
  /** The folder for the cluster, its password and the server's log. */
  dataDir: string
  /** Default: a free one, another at each start. */
  port?: number
  logger?: { info: (message: string) => void; error: (message: string) => void }
  /** false gives up durability for speed: for tests only. */
  durable?: boolean
  /** These replace our settings: for measurements only. */
  settings?: Readonly<Record<string, string>>
}

const database = 'payments'
const startTimeoutSeconds = 60
const attempts = 50

/**
 * A real Postgres, from npm, for this process alone, on 127.0.0.1. It survives a killed process; the next start takes it over and restarts
 * it, so the settings are always those of the running release.
 * @throws StartupError
 */
export const startEmbeddedPostgres = async (options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> => {
  const folder = await openDataFolder(options.dataDir)
  const durable = options.durable ?? true
  const binaries = await findBinaries()
  const user = await choosePostgresUser(folder, binaries.folder)
  const place = { folder, binaries, user, durable }
  const cluster = await openCluster(place)
  await replacePrevious(cluster, folder, options.logger)
  const { child, lock, port } = await startServer({ ...place, cluster, extra: options.settings ?? {} }, options.port)
  await ensureDatabase(lock).catch((cause: unknown) => {
    // Another first start held the lock, stops this server, and so released it.
    throw isCode(cause, '57P01') ? new StartupError(startedTwice(folder), { cause }) : cause
  })
  const stop = stopper(child, lock, options.logger)
  return { url: urlOf(cluster.password, port), port, stop }
}

const urlOf = (password: string, port: number) => `postgresql://${role}:${password}@127.0.0.1:${port}/${database}`

/**
 * The embedded database for a command beside the service: the server that runs already, or one of its own while the command runs. Does not
 * create a database.
 * @throws StartupError
 */
export const attachEmbeddedPostgres = async (dataDir: string): Promise<Pick<EmbeddedPostgres, 'url' | 'stop'>> => {
  const cluster = join(resolve(dataDir), 'cluster')
  if (!existsSync(join(cluster, 'data'))) {
    throw new StartupError(
      `There is no database in ${resolve(dataDir)} yet: start the service once, or set DATABASE_URL or DATA_DIR.`,
    )
  }
  const running = await runningPostmaster(join(cluster, 'data'))
  if (!running) return startEmbeddedPostgres({ dataDir })
  return { url: urlOf(await readPassword(cluster), running.port), stop: async () => undefined }
}

const replacePrevious = async (cluster: Cluster, folder: string, logger: EmbeddedPostgresOptions['logger']) => {
  const previous = await runningPostmaster(cluster.data)
  if (!previous) return
  const lock = await connectWhenReady(cluster, previous, () => !isProcessRunning(previous.pid), startTimeoutSeconds)
  if (!lock) return
  try {
    if (await takeOwnership(lock, folder)) logger?.info('stopping the database server that an earlier start left behind')
    await stopPostmaster(previous.pid)
  } finally {
    await lock.end().catch(() => undefined)
  }
}

type Launch = Place & { cluster: Cluster; extra: Readonly<Record<string, string>> }
type Running = { child: ChildProcess; lock: pg.Client; port: number }

const startServer = async (launch: Launch, configured: number | undefined): Promise<Running> => {
  // A port that was free a moment ago may be taken by the time the server binds it.
  for (let attempt = 1; ; attempt += 1) {
    const port = configured ?? (await freePort())
    const log = join(launch.folder, 'server.log')
    const child = await spawnServer(launch, port, log)
    const lock = await connectWhenReady(launch.cluster, { pid: child.pid ?? 0, port }, () => hasEnded(child), startTimeoutSeconds)
    if (lock) {
      if (await takeOwnership(lock, launch.folder)) return { child, lock, port }
      throw new StartupError(startedTwice(launch.folder))
    }
    const logText = await readFile(log, 'utf8').catch(() => '')
    const portTaken = logText.includes('could not bind')
    // The workers of a killed server notice it within moments; until then Postgres refuses to start on the data.
    const workersLeft = logText.includes('pre-existing shared memory block')
    if (attempt < attempts && (workersLeft || (portTaken && configured === undefined))) {
      await wait(100)
      continue
    }
    // Another process took this folder: our server was stopped and did not fail, or the log is a new one of theirs.
    const stopped = child.exitCode === 0 || child.signalCode !== null
    const taken = stopped || (await runningPostmaster(launch.cluster.data)) !== undefined
    throw new StartupError(
      portTaken ? `Port ${port} for the embedded database is already in use.` : explain(logText, launch.folder, taken),
    )
  }
}

const startedTwice = (folder: string) => `Another process is starting the database in ${folder}: use one process per DATA_DIR.`

const explain = (log: string, folder: string, taken: boolean) => {
  if (taken || /postmaster.pid" already exists|received fast shutdown/.test(log)) return startedTwice(folder)
  const fatal = /FATAL:\s+(.*)/.exec(log)?.[1] ?? 'it ended without a reason'
  return `The embedded database did not start: ${fatal} (more in ${join(folder, 'server.log')}).`
}

const spawnServer = async ({ folder, binaries, user, cluster, durable, extra }: Launch, port: number, log: string) => {
  const command = asUser(user, binaries.postgres, ['-D', cluster.data, ...settings(port, durable, extra)])
  const output = await open(log, 'w', 0o600).catch((cause: unknown) => {
    throw new StartupError(
      `The data folder ${folder} is not writable (${reason(cause)}): correct its permissions, or choose another DATA_DIR.`,
      { cause },
    )
  })
  try {
    if (user) await output.chown(user.uid, user.gid)
    // Detached: a Ctrl-C in the terminal is for us, and we close our connections before the server stops.
    const child = spawn(command.file, command.args, {
      ...command.ids,
      env: environment(),
      cwd: '/',
      detached: true,
      stdio: ['ignore', output.fd, output.fd],
    })
    await new Promise<void>((done, failed) => {
      child.once('spawn', done)
      child.once('error', (cause) =>
        failed(
          new StartupError(`The embedded PostgreSQL does not run on this machine (${reason(cause)}): set DATABASE_URL instead.`, {
            cause,
          }),
        ),
      )
    })
    return child
  } finally {
    await output.close()
  }
}

const settings = (port: number, durable: boolean, extra: Readonly<Record<string, string>>) => {
  const values = {
    port: String(port),
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '200',
    shared_buffers: '128MB',
    timezone: 'UTC',
    log_timezone: 'UTC',
    // "log" leaves ERRORs out: we log them ourselves, and their details quote rows.
    log_min_messages: 'log',
    log_checkpoints: 'off',
    fsync: durable ? 'on' : 'off',
    synchronous_commit: durable ? 'on' : 'off',
    full_page_writes: durable ? 'on' : 'off',
    autovacuum: durable ? 'on' : 'off',
    ...extra,
  }
  return Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}

/** Below the ports that the system assigns, so that no outgoing connection takes it before the database listens. */
const freePort = () =>
  new Promise<number>((done, failed) => {
    const port = randomInt(10_000, 30_000)
    const probe = createServer().once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? done(freePort()) : failed(error),
    )
    probe.listen(port, '127.0.0.1', () => probe.close(() => done(port)))
  })

const ensureDatabase = async (client: pg.Client) => {
  const result = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [database])
  if (result.rowCount === 0) await client.query(`CREATE DATABASE ${database}`)
}

const hasEnded = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null

const stopper = (child: ChildProcess, lock: pg.Client, logger: EmbeddedPostgresOptions['logger']) => {
  const pid = child.pid ?? 0
  // A process that ends without stop() must not leave a server behind, and nothing can be awaited here.
  const atExit = () => {
    try {
      if (!hasEnded(child)) process.kill(pid, 'SIGINT')
    } catch (error) {
      if (!isCode(error, 'ESRCH')) throw error
    }
  }
  const unexpected = () => logger?.error('the embedded database server ended unexpectedly')
  process.once('exit', atExit)
  child.once('exit', unexpected)
  // The server alone does not keep this process running.
  child.unref()
  let stopped: Promise<void> | undefined
  return () => {
    stopped ??= (async () => {
      process.off('exit', atExit)
      child.off('exit', unexpected)
      // The lock is held to the end: a process that waits for the folder must not find a server that is about to stop.
      await stopPostmaster(pid, () => hasEnded(child))
      await lock.end().catch(() => undefined)
    })()
    return stopped
  }
}
