import { join, relative } from 'node:path'
import { buildVersion } from './build-version.ts'
import { ensureBuilt, root } from './ensure-built.ts'

const sources = ['src', 'client/src', 'texts', 'scripts/bundle.ts', 'scripts/build-version.ts', 'package-lock.json']

/** Loaded from node_modules, because they are native code or its fallbacks. Everything else is bundled. */
export const separate = ['@node-rs/argon2', 'secp256k1', '@noble/curves']
const isSeparate = (id: string) => separate.some((name) => id === name || id.startsWith(`${name}/`))

const isPackages = (id: string) => id.includes('/node_modules/')

/** Node holds the source maps of loaded code in memory. Maps of packages would take 23 MB, and are not needed to debug. */
const ownMapsOnly = {
  name: 'own-maps-only',
  transform: (code: string, id: string) => (isPackages(id) ? { code, map: { mappings: '' } } : null),
}

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

/** Replaces the version in the sources, which is that of the last release. */
const nameBuild = {
  name: 'name-build',
  transform: (code: string, id: string) =>
    id === join(root, 'src/lib/version.ts')
      ? { code: code.replace('(): string => version', `(): string => ${JSON.stringify(buildVersion())}`), map: null }
      : null,
}

/** `place`: the folder from which the programs will run. */
const bundle = async (input: Record<string, string>, into: string, place: string): Promise<void> => {
  const { rolldown } = await import('rolldown')
  const build = await rolldown({
    input,
    platform: 'node',
    external: isSeparate,
    plugins: [nameBuild, keepPlaces(place), ownMapsOnly],
    onLog: (level, log, print) => isPackages(log.id ?? '') || print(level, log),
    logLevel: 'warn',
  })
  await build.write({
    dir: into,
    format: 'esm',
    sourcemap: true,
    // Every start reads the maps. With embedded sources, which no stack shows, each process would use 3 MB more.
    sourcemapExcludeSources: true,
    // V8 stores a file with any non-ASCII character as two bytes per character.
    charset: 'ascii',
    minify: false,
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
  })
  await build.close()
}

type Bundle = { input: Record<string, string>; folder: string; sources: readonly string[]; version?: string }

export const ensureBundle = ({ input, folder, ...rest }: Bundle) =>
  ensureBuilt({ ...rest, folder, tool: 'node_modules/rolldown', make: (draft) => bundle(input, draft, folder) })

export const ensureBundled = () =>
  ensureBundle({
    input: { server: join(root, 'src/server.ts'), admin: join(root, 'src/operate/admin/admin.ts') },
    folder: join(root, 'build'),
    sources,
    // Another commit is another build, even if the sources are the same.
    version: buildVersion(),
  })
