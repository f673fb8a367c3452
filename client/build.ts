import { execFile } from 'node:child_process'
import { chmod, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

// Writes `dist/`: JavaScript with source maps, and declarations, which every Node, Deno, Bun, bundler and browser can load. `npm pack` and
// `npm publish` run it first. Inside this repository programs import the sources (`#client`), so nothing has to be built before they run.

const folder = fileURLToPath(new URL('.', import.meta.url))
const dist = join(folder, 'dist')
const tsc = fileURLToPath(new URL('../node_modules/.bin/tsc', import.meta.url))

/** The verifier of receipts as one file, which needs nothing but a JavaScript engine with WebCrypto. */
const bundleVerifier = async (into: string): Promise<void> => {
  const { rolldown } = await import('rolldown')
  const input = fileURLToPath(new URL('../verifier/main.ts', import.meta.url))
  const build = await rolldown({ input, platform: 'browser', treeshake: { moduleSideEffects: false }, external: /^node:/ })
  await build.write({ file: join(into, 'verify-receipt.mjs'), format: 'esm', minify: { compress: true, mangle: false } })
  await build.close()
}

/** The folder that it wrote. Another process may be reading the one before, so it is replaced whole. */
const build = async (): Promise<string> => {
  const draft = `${dist}.${process.pid}`
  await promisify(execFile)(process.execPath, [tsc, '-p', join(folder, 'tsconfig.build.json'), '--outDir', draft])
  await bundleVerifier(draft)
  await chmod(join(draft, 'cli', 'main.js'), 0o755)
  await rm(dist, { recursive: true, force: true })
  await rename(draft, dist)
  return dist
}

await build()
