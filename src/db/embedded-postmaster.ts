import { execFile } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { StartupError } from '../lib/startup-error.ts'
import { type Cluster, isAlive, isCode, role } from './embedded-cluster.ts'

const run = promisify(execFile)
const pollMs = 20

export type Postmaster = { pid: number; port: number }

/** The server that runs on this data, if one does. */
export const runningPostmaster = async ({ data }: Cluster): Promise<Postmaster | undefined> => {
  const file = join(data, 'postmaster.pid')
  const lines = (await readFile(file, 'utf8').catch(() => '')).split('\n')
  const pid = Number(lines[0])
  const port = Number(lines[3])
  if (!Number.isInteger(pid) || pid <= 0 || !isAlive(pid)) return undefined
  if (await isPostgres(pid)) return Number.isInteger(port) && port > 0 ? { pid, port } : undefined
  // After a restart of the machine or container the number may belong to anything, and Postgres would refuse to start.
  await rm(file, { force: true })
  return undefined
}

// Not by the folder in its arguments: a server whose folder was moved still writes to it.
const isPostgres = async (pid: number) => {
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() =>
    run('ps', ['-ww', '-o', 'command=', '-p', String(pid)]).then(
      ({ stdout }) => stdout,
      () => 'postgres',
    ),
  )
  return command.includes('postgres')
}

/** Connects as soon as the server lets us; undefined when it ends instead. */
export const connectWhenReady = async (cluster: Cluster, server: Postmaster, isGone: () => boolean, timeoutSeconds: number) => {
  const deadline = performance.now() + timeoutSeconds * 1000
  while (!isGone()) {
    const client = new pg.Client({
      host: '127.0.0.1',
      port: server.port,
      user: role,
      password: cluster.password,
      database: 'postgres',
      application_name: `service process ${process.pid}`,
    })
    try {
      await client.connect()
      // The server going away is seen by its exit, not by this connection.
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
        throw new StartupError(`The embedded database did not accept connections within ${timeoutSeconds} s.`, { cause: error })
      }
      await wait(pollMs)
    }
  }
  return undefined
}

/**
 * One service per data folder. The lock lives on a connection, so a service that is killed gives it back at once; the
 * wait covers the moment that Postgres needs to notice.
 */
export const takeOwnership = async (client: pg.Client, folder: string) => {
  try {
    await client.query(`SET lock_timeout = '2s'`)
    await client.query('SELECT pg_advisory_lock(1)')
  } catch (error) {
    if (!isCode(error, '55P03')) throw error
    const holder = await client.query<{ application_name: string }>(
      `SELECT application_name FROM pg_stat_activity JOIN pg_locks USING (pid) WHERE locktype = 'advisory' AND granted LIMIT 1`,
    )
    const who = holder.rows[0]?.application_name.replace('service ', '') ?? 'another process'
    throw new StartupError(`The data folder ${folder} is in use by ${who}: stop it first, or choose another DATA_DIR.`)
  }
}

/** Fast shutdown, waited for: transactions are rolled back and a checkpoint is written. */
export const stopPostmaster = async (pid: number, isGone = () => !isAlive(pid), timeoutSeconds = 30) => {
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
