import { execFile } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { StartupError } from '../../lib/errors.ts'
import { type Cluster, hasEntry, isCode, isProcessRunning, role } from './cluster.ts'

const run = promisify(execFile)
const pollMs = 20

export type Postmaster = { pid: number; port: number }

/** The server that runs on this data, if there is one. */
export const runningPostmaster = async (data: string): Promise<Postmaster | undefined> => {
  const { pid, port } = await readPidFile(data)
  if (!(pid > 0) || !hasEntry(pid)) return undefined
  if (isProcessRunning(pid) && (await isPostgres(pid))) return port > 0 ? { pid, port } : undefined
  // A zombie, or another process after a restart of the machine or container: Postgres would mistake either for itself.
  await rm(join(data, 'postmaster.pid'), { force: true })
  return undefined
}

/** Lines 1, 4 and 8 of the file that a server keeps while it runs. */
const readPidFile = async (data: string) => {
  const lines = (await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n')
  return { pid: Number(lines[0]), port: Number(lines[3]), status: lines[7]?.trim() }
}

// Not by the folder in its arguments: a server whose folder was moved still writes to it.
const isPostgres = async (pid: number) => {
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() =>
    run('ps', ['-ww', '-o', 'command=', '-p', String(pid)]).then(
      ({ stdout }) => stdout,
      () => '/bin/postgres ',
    ),
  )
  return /\/bin\/postgres[\0 ]/.test(command)
}

/** Connects as soon as the server accepts; undefined when it ends instead. */
export const connectWhenReady = async (cluster: Cluster, server: Postmaster, isGone: () => boolean, timeoutSeconds: number) => {
  const deadline = performance.now() + timeoutSeconds * 1000
  while (!isGone()) {
    const { pid, status } = await readPidFile(cluster.data)
    if (pid !== server.pid || status !== 'ready') {
      // Read from the file, not tried at the port: something else may be listening there.
      if (performance.now() > deadline) throw notReady(timeoutSeconds)
      await wait(pollMs)
      continue
    }
    const client = new pg.Client({
      host: '127.0.0.1',
      port: server.port,
      user: role,
      password: cluster.password,
      database: 'postgres',
      connectionTimeoutMillis: 5_000,
      application_name: `service process ${process.pid}`,
    })
    try {
      await client.connect()
      // The server's exit shows that it ended, not this connection.
      client.on('error', () => undefined)
      return client
    } catch (error) {
      await client.end().catch(() => undefined)
      if (isCode(error, '28P01', '28000')) {
        throw new StartupError(
          `The server on ${cluster.data} does not take the password kept beside it: stop process ${server.pid} and start again.`,
        )
      }
      if (performance.now() > deadline) {
        throw notReady(timeoutSeconds, error)
      }
      await wait(pollMs)
    }
  }
  return undefined
}

const notReady = (seconds: number, cause?: unknown) =>
  new StartupError(`The embedded database did not accept connections within ${seconds} s.`, { cause })

/**
 * One service for each data folder. The lock belongs to a connection, so a service that is killed releases it at once; the wait covers the
 * moment that Postgres needs to notice.
 * @returns false when the server went away meanwhile: its owner was stopping it.
 */
export const takeOwnership = async (client: pg.Client, folder: string) => {
  try {
    await client.query(`SET lock_timeout = '1s'`)
    await client.query('SELECT pg_advisory_lock(1)')
    return true
  } catch (error) {
    if (!isCode(error, '55P03')) return false
    const holder = await client.query<{ application_name: string }>(
      `SELECT application_name FROM pg_stat_activity JOIN pg_locks USING (pid) WHERE locktype = 'advisory' AND granted LIMIT 1`,
    )
    const owner = holder.rows[0]?.application_name.replace('service ', '') ?? 'another process'
    throw new StartupError(`The data folder ${folder} is in use by ${owner}: stop it first, or choose another DATA_DIR.`)
  }
}

/** Fast shutdown, waited for: transactions are rolled back and a checkpoint is written. */
export const stopPostmaster = async (pid: number, isGone = () => !isProcessRunning(pid), timeoutSeconds = 30) => {
  signal(pid, 'SIGINT')
  const deadline = performance.now() + timeoutSeconds * 1000
  while (!isGone()) {
    // Immediate shutdown loses nothing that was committed; the next start replays it.
    if (performance.now() > deadline) signal(pid, 'SIGQUIT')
    await wait(pollMs)
  }
}

const signal = (pid: number, name: NodeJS.Signals) => {
  try {
    process.kill(pid, name)
  } catch (error) {
    if (isCode(error, 'EPERM')) {
      throw new StartupError(`The database server ${pid} of an earlier start belongs to another user: stop it first.`, {
        cause: error,
      })
    }
    if (!isCode(error, 'ESRCH')) throw error
  }
}
