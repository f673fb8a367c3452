import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { choosePostgresUser, commandAsUser } from '../../src/dev/embedded-postgres/programs.ts'
import { isCode } from '../../src/lib/operating-system.ts'
import { findDebianPostgres } from '../db/between.ts'
import { freePort } from '../harness/ports.ts'
import { startHaproxy } from '../harness/postgres-haproxy.ts'
import { isInstalled } from './balancer.ts'

/** Debian's PostgreSQL beside Patroni and etcd. Undefined if one of them is missing. */
export const findPatroni = async (): Promise<string | undefined> =>
  isInstalled('etcd') && isInstalled('patroni') ? findDebianPostgres() : undefined

const template = readFileSync(fileURLToPath(new URL('../../deploy/patroni/patroni.yml', import.meta.url)), 'utf8')

type Replacement = readonly [string | RegExp, string]

/** deploy/patroni/patroni.yml for one of three servers on this machine: no TLS, no watchdog, no archive. */
const configure = (replacements: readonly Replacement[]): string =>
  replacements.reduce((text, [from, to]) => {
    if (typeof from === 'string' ? !text.includes(from) : !from.test(text))
      throw new Error(`deploy/patroni/patroni.yml has no ${String(from)}`)
    return typeof from === 'string' ? text.replaceAll(from, to) : text.replace(from, to)
  }, template)

export type Member = { name: string; port: number; restPort: number; patroni: ChildProcess; data: string; file: string }

type Replication = { replication?: { sync_state: string; state: string }[] }

const isSynchronous = (state: unknown): boolean =>
  (state as Replication | undefined)?.replication?.some(({ sync_state }) => sync_state === 'sync') === true

const isWhole = (state: unknown): boolean =>
  (state as Replication | undefined)?.replication?.filter((standby) => standby.state === 'streaming').length === 2

const until = async <T>(what: string, read: () => Promise<T | undefined>, explain = () => ''): Promise<T> => {
  const deadline = performance.now() + 120_000
  for (;;) {
    const value = await read().catch(() => undefined)
    if (value !== undefined) return value
    if (performance.now() > deadline) throw new Error(`waited in vain: ${what}\n${explain()}`)
    await wait(100)
  }
}

