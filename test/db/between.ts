import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chown, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { settingsOf } from '../../src/db/connection-settings.ts'
import { choosePostgresUser, commandAsUser, type PostgresUser } from '../../src/dev/embedded-postgres/programs.ts'
import { freePort } from '../harness/ports.ts'

const run = promisify(execFile)

const short: Readonly<Record<string, string>> = {
  on: '1',
  off: '0',
  'ISO, MDY': 'ISO,MDY',
  'read committed': "''read committed''",
}

/**
 * The same settings for a pooler that opens the connections: the query that its configuration runs on each. Quotes are doubled,
 * as its configuration needs. PgBouncer opens no connection if the text has more than 506 bytes.
 */
export const connectQueryOf = (settings: Readonly<Record<string, string>>): string =>
  Object.entries(settings)
    .map(([name, value]) => ['set ', name, '=', short[value] ?? value].join(''))
    .join(';')

/** Debian's programs, including pg_basebackup, which npm's Postgres lacks. */
export const findDebianPostgres = async (): Promise<string | undefined> => {
  const root = '/usr/lib/postgresql'
  const majors = existsSync(root) ? (await readdir(root)).map(Number).filter((major) => major >= 15) : []
  const folder = majors.length === 0 ? undefined : join(root, String(Math.max(...majors)), 'bin')
  return folder !== undefined && existsSync(join(folder, 'pg_basebackup')) ? folder : undefined
}

export const findPgbouncer = (): string | undefined =>
  ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer'].find((path) => existsSync(path))

const folderOf = async (user: PostgresUser | undefined): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'between-'))
  if (user) await chown(folder, user.uid, user.gid)
  return folder
}

const listening = async (url: string): Promise<void> => {
  for (let tries = 0; tries < 300; tries += 1) {
    const client = new pg.Client({ connectionString: url })
    client.on('error', () => undefined)
    const up = await client.connect().then(
      () => true,
      () => false,
    )
    await client.end().catch(() => undefined)
    if (up) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error(`nothing answers at ${url}`)
}

type Running = { url: string; stop: () => Promise<void> }

const start = async (user: PostgresUser | undefined, file: string, args: string[], url: string): Promise<Running> => {
  const command = commandAsUser(user, file, args)
  const child = spawn(command.file, command.args, { ...command.ids, cwd: '/', stdio: 'ignore' })
  await listening(url)
  return {
    url,
    stop: async () => {
      const ended = once(child, 'exit')
      child.kill('SIGINT')
      await ended
    },
  }
}

/** A primary and a standby that streams from it. */
export const startPair = async (binaries: string) => {
  const user = await choosePostgresUser(tmpdir())
  const folder = await folderOf(user)
  const program = (name: string) => join(binaries, name)
  const as = async (name: string, args: string[]) => {
    const command = commandAsUser(user, program(name), args)
    await run(command.file, command.args, { ...command.ids, cwd: '/' })
  }
  const [primaryPort, standbyPort] = [await freePort(), await freePort()]
  const [primaryData, standbyData] = [join(folder, 'primary'), join(folder, 'standby')]
  const urlOf = (port: number) => `postgresql://payments@127.0.0.1:${port}/postgres`
  const serve = (data: string, port: number) =>
    start(
      user,
      program('postgres'),
      [
        '-D',
        data,
        '-p',
        String(port),
        '-c',
        'listen_addresses=127.0.0.1',
        '-c',
        'unix_socket_directories=',
        '-c',
        'fsync=off',
        '-c',
        'timezone=UTC',
      ],
      urlOf(port),
    )
  await as('initdb', ['-D', primaryData, '-U', 'payments', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync'])
  const primary = await serve(primaryData, primaryPort)
  await as('pg_basebackup', [
    '-h',
    '127.0.0.1',
    '-p',
    String(primaryPort),
    '-U',
    'payments',
    '-D',
    standbyData,
    '-R',
    '-X',
    'stream',
    '-c',
    'fast',
  ])
  const standby = await serve(standbyData, standbyPort)
  return { primary, standby, remove: () => rm(folder, { recursive: true, force: true }) }
}

/** Whether it keeps prepared statements: from 1.21 on. */
export const canKeepStatements = async (program: string): Promise<boolean> => {
  const [, major = '0', minor = '0'] = /PgBouncer (\d+)\.(\d+)/.exec((await run(program, ['--version'])).stdout) ?? []
  return Number(major) > 1 || Number(minor) >= 21
}

type PoolerOptions = { keepsStatements?: boolean; servers?: number; prepared?: boolean }

/** A pooler in transaction mode for one database. `servers`: shared connections to Postgres. `prepared`: by `connect_query`. */
export const startPgbouncer = async (
  program: string,
  databaseUrl: string,
  { keepsStatements = false, servers = 5, prepared = true }: PoolerOptions = {},
) => {
  const user = await choosePostgresUser(tmpdir())
  const folder = await folderOf(user)
  const port = await freePort()
  const { hostname, port: serverPort, username, password, pathname } = new URL(databaseUrl)
  const name = pathname.slice(1)
  const file = join(folder, 'pgbouncer.ini')
  await writeFile(
    file,
    `[databases]
${name} = host=${hostname} port=${serverPort} dbname=${name} user=${username} password=${password} ${prepared ? `connect_query='${connectQueryOf(settingsOf(7_000))}'` : ''}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${servers}
ignore_startup_parameters = options
${keepsStatements ? 'max_prepared_statements = 200\n' : ''}logfile = ${join(folder, 'pgbouncer.log')}
`,
  )
  if (user) await chown(file, user.uid, user.gid)
  const url = `postgresql://${username}:${password}@127.0.0.1:${port}/${name}`
  const pooler = await start(user, program, [file], url)
  return {
    ...pooler,
    stop: async () => {
      await pooler.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
