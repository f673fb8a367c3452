import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { chown, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { StartupError } from '../../lib/errors.ts'
import type { Binaries } from './binaries.ts'
import { asUser, type PostgresUser } from './user.ts'

const run = promisify(execFile)

/** The role and the password are this server's own: they exist nowhere else. */
export type Cluster = { data: string; password: string }
export const role = 'payments'

/** The environment variables that the server's programs get: none that could change locale, time zone or data folder. */
export const environment = () => {
  const passed = ['PATH', 'LD_LIBRARY_PATH', 'TMPDIR', 'SystemRoot'].flatMap((name) =>
    process.env[name] ? [[name, process.env[name]]] : [],
  )
  return { ...Object.fromEntries(passed), LC_ALL: 'C', TZ: 'UTC' }
}

/** The data folder, and what runs there as whom. `durable`: as in the options of a start. */
export type Place = { folder: string; binaries: Binaries; user: PostgresUser | undefined; durable: boolean }

/** Opens the cluster in the place's folder; creates it first when there is none. */
export const openCluster = async (place: Place): Promise<Cluster> => {
  const cluster = join(place.folder, 'cluster')
  const major = await majorVersion(cluster)
  const installed = place.binaries.major
  if (major === undefined) await createCluster(place, cluster)
  else if (major !== installed)
    throw new StartupError(
      `The database in ${cluster} was written by PostgreSQL ${major} and this release runs ${installed}: move it with pg_dump, or choose another DATA_DIR.`,
    )
  return { data: join(cluster, 'data'), password: await readPassword(cluster) }
}

/**
 * Created under another name and renamed, data and password together: a start that is killed half-way leaves nothing that the next one
 * would mistake for a database, and of two first starts at once one wins completely.
 */
const createCluster = async ({ folder, ...place }: Place, cluster: string) => {
  const { user } = place
  await removeAbandoned(folder)
  const draft = join(folder, `new-${process.pid}-${randomBytes(4).toString('hex')}`)
  const passwordFile = join(draft, 'password')
  try {
    await mkdir(draft, { mode: 0o700 })
    await writeFile(passwordFile, `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600 })
    if (user) await Promise.all([draft, passwordFile].map((path) => chown(path, user.uid, user.gid)))
    await initdb(place, draft, passwordFile)
    await rename(draft, cluster)
  } catch (error) {
    await rm(draft, { recursive: true, force: true })
    if (isCode(error, 'ENOTEMPTY', 'EEXIST') && (await majorVersion(cluster)) !== undefined) return
    if (reason(error).includes('could not look up')) {
      throw new StartupError(
        `PostgreSQL needs a user with a name and user ${process.getuid?.()} has none: start as a named user, or set DATABASE_URL.`,
        {
          cause: error,
        },
      )
    }
    throw new StartupError(`The embedded database could not be created in ${folder}: ${reason(error)}.`, { cause: error })
  }
}

const initdb = async ({ binaries, user, durable }: Omit<Place, 'folder'>, draft: string, passwordFile: string) => {
  const command = asUser(user, binaries.initdb, [
    `--pgdata=${join(draft, 'data')}`,
    `--username=${role}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    // Postgres' own C.UTF-8: text has the same order with every libc and ICU.
    '--encoding=UTF8',
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--no-instructions',
    ...(durable ? [] : ['--no-sync']),
  ])
  // cwd: the current folder may be one that the server's user cannot enter.
  await run(command.file, command.args, { ...command.ids, env: environment(), cwd: '/' })
}

/** Unfinished clusters whose process no longer runs. */
const removeAbandoned = async (folder: string) => {
  for (const name of await readdir(folder)) {
    const maker = /^new-(\d+)-/.exec(name)?.[1]
    if (maker !== undefined && !isProcessRunning(Number(maker))) await rm(join(folder, name), { recursive: true, force: true })
  }
}

const majorVersion = async (cluster: string) => {
  try {
    return (await readFile(join(cluster, 'data', 'PG_VERSION'), 'utf8')).trim()
  } catch (error) {
    if (!isCode(error, 'ENOENT'))
      throw new StartupError(`The database in ${cluster} cannot be read: ${reason(error)}.`, { cause: error })
    if ((await readdir(cluster).catch(() => [])).length === 0) return undefined
    throw new StartupError(`${cluster} is not a database of this service: remove it, or choose another DATA_DIR.`)
  }
}

/** @throws StartupError */
export const readPassword = async (cluster: string) => {
  const file = join(cluster, 'password')
  const password = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new StartupError(`The password of the embedded database cannot be read from ${file}: ${reason(error)}.`, {
      cause: error,
    })
  })
  return password.trim()
}

export const isProcessRunning = (pid: number) => hasEntry(pid) && !isZombie(pid)

/** The check that Postgres itself makes when it finds a lock file. */
export const hasEntry = (pid: number) => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return isCode(error, 'EPERM')
  }
}

// init reaps an orphan some time later; in a container without init, nothing does.
const isZombie = (pid: number) => {
  try {
    return /\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

export const isCode = (error: unknown, ...codes: string[]) =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' && codes.includes(error.code)

/** The reason in one line: what the program printed, or the system's error. */
export const reason = (error: unknown) => {
  const lines =
    error instanceof Error && 'stderr' in error && typeof error.stderr === 'string' ? error.stderr.trim().split('\n') : []
  const line = lines.find((text) => /error:|FATAL:/.test(text)) ?? lines.at(-1)
  const message = line || (error instanceof Error ? error.message : String(error))
  return (message.split('\n')[0] ?? message).replace(/\.$/, '')
}
