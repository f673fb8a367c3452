import { randomBytes } from 'node:crypto'
import { chown, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { StartupError } from '../../lib/errors.ts'
import { isCode, isRunning, reason } from '../../lib/operating-system.ts'
import { runProgram, type Setup } from './programs.ts'

/** The role and password are valid only for this server and stored only with it. */
export type Cluster = { data: string; password: string }
export const role = 'payments'

export const openCluster = async (setup: Setup, durable: boolean): Promise<Cluster> => {
  const cluster = join(setup.folder, 'cluster')
  const major = await majorVersion(cluster)
  const installed = setup.programs.major
  if (major === undefined) await createCluster(setup, cluster, durable)
  else if (major !== installed)
    throw new StartupError(
      `The database in ${cluster} was written by PostgreSQL ${major}, but this release runs ${installed}: move it with pg_dump, or choose another DATA_DIR.`,
    )
  return { data: join(cluster, 'data'), password: await readPassword(cluster) }
}

/** Created under a temporary name, then renamed. A killed start leaves no partial database, and of two starts one wins. */
const createCluster = async (setup: Setup, cluster: string, durable: boolean) => {
  const { folder, user } = setup
  await removeAbandoned(folder)
  const draft = join(folder, `new-${process.pid}-${randomBytes(4).toString('hex')}`)
  const passwordFile = join(draft, 'password')
  try {
    await mkdir(draft, { mode: 0o700 })
    await writeFile(passwordFile, `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600 })
    if (user) await Promise.all([draft, passwordFile].map((path) => chown(path, user.uid, user.gid)))
    await runProgram(setup, 'initdb', [
      `--pgdata=${join(draft, 'data')}`,
      `--username=${role}`,
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      // Postgres' own C.UTF-8 locale sorts text the same way with every version of libc and ICU.
      '--encoding=UTF8',
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--no-instructions',
      ...(durable ? [] : ['--no-sync']),
    ])
    await rename(draft, cluster)
  } catch (error) {
    await rm(draft, { recursive: true, force: true })
    if (isCode(error, 'ENOTEMPTY', 'EEXIST') && (await majorVersion(cluster)) !== undefined) return
    throw new StartupError(`The embedded database could not be created in ${folder}: ${reason(error)}.`, { cause: error })
  }
}

const removeAbandoned = async (folder: string) => {
  for (const name of await readdir(folder)) {
    const maker = /^new-(\d+)-/.exec(name)?.[1]
    if (maker !== undefined && !isRunning(Number(maker))) await rm(join(folder, name), { recursive: true, force: true })
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

export const readPassword = async (cluster: string) => {
  const file = join(cluster, 'password')
  const password = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new StartupError(`The password of the embedded database cannot be read from ${file}: ${reason(error)}.`, {
      cause: error,
    })
  })
  return password.trim()
}
