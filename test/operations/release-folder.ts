import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual, promisify } from 'node:util'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** A startable release. `start` is the program of `npm start` there. */
export type ReleaseFolder = { name: string; start: string; migrations: string; remove: () => void }

const folderOf = (name: string, folder: string, remove: () => void): ReleaseFolder => ({
  name,
  start: join(folder, 'scripts/start.js'),
  migrations: join(folder, 'migrations'),
  remove,
})

export const thisRelease = (): ReleaseFolder => folderOf('this version', root, () => undefined)

const own = ['build', 'migrations', 'scripts']

/** This version with further migrations: the next release, from the view of this one's processes. */
export const nextRelease = (texts: readonly string[]): ReleaseFolder => {
  const folder = mkdtempSync(join(tmpdir(), 'release-'))
  for (const name of readdirSync(root).filter((entry) => !own.includes(entry) && !entry.startsWith('.')))
    symlinkSync(join(root, name), join(folder, name))
  for (const name of own) cpSync(join(root, name), join(folder, name), { recursive: true })
  const journal = join(folder, 'migrations/meta/_journal.json')
  const { entries, ...rest } = JSON.parse(readFileSync(journal, 'utf8'))
  for (const text of texts) {
    const idx = entries.length
    const tag = `${String(idx).padStart(4, '0')}_further`
    entries.push({ idx, version: '7', when: entries.at(-1).when + 1, tag, breakpoints: true })
    writeFileSync(join(folder, 'migrations', `${tag}.sql`), text)
  }
  writeFileSync(journal, JSON.stringify({ ...rest, entries }))
  return folderOf('the next version', folder, () => rmSync(folder, { recursive: true, force: true }))
}

const run = promisify(execFile)

/** A release's commit: its tag's, or the one with its message if tags were not fetched. A shallow clone has neither. */
const commitOf = async (version: string): Promise<string | undefined> => {
  const git = async (...args: string[]) => (await run('git', args, { cwd: root })).stdout.trim()
  const tagged = await git('rev-parse', '--verify', '--quiet', `v${version}^{commit}`).catch(() => '')
  return tagged || (await git('log', '--format=%H', '-1', `--grep=^Release ${version}$`).catch(() => '')) || undefined
}

/** The packages that production installs by a lock file. */
const packagesOf = (folder: string) => {
  const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'))
  return Object.entries<{ dev?: boolean; integrity?: string }>(packages).flatMap(([path, { dev, integrity }]) =>
    dev || integrity === undefined ? [] : [[path, integrity]],
  )
}

/** A commit with its own lock file's packages, run from its sources or from the build of `npm start`. */
export const checkOut = async (commit: string, name = commit, { built = false } = {}): Promise<ReleaseFolder> => {
  // With its packages a release takes a quarter of a gigabyte, too much for memory.
  const folder = mkdtempSync('/var/tmp/release-')
  const remove = () => rmSync(folder, { recursive: true, force: true })
  const program = (file: string, ...args: string[]) => run(file, args, { cwd: folder, timeout: 300_000 })
  try {
    await run('sh', ['-c', 'git archive "$1" | tar -x -C "$2"', 'sh', commit, folder], { cwd: root })
    // The same packages are here already, and need no second installation.
    if (isDeepStrictEqual(packagesOf(folder), packagesOf(root)))
      symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    else await program('npm', 'ci', ...(built ? [] : ['--omit=dev']), '--no-audit', '--prefer-offline', '--silent')
    if (built) await program('node', 'scripts/prestart.js')
  } catch (error) {
    remove()
    throw error
  }
  return folderOf(name, folder, remove)
}

/** A committed release. Else the reason why it is not available. */
export const committedRelease = async (version: string): Promise<ReleaseFolder | string> => {
  const commit = await commitOf(version)
  if (commit === undefined) return `neither the tag v${version} nor the commit "Release ${version}" is in this clone`
  return checkOut(commit, version).catch(() => `the packages of ${version} cannot be installed`)
}