/** Three servers in the configuration of deploy/patroni, with their shared etcd. */
export const startCluster = async (binaries: string) => {
  const folder = await mkdtemp(join(tmpdir(), 'patroni-'))
  const user = await choosePostgresUser(tmpdir())
  const own = async (path: string) => {
    if (user) await chown(path, user.uid, user.gid)
  }
  await own(folder)
  const [etcdPort, peerPort] = [await freePort(), await freePort()]
  const etcdUrl = `http://127.0.0.1:${etcdPort}`
  const etcd = spawn(
    'etcd',
    [
      ...['--data-dir', join(folder, 'etcd'), '--listen-client-urls', etcdUrl, '--advertise-client-urls', etcdUrl],
      ...['--listen-peer-urls', `http://127.0.0.1:${peerPort}`, '--initial-advertise-peer-urls', `http://127.0.0.1:${peerPort}`],
      ...['--initial-cluster', `default=http://127.0.0.1:${peerPort}`],
    ],
    { stdio: 'ignore' },
  )
  await until('etcd', async () => (await fetch(`${etcdUrl}/health`)).ok || undefined)

  const members: Member[] = []
  const run = (file: string): ChildProcess => {
    const command = commandAsUser(user, 'patroni', [file])
    const log = openSync(`${file}.log`, 'a')
    const child = spawn(command.file, command.args, { ...command.ids, cwd: '/', stdio: ['ignore', log, log], detached: true })
    closeSync(log)
    return child
  }
  const lastLines = () =>
    members
      .map(({ name, file }) => `${name}:\n${readFileSync(`${file}.log`, 'utf8').split('\n').slice(-12).join('\n')}`)
      .join('\n')
  const startMember = async (name: string): Promise<Member> => {
    const [port, restPort, data] = [await freePort(), await freePort(), join(folder, name)]
    await mkdir(data, { mode: 0o700 })
    await own(data)
    const file = join(folder, `${name}.yml`)
    const configuration = configure([
      ['name: db1', `name: ${name}`],
      ['10.0.0.21:8008', `127.0.0.1:${restPort}`],
      ['10.0.0.21:5432', `127.0.0.1:${port}`],
      ['[10.0.0.11:2379, 10.0.0.12:2379, 10.0.0.13:2379]', `['127.0.0.1:${etcdPort}']`],
      ['/var/lib/postgresql/payments', data],
      ['/var/lib/postgresql/.pgpass_patroni', join(folder, `${name}.pgpass`)],
      ['/usr/lib/postgresql/18/bin', binaries],
      ["'test ! -f /backup/wal/%f && cp %p /backup/wal/%f'", "'true'"],
      ['- local all postgres peer', `- local all all trust`],
      ['hostssl replication replicator 10.0.0.0/24', 'host replication replicator 127.0.0.1/32'],
      ['hostssl all all 10.0.0.0/24', 'host all all 127.0.0.1/32'],
      [
        / {2}parameters:\n {4}ssl: 'on'\n( {4}ssl_.*\n)+/,
        `  parameters:\n    unix_socket_directories: ${folder}\n    fsync: 'off'\n`,
      ],
      ['mode: required', 'mode: off'],
    ])
    await writeFile(file, configuration)
    await own(file)
    return { name, port, restPort, patroni: run(file), data, file }
  }
  for (const name of ['db1', 'db2', 'db3']) {
    members.push(await startMember(name))
    await until(`${name} runs`, async () => (await fetch(`http://127.0.0.1:${members.at(-1)?.restPort}/health`)).ok || undefined)
  }
  const leads = async ({ restPort }: Member): Promise<boolean> =>
    (await fetch(`http://127.0.0.1:${restPort}/leader`, { signal: AbortSignal.timeout(500) }).catch(() => ({ ok: false }))).ok
  /** The member that accepts writes now, by its own account. */
  const leader = async (except?: Member): Promise<Member | undefined> => {
    for (const member of members) if (member !== except && (await leads(member))) return member
    return undefined
  }
  /** By the leader's view in etcd: a standby that only the server counts as synchronous may not take over yet. */
  const whole = async (): Promise<true | undefined> => {
    const found = await leader()
    if (!found) return undefined
    const [agreed, server] = await Promise.all(
      ['cluster', ''].map(async (path) => (await fetch(`http://127.0.0.1:${found.restPort}/${path}`)).json()),
    )
    const roles = (agreed as { members: { role: string }[] }).members.map(({ role }) => role).toSorted()
    return isWhole(server) && roles.join() === 'leader,replica,sync_standby' ? true : undefined
  }
  const first = await until('a leader', () => leader())
  await until('two standbys', whole)
  const admin = new pg.Client({
    host: '127.0.0.1',
    port: first.port,
    user: 'postgres',
    password: 'replace-this',
    database: 'postgres',
  })
  await admin.connect()
  await admin.query(`create role payments login password 'payments'`)
  await admin.query('create database payments owner payments')
  await admin.end()

  const processes = (): { pid: number; parent: number }[] =>
    execFileSync('ps', ['-eo', 'pid=,ppid='], { encoding: 'utf8' })
      .trim()
      .split('\n')
      .map((line) => line.trim().split(/\s+/).map(Number))
      .map(([pid = 0, parent = 0]) => ({ pid, parent }))
  /** Signals Patroni, its server, and the server's process of each connection, like a failure of the machine. */
  const signal = ({ patroni, data }: Member, name: NodeJS.Signals): void => {
    const postmaster = Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0])
    const backends = processes().flatMap(({ pid, parent }) => (parent === postmaster ? [pid] : []))
    for (const pid of [patroni.pid ?? 0, postmaster]) process.kill(pid, name)
    for (const pid of backends) {
      try {
        process.kill(pid, name)
      } catch (error) {
        // The process has ended by itself meanwhile.
        if (!isCode(error, 'ESRCH')) throw error
      }
    }
  }
  const haproxy = await startHaproxy(members)
  return {
    url: `postgresql://payments:payments@127.0.0.1:${haproxy.port}/payments`,
    leader: () => until('a leader', () => leader(), lastLines),
    /** Any other member, once it can commit: strictly synchronous, it needs a standby that follows it. */
    successor: (of: Member) =>
      until(
        'a successor',
        async () => {
          const found = await leader(of)
          const state = found && (await fetch(`http://127.0.0.1:${found.restPort}/`).then((answer) => answer.json()))
          return isSynchronous(state) ? found : undefined
        },
        lastLines,
      ),
    /** Both standbys follow the leader, one of them synchronously. A standby during a rewind could not follow a successor. */
    whole: () => until('two standbys', whole, lastLines),
    switchOver: async (from: Member): Promise<void> => {
      const answer = await fetch(`http://127.0.0.1:${from.restPort}/switchover`, {
        method: 'POST',
        body: JSON.stringify({ leader: from.name }),
      })
      if (!answer.ok) throw new Error(`no switchover: ${answer.status} ${await answer.text()}`)
    },
    signal,
    /** Restarts a killed member. */
    restart: (member: Member): void => {
      member.patroni = run(member.file)
    },
    close: async (): Promise<void> => {
      for (const { patroni } of members) {
        if (patroni.exitCode !== null || patroni.signalCode !== null || !patroni.pid) continue
        process.kill(-patroni.pid, 'SIGCONT')
        const ended = once(patroni, 'exit')
        // Patroni stops its server in order.
        patroni.kill('SIGTERM')
        await Promise.race([ended, wait(20_000)])
      }
      etcd.kill('SIGKILL')
      await rm(folder, { recursive: true, force: true })
    },
  }
}
