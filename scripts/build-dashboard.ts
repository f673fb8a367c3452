import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = join(root, 'dashboard')
const built = join(folder, 'dist')
const stamp = join(built, 'sources.sha256')

/** The pages share pure parts with the service: the policy engine, roles, the catalogue of events. */
const sources = [
  'dashboard/src',
  'dashboard/public',
  'dashboard/index.html',
  'dashboard/vite.config.ts',
  'src/policy',
  'src/auth/permissions.ts',
  'src/events/types.ts',
  'src/lib/money.ts',
  'scripts/build-dashboard.ts',
  'package-lock.json',
]

const filesIn = async (path: string): Promise<string[]> => {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => null)
  if (!entries) return existsSync(path) ? [path] : []
  return (await Promise.all(entries.map((entry) => filesIn(join(path, entry.name))))).flat()
}

/** By content, not by time: a checkout or an image writes every file anew. */
const hashSources = async (): Promise<string> => {
  const hash = createHash('sha256')
  for (const path of (await Promise.all(sources.map((source) => filesIn(join(root, source))))).flat().sort()) {
    hash
      .update(relative(root, path))
      .update('\0')
      .update(await readFile(path))
      .update('\0')
  }
  return hash.digest('hex')
}

/** Compressed once here rather than on every request. */
const compress = async (directory: string): Promise<void> => {
  for (const path of await filesIn(directory)) {
    if (!/\.(js|css|svg)$/.test(path)) continue
    const bytes = await readFile(path)
    await writeFile(`${path}.br`, brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 10 } }))
    await writeFile(`${path}.gz`, gzipSync(bytes, { level: 9 }))
  }
}

const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js')

/** A process of its own: what NODE_ENV the caller has (tests have theirs) must not decide which React the browser gets. */
const bundle = (outDir: string) =>
  promisify(execFile)(process.execPath, [vite, 'build', folder, '--outDir', outDir, '--emptyOutDir', '--logLevel', 'error'], {
    env: { ...process.env, NODE_ENV: 'production' },
  })

const build = async (sourcesHash: string): Promise<void> => {
  const outDir = `${built}.${process.pid}`
  await bundle(outDir)
  await compress(join(outDir, 'assets'))
  await writeFile(join(outDir, 'sources.sha256'), sourcesHash)
  // Into its place only when it is whole: another process may be serving the one before.
  await rm(built, { recursive: true, force: true })
  await rename(outDir, built)
}

export type DashboardBuild = 'current' | 'built' | 'kept'

/** Builds the dashboard when its sources are not those of its build. Where only the build was installed, it is kept as it is. */
export const ensureDashboardBuilt = async (): Promise<DashboardBuild> => {
  const sourcesHash = await hashSources()
  const before = await readFile(stamp, 'utf8').catch(() => null)
  if (before === sourcesHash) return 'current'
  const canBuild = existsSync(join(folder, 'src')) && existsSync(vite)
  if (!canBuild) return 'kept'
  await build(sourcesHash)
  return 'built'
}

if (process.argv[1] === fileURLToPath(import.meta.url) && (await ensureDashboardBuilt()) === 'built')
  console.log('dashboard: built')
