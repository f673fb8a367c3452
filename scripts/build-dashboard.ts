import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { copyFile, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { filesIn, hashContent } from './content-hash.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = join(root, 'dashboard')
const built = join(folder, 'dist')
const stamp = join(built, 'sources.sha256')

/** The pages use the typed client, and share pure parts with the service: policies, roles, the catalogue of events. */
export const sources = [
  'dashboard/src',
  'dashboard/public',
  'dashboard/index.html',
  'dashboard/vite.config.ts',
  'client/src',
  'src/policy',
  'src/auth/permissions.ts',
  'src/errors',
  'src/events/types.ts',
  'src/lib',
  'src/rails',
  'scripts/build-dashboard.ts',
  'package-lock.json',
]

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

/** A separate process: the caller's NODE_ENV (tests have their own) must not decide which React the browser gets. */
const bundle = (outDir: string) =>
  promisify(execFile)(process.execPath, [vite, 'build', folder, '--outDir', outDir, '--emptyOutDir', '--logLevel', 'error'], {
    env: { ...process.env, NODE_ENV: 'production' },
  })

const build = async (sourcesHash: string): Promise<void> => {
  const outDir = `${built}.${process.pid}`
  await bundle(outDir)
  await compress(join(outDir, 'assets'))
  // The face's licence travels with it.
  await copyFile(
    join(root, 'node_modules', '@fontsource-variable', 'geist', 'LICENSE'),
    join(outDir, 'assets', 'geist-license.txt'),
  )
  await writeFile(join(outDir, 'sources.sha256'), sourcesHash)
  // Moved to its place when it is complete: another process may be serving the build before it.
  await rm(built, { recursive: true, force: true })
  await rename(outDir, built)
}

export type DashboardBuild = 'current' | 'built' | 'kept'

/** Builds the dashboard when its sources differ from those of its build. Where only the build was installed, it stays as it is. */
export const ensureDashboardBuilt = async (): Promise<DashboardBuild> => {
  const sourcesHash = await hashContent(root, sources)
  const before = await readFile(stamp, 'utf8').catch(() => null)
  if (before === sourcesHash) return 'current'
  const canBuild = existsSync(join(folder, 'src')) && existsSync(vite)
  if (!canBuild) return 'kept'
  await build(sourcesHash)
  return 'built'
}

if (process.argv[1] === fileURLToPath(import.meta.url) && (await ensureDashboardBuilt()) === 'built')
  console.log('dashboard: built')
