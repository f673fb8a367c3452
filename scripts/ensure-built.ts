import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

/** All files at or below a path. Empty if the path does not exist. */
export const filesIn = async (path: string): Promise<string[]> => {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => null)
  if (!entries) return existsSync(path) ? [path] : []
  return (await Promise.all(entries.map((entry) => filesIn(join(path, entry.name))))).flat()
}

/** Hashes contents instead of times, because a checkout or an image rewrites every file. */
const hashOf = async (paths: readonly string[], version: string): Promise<string> => {
  const files = (await Promise.all(paths.map((path) => filesIn(join(root, path))))).flat().sort()
  const contents = await Promise.all(files.map((path) => readFile(path)))
  const hash = createHash('sha256').update(version)
  for (const [index, path] of files.entries())
    hash
      .update(relative(root, path))
      .update('\0')
      .update(contents[index] ?? '')
      .update('\0')
  return hash.digest('hex')
}

/** `sources` and `tool` are relative to the root. `version`: of the build, if it is embedded. `make`: fills the new folder. */
type Build = {
  folder: string
  sources: readonly string[]
  tool: string
  version?: string
  make: (draft: string) => Promise<void>
}

/** Longer than any build, so an older lock was left behind. */
const patienceMs = 300_000

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

const take = (lock: string): Promise<boolean> =>
  writeFile(lock, String(process.pid), { flag: 'wx' }).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
      return false
    },
  )

/** Lets one process at a time build a folder. If a process is killed, the next one removes its lock. */
const alone = async <T>(folder: string, work: () => Promise<T>): Promise<T> => {
  const lock = `${folder}.lock`
  for (const end = performance.now() + patienceMs; !(await take(lock)) && performance.now() < end; ) {
    const holder = Number(await readFile(lock, 'utf8').catch(() => ''))
    if (isRunning(holder)) await wait(100)
    else await rm(lock, { force: true })
  }
  return work().finally(() => rm(lock, { force: true }))
}

/** Rebuilds a folder if its sources have changed since it was built. Without the tool, the folder is left unchanged. */
export const ensureBuilt = async ({
  folder,
  sources,
  tool,
  version = '',
  make,
}: Build): Promise<'current' | 'built' | 'kept'> => {
  const hash = await hashOf(sources, version)
  const isCurrent = async () => (await readFile(join(folder, 'sources.sha256'), 'utf8').catch(() => null)) === hash
  if (await isCurrent()) return 'current'
  if (!existsSync(join(root, tool))) return 'kept'
  const draft = `${folder}.${process.pid}`
  await mkdir(draft, { recursive: true })
  return alone(folder, async () => {
    if (await isCurrent()) return 'current' as const
    await make(draft)
    await writeFile(join(draft, 'sources.sha256'), hash)
    // Moved into place only when complete, because another process may be serving the previous build.
    await rm(folder, { recursive: true, force: true })
    await rename(draft, folder)
    return 'built' as const
  }).finally(() => rm(draft, { recursive: true, force: true }))
}
