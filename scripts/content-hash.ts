import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'

/** Every file at or below a path; none where there is nothing. */
export const filesIn = async (path: string): Promise<string[]> => {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => null)
  if (!entries) return existsSync(path) ? [path] : []
  return (await Promise.all(entries.map((entry) => filesIn(join(path, entry.name))))).flat()
}

/** Of files and folders below `root`. By content, not by time: a checkout or an image writes every file anew. */
export const hashContent = async (root: string, paths: readonly string[]): Promise<string> => {
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
