import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

/** Every file at or below a path; none where there is nothing. */
export const filesIn = async (path: string): Promise<string[]> => {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => null)
  if (!entries) return existsSync(path) ? [path] : []
  return (await Promise.all(entries.map((entry) => filesIn(join(path, entry.name))))).flat()
}

/** By content, not by time: a checkout or an image writes every file anew. */
const hashOf = async (paths: readonly string[]): Promise<string> => {
  const files = (await Promise.all(paths.map((path) => filesIn(join(root, path))))).flat().sort()
  const contents = await Promise.all(files.map((path) => readFile(path)))
  const hash = createHash('sha256')
  for (const [at, path] of files.entries())
    hash
      .update(relative(root, path))
      .update('\0')
      .update(contents[at] ?? '')
      .update('\0')
  return hash.digest('hex')
}

/** `sources`, `tool`: below the root. `make`: fills the new folder. */
type Build = { folder: string; sources: readonly string[]; tool: string; make: (draft: string) => Promise<void> }

/** Makes a folder again when its sources differ from those that it was made of. Where the tool is not installed, it stays as it is. */
export const ensureBuilt = async ({ folder, sources, tool, make }: Build): Promise<'current' | 'built' | 'kept'> => {
  const hash = await hashOf(sources)
  if ((await readFile(join(folder, 'sources.sha256'), 'utf8').catch(() => null)) === hash) return 'current'
  if (!existsSync(join(root, tool))) return 'kept'
  const draft = `${folder}.${process.pid}`
  await mkdir(draft, { recursive: true })
  await make(draft)
  await writeFile(join(draft, 'sources.sha256'), hash)
  // Moved to its place when it is complete: another process may be serving the one before it, or making the same.
  await rm(folder, { recursive: true, force: true })
  await rename(draft, folder)
  return 'built'
}
