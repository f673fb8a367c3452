import { execFile, spawn } from 'node:child_process'
import { chmod, cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, connect as dial, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { runningPostmaster } from '../../src/dev/embedded-postgres/postmaster.ts'
import { choosePostgresUser, commandAsUser, environment, findPrograms } from '../../src/dev/embedded-postgres/programs.ts'
import { startEmbeddedPostgres } from '../../src/dev/embedded-postgres/start.ts'
import { connected } from './connected.ts'
import { freePort } from './ports.ts'

const run = promisify(execFile)

/** A primary and a standby by streaming replication, behind one address that leads to one of them. */
export type Replicated = {
  url: string
  /** The two servers themselves: first the original primary, then its standby. */
  urls: readonly [string, string]
  /** Stops replication: the standby gets nothing more. */
  cutReplication: () => Promise<void>
  /** Commits no longer wait for a standby. */
  asynchronous: () => Promise<void>
  /** Kills the primary. The standby becomes the primary, and the address leads to it. */
  failOver: () => Promise<void>
  close: () => Promise<void>
}

const until = async (what: string, holds: () => Promise<boolean>): Promise<void> => {
  const deadline = performance.now() + 60_000
  while (!(await holds().catch(() => false))) {
    if (performance.now() > deadline) throw new Error(`waited in vain: ${what}`)
    await wait(20)
  }
}

/** Copies a running server's files. The programs that npm installs lack `pg_basebackup`. */
const copyFiles = (url: string, from: string, to: string): Promise<void> =>
  connected(url, async (client) => {
    await client.query(`select pg_backup_start('standby', true)`)
    await mkdir(join(to, 'cluster'), { recursive: true })
    // A file that disappears while it is copied is restored from the log.
    await run('sh', ['-c', `cp -a "${from}/cluster/data" "${to}/cluster/data" || true`])
    const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)')
    const data = join(to, 'cluster', 'data')
    await rm(join(data, 'postmaster.pid'), { force: true })
    await writeFile(join(data, 'backup_label'), rows[0]?.labelfile ?? '')
    await cp(join(from, 'cluster', 'password'), join(to, 'cluster', 'password'))
  })

/** Passes connections to `port`, and cuts them when it changes. */
const startSwitch = async (first: number) => {
  let port = first
  const sockets = new Set<Socket>()
  const server = createServer({ noDelay: true }, (client) => {
    const upstream = dial({ host: '127.0.0.1', port, noDelay: true })
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => other.destroy())
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
      socket.pipe(other)
    }
  })
  const listening = await freePort()
  await new Promise<void>((ready) => server.listen(listening, '127.0.0.1', ready))
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    port: listening,
    to: (next: number) => {
      port = next
      cut()
    },
    close: async () => {
      cut()
      await new Promise((closed) => server.close(closed))
    },
  }
}

const replication = { wal_level: 'replica', max_wal_senders: '4', wal_keep_size: '256MB', hot_standby: 'on' }

/** `prepare` runs on the primary before the standby is copied from it. */
export const startReplicated = async (options: {
  synchronous: boolean
  prepare: (url: string) => Promise<void>
}): Promise<Replicated> => {
  const root = await mkdtemp(join(tmpdir(), 'replicated-'))
  await chmod(root, 0o755)
  const [one, two] = [join(root, 'one'), join(root, 'two')]
  const primary = await startEmbeddedPostgres({ dataDir: one, settings: replication })
  await options.prepare(primary.url)
  await copyFiles(primary.url, one, two)

  const data = join(two, 'cluster', 'data')
  const { password } = new URL(primary.url)
  await writeFile(join(data, 'standby.signal'), '')
  await run('sh', ['-c', `chown -R --reference="${data}" "${two}"; chmod 700 "${data}"`])
  const port = await freePort()
  const source = `host=127.0.0.1 port=${primary.port} user=payments password=${password} application_name=standby`
  const settings = { ...replication, port: String(port), listen_addresses: '127.0.0.1', unix_socket_directories: '' }
  const args = Object.entries({ ...settings, max_connections: '200', timezone: 'UTC' }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ])
  await writeFile(join(data, 'postgresql.auto.conf'), `primary_conninfo = '${source}'\n`)
  const { folder, postgres } = await findPrograms()
  const command = commandAsUser(await choosePostgresUser(two, folder), postgres, ['-D', data, ...args])
  const standby = spawn(command.file, command.args, { ...command.ids, env: environment(), cwd: '/', stdio: 'ignore' })
  const standbyUrl = primary.url.replace(`:${primary.port}/`, `:${port}/`)
  const onPrimary = (text: string) => connected(primary.url, (client) => client.query(text))
  const onStandby = (text: string) => connected(standbyUrl, (client) => client.query(text))
  await until(
    'the standby streams',
    async () => (await onPrimary(`select from pg_stat_replication where state = 'streaming'`)).rowCount === 1,
  )
  if (options.synchronous) {
    await onPrimary(`alter system set synchronous_standby_names = 'standby'`)
    await onPrimary('select pg_reload_conf()')
    await until(
      'it is synchronous',
      async () => (await onPrimary(`select from pg_stat_replication where sync_state = 'sync'`)).rowCount === 1,
    )
  }

  const door = await startSwitch(primary.port)
  const url = primary.url.replace(`:${primary.port}/`, `:${door.port}/`)
  let primaryIsDead = false
  return {
    url,
    urls: [primary.url, standbyUrl],
    cutReplication: async () => {
      const position = (await onPrimary('select pg_current_wal_lsn()::text as at')).rows[0]?.at
      await until('it has what there is', async () =>
        Boolean((await onStandby(`select pg_last_wal_replay_lsn() >= '${position}'::pg_lsn as there`)).rows[0]?.there),
      )
      await onStandby(`alter system set primary_conninfo = ''`)
      await onStandby('select pg_reload_conf()')
      await until('it receives no more', async () => (await onPrimary('select from pg_stat_replication')).rowCount === 0)
    },
    asynchronous: async () => {
      await onPrimary(`alter system set synchronous_standby_names = ''`)
      await onPrimary('select pg_reload_conf()')
    },
    failOver: async () => {
      const postmaster = await runningPostmaster(join(one, 'cluster', 'data'))
      if (!postmaster) throw new Error('no primary is running')
      process.kill(postmaster.pid, 'SIGKILL')
      primaryIsDead = true
      await onStandby('select pg_promote()')
      door.to(port)
    },
    close: async () => {
      await door.close()
      standby.kill('SIGINT')
      await new Promise((ended) => (standby.exitCode === null ? standby.once('exit', ended) : ended(null)))
      if (!primaryIsDead) await primary.stop()
      await rm(root, { recursive: true, force: true })
    },
  }
}
