import { execFile } from 'node:child_process'
import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { ensureBuilt, filesIn, root } from './ensure-built.ts'

const folder = join(root, 'dashboard')

/** The pages use the typed client and share pure modules with the service: policies, roles, the event catalogue. */
export const sources = [
  'texts',
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

const [brotli, gzipped] = [promisify(brotliCompress), promisify(gzip)]

/** Compresses files once at build time. Uses threads, because the caller prepares its database in the meantime. */
const compress = async (directory: string): Promise<void> => {
  for (const path of await filesIn(directory)) {
    if (!/\.(js|css|svg)$/.test(path)) continue
    const bytes = await readFile(path)
    await writeFile(`${path}.br`, await brotli(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 10 } }))
    await writeFile(`${path}.gz`, await gzipped(bytes, { level: 9 }))
  }
}

const vite = 'node_modules/vite/bin/vite.js'

/** Runs in a separate process, so that the caller's NODE_ENV does not decide which React build the browser gets. */
const bundle = (outDir: string) =>
  promisify(execFile)(
    process.execPath,
    [join(root, vite), 'build', folder, '--outDir', outDir, '--emptyOutDir', '--logLevel', 'error'],
    { env: { ...process.env, NODE_ENV: 'production' } },
  )

const make = async (draft: string): Promise<void> => {
  await bundle(draft)
  await compress(join(draft, 'assets'))
  // The typeface's licence must be distributed with it.
  await copyFile(
    join(root, 'node_modules', '@fontsource-variable', 'geist', 'LICENSE'),
    join(draft, 'assets', 'geist-license.txt'),
  )
}

export const ensureDashboardBuilt = () => ensureBuilt({ folder: join(folder, 'dist'), sources, tool: vite, make })
