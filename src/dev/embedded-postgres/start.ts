import { randomInt } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chown, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { openDataFolder } from '../../lib/data-folder.ts'
import { StartupError } from '../../lib/errors.ts'
import { isCode, reason } from '../../lib/operating-system.ts'
import { type Cluster, openCluster, readPassword, role } from './cluster.ts'
import { type Postmaster, runningPostmaster } from './postmaster.ts'
import { runProgram, type Setup, setupIn } from './programs.ts'

export type EmbeddedPostgres = { url: string; port: number; stop: () => Promise<void> }
export type EmbeddedPostgresOptions = {
  dataDir: string
  /** Default: a free port, chosen at each start. */
  port?: number
  logger?: { info: (message: string) => void; error: (message: string) => void }
  /** False trades durability for speed, for tests only. */
  durable?: boolean
  /** Overrides for our settings, for measurements only. */
  settings?: Readonly<Record<string, string>>
}

const database = 'payments'
const startTimeoutSeconds = 60
const stopTimeoutSeconds = 30
const maxLaunchAttempts = 50
const pollMs = 20

/**
 * The server survives if this process is killed. The next start takes the server over and restarts it with the current release's
 * settings.
 */
export const startEmbeddedPostgres = async (options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> => {
  const { durable = true, logger } = options
  const setup = await setupIn(await openDataFolder(options.dataDir))
  const cluster = await openCluster(setup, durable)
  const previous = await lockFolder(setup, cluster)
  if (previous) {
    logger?.info('stopping the database server of an earlier start')
    await stopServer(setup, cluster).finally(() => previous.lock.end().catch(() => undefined))
  }
  await launch(setup, cluster, options)
  const server = await lockFolder(setup, cluster)
  if (!server) throw startedTwice(setup)
  const { pid, port, lock } = server
  // Stops the server if the process exits without stop(). An exit handler cannot await anything.
  const atExit = () => {
    try {
      process.kill(pid, 'SIGINT')
    } catch (error) {
      if (!isCode(error, 'ESRCH')) throw error
    }
  }
  const onServerLost = () => {
    process.off('exit', atExit)
    logger?.error('the embedded database server ended unexpectedly')
  }
  process.once('exit', atExit)
  lock.once('end', onServerLost)
  let stopped: Promise<void> | undefined
  const stop = async () => {
    process.off('exit', atExit)
    lock.off('end', onServerLost)
    // Holds the lock until the server has stopped, so that a process waiting for the folder never finds a stopping server.
    await stopServer(setup, cluster)
    await lock.end().catch(() => undefined)
  }
  return {
    url: urlOf(cluster.password, port),
    port,
    stop: () => {
      stopped ??= stop()
      return stopped
    },
  }
}

const urlOf = (password: string, port: number) => `postgresql://${role}:${password}@127.0.0.1:${port}/${database}`

/** For commands beside the service: uses the running server, or starts one for the command's duration. Creates no database. */
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

/** First a fast shutdown, which rolls back and writes a checkpoint. After a timeout an immediate one, which loses no commits. */
const stopServer = async (setup: Setup, { data }: Cluster) => {
  for (const mode of ['fast', 'immediate']) {
    try {
      await runProgram(setup, 'pg_ctl', ['stop', '-D', data, '-m', mode, '-w', '-t', String(stopTimeoutSeconds)])
      return
    } catch (error) {
      const running = await runningPostmaster(data)
      if (!running) return
      if (mode === 'immediate' || /not permitted/.test(reason(error)))
        throw new StartupError(`The database server ${running.pid} cannot be stopped (${reason(error)}): stop it first.`, {
          cause: error,
        })
    }
  }
}

const launch = async (setup: Setup, { data }: Cluster, options: EmbeddedPostgresOptions): Promise<void> => {
  const { durable = true, settings, port: configured } = options
  const log = join(setup.folder, 'server.log')
  // A free port may be taken before the server binds it.
  for (let attempt = 1; ; attempt += 1) {
    const port = configured ?? (await freePort())
    try {
      await writeFile(log, '', { mode: 0o600 })
      if (setup.user) await chown(log, setup.user.uid, setup.user.gid)
      const shellSettings = shellOptions({ ...settingsOf(durable), ...settings, port: String(port) })
      const paths = ['-p', inQuotes(setup.programs.postgres), '-l', inQuotes(log)]
      const args = ['start', ...paths, '-w', '-t', String(startTimeoutSeconds), '-o', shellSettings]
      // Not passed with -D, because pg_ctl would interpret the path and also pass it to a shell.
      await runProgram(setup, 'pg_ctl', args, { PGDATA: data })
      return
    } catch (cause) {
      const logText = await readFile(log, 'utf8').catch(() => '')
      const portTaken = logText.includes('could not bind')
      // The workers of a killed server exit within moments. Until then Postgres refuses to start on the same data.
      const workersLeft = logText.includes('pre-existing shared memory block')
      if (attempt < maxLaunchAttempts && (workersLeft || (portTaken && configured === undefined))) {
        await wait(100)
        continue
      }
      if (portTaken) throw new StartupError(`Port ${port} for the embedded database is already in use.`, { cause })
      if (/did not start in time/.test(reason(cause))) throw notReady(cause)
      // Another process is using the folder: it stopped our server, or has already replaced the log with its own.
      if (/postmaster.pid" already exists|received fast shutdown/.test(logText) || (await runningPostmaster(data)))
        throw startedTwice(setup)
      const fatal = /FATAL:\s+(.*)/.exec(logText)?.[1] ?? reason(cause)
      throw new StartupError(`The embedded database did not start: ${fatal} (more in ${log}).`, { cause })
    }
  }
}

const startedTwice = ({ folder }: Setup) =>
  new StartupError(`Another process is starting the database in ${folder}: use one process per DATA_DIR.`)

const notReady = (cause?: unknown) =>
  new StartupError(`The embedded database did not accept connections within ${startTimeoutSeconds} s.`, { cause })

const settingsOf = (durable: boolean) => ({
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: '128MB',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // The level "log" omits ERRORs: the service logs them itself, and their details quote rows.
  log_min_messages: 'log',
  log_checkpoints: 'off',
  ...Object.fromEntries(
    ['fsync', 'synchronous_commit', 'full_page_writes', 'autovacuum'].map((name) => [name, durable ? 'on' : 'off']),
  ),
})

/** pg_ctl passes paths to a shell in double quotes. */
const inQuotes = (path: string) => path.replace(/["$`\\]/g, '\\$&')

/** pg_ctl passes the options to a shell. */
const shellOptions = (settings: Readonly<Record<string, string>>) =>
  Object.entries(settings)
    .map(([name, value]) => `-c '${name}=${value.replaceAll("'", "'\\''")}'`)
    .join(' ')

/** A port below the range of ephemeral ports, so that no outgoing connection can take it before the database listens. */
const freePort = () =>
  new Promise<number>((done, failed) => {
    const port = randomInt(10_000, 30_000)
    const probe = createServer().once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? done(freePort()) : failed(error),
    )
    probe.listen(port, '127.0.0.1', () => probe.close(() => done(port)))
  })

/**
 * Ensures that only one service uses a data folder. The lock belongs to a connection, so a killed service releases it once
 * Postgres notices, for which this function waits. Undefined if no server is running, or if its owner is stopping it.
 */
const lockFolder = async (setup: Setup, cluster: Cluster): Promise<(Postmaster & { lock: pg.Client }) | undefined> => {
  const server = await untilReady(cluster)
  if (!server) return undefined
  const lock = new pg.Client({
    host: '127.0.0.1',
    port: server.port,
    user: role,
    password: cluster.password,
    database: 'postgres',
    connectionTimeoutMillis: startTimeoutSeconds * 1000,
    application_name: `service process ${process.pid}`,
  })
  // An error only means that the connection or the server ended.
  lock.on('error', () => undefined)
  try {
    await lock.connect()
    await lock.query(`SET lock_timeout = '1s'`)
    await lock.query('SELECT pg_advisory_lock(1)').catch(async (error: unknown) => {
      throw isCode(error, '55P03') ? await inUse(lock, setup) : error
    })
    const { rowCount } = await lock.query('SELECT 1 FROM pg_database WHERE datname = $1', [database])
    if (rowCount === 0) await lock.query(`CREATE DATABASE ${database}`)
    return { ...server, lock }
  } catch (error) {
    await lock.end().catch(() => undefined)
    if (error instanceof StartupError) throw error
    if (isCode(error, '28P01', '28000')) {
      throw new StartupError(
        `The server on ${cluster.data} rejects the password stored beside it: stop process ${server.pid} and start again.`,
      )
    }
    const running = await runningPostmaster(cluster.data)
    if (running?.isReady && running.pid === server.pid)
      throw new StartupError(`The embedded database does not answer: ${reason(error)}.`, { cause: error })
    return undefined
  }
}

const inUse = async (client: pg.Client, { folder }: Setup) => {
  const { rows } = await client.query<{ application_name: string }>(
    `SELECT application_name FROM pg_stat_activity JOIN pg_locks USING (pid) WHERE locktype = 'advisory' AND granted LIMIT 1`,
  )
  const owner = rows[0]?.application_name.replace('service ', '') ?? 'another process'
  return new StartupError(`The data folder ${folder} is in use by ${owner}: stop it first, or choose another DATA_DIR.`)
}

const untilReady = async ({ data }: Cluster): Promise<Postmaster | undefined> => {
  const deadline = performance.now() + startTimeoutSeconds * 1000
  for (;;) {
    const server = await runningPostmaster(data)
    if (!server || server.isReady) return server
    if (performance.now() > deadline) throw notReady()
    await wait(pollMs)
  }
}
