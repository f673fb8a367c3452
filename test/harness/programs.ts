import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { ensureBundle, ensureBundled } from '../../scripts/bundle.ts'
import { ensureClientPacked } from '../../scripts/pack-client.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = join(root, 'node_modules/.cache/programs')

const sources = {
  client: 'client/src/cli/main.ts',
  demo: 'src/dev/demo/demo.ts',
  puppet: 'test/faults/puppet.ts',
  sandbox: 'src/dev/sandbox/run.ts',
}

/** Bundles, for dozens of starts: loading sources is most of a start. `server` is `npm start`'s, with `admin` in one bundle. */
export const programs = {
  server: join(root, 'scripts/start.js'),
  admin: join(root, 'build/admin.js'),
  client: join(folder, 'client.js'),
  demo: join(folder, 'demo.js'),
  puppet: join(folder, 'puppet.js'),
  sandbox: join(folder, 'sandbox.js'),
} satisfies Record<'server' | 'admin' | keyof typeof sources, string>

/** Environment of a program that keeps compiled code between starts. */
export const compiledOnce = { NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/compile') }

/** Once per run, before the first test file. */
export const buildPrograms = async (): Promise<void> => {
  const input = Object.fromEntries(Object.entries(sources).map(([name, path]) => [name, join(root, path)]))
  await Promise.all([
    ensureBundled(),
    ensureClientPacked(),
    // A process of its own, because it loads the service.
    promisify(execFile)(process.execPath, [join(root, 'scripts/build-docs.ts')]),
    ensureBundle({ input, folder, sources: ['src', 'scripts', 'client/src', sources.puppet, 'package-lock.json'] }),
  ])
}
