import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { hashContent } from './content-hash.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = join(root, 'build')
const stamp = join(folder, 'sources.sha256')
const sources = ['src', 'scripts/bundle.ts', 'package-lock.json']

/**
 * What is bundled besides `src`. Node reads the `exports` in drizzle's package.json again for each of its 447 modules: loaded from
 * node_modules they cost 180 MB and half a second. Every other package is loaded from node_modules, next to its own files.
 */
const bundled = /^drizzle-orm(\/|$)/
const ours = /^[./]|^node:/

/** Files beside the sources (migrations, the dashboard) are found relative to the source, not to the bundle. */
const keepPlaces = (place: string) => ({
  name: 'keep-places',
  transform: (code: string, id: string) =>
    id.startsWith(join(root, 'src')) && code.includes('import.meta.url')
      ? {
          code: code.replaceAll('import.meta.url', `new URL(${JSON.stringify(relative(place, id))}, import.meta.url).href`),
          map: null,
        }
      : null,
})

/** Bundles a program into a folder; `place`: the folder from which it will run, when it is moved afterwards. */
export const bundle = async (input: Record<string, string>, into: string, place = into): Promise<void> => {
  const { rolldown } = await import('rolldown')
  const build = await rolldown({
    input,
    platform: 'node',
    external: (id) => !ours.test(id) && !bundled.test(id),
    plugins: [keepPlaces(place)],
    logLevel: 'warn',
  })
  await build.write({
    dir: into,
    format: 'esm',
    sourcemap: true,
    minify: false,
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
  })
  await build.close()
}

export type BundleBuild = 'current' | 'built' | 'kept'

/** Bundles the service when its sources differ from those of its bundle. Where the tools are not installed, it stays as it is. */
export const ensureBundled = async (): Promise<BundleBuild> => {
  const hash = await hashContent(root, sources)
  if ((await readFile(stamp, 'utf8').catch(() => null)) === hash) return 'current'
  if (!existsSync(join(root, 'node_modules/rolldown'))) return 'kept'
  const draft = `${folder}.${process.pid}`
  await mkdir(draft, { recursive: true })
  await bundle({ server: join(root, 'src/server.ts') }, draft, folder)
  await writeFile(join(draft, 'sources.sha256'), hash)
  await rm(folder, { recursive: true, force: true })
  await rename(draft, folder)
  return 'built'
}

if (process.argv[1] === fileURLToPath(import.meta.url) && (await ensureBundled()) === 'built') console.log('service: bundled')
