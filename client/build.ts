import { execFile } from 'node:child_process'
import { chmod, copyFile, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

// Writes `dist/`: JavaScript with source maps, and declarations, which every Node, Deno, Bun, bundler and browser can load, and `dist/cjs/` for
// programs in CommonJS, Jest's among them. `npm pack` and `npm publish` run it first. Inside this repository programs import the sources (`#client`),
// so nothing has to be built before they run.

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

/** One build, so that all entries have the same classes. Declarations count as CommonJS only beside a package.json that says so. */
const bundleCommonJs = async (draft: string): Promise<void> => {
  const { rolldown } = await import('rolldown')
  const into = join(draft, 'cjs')
  const input = ['index.js', 'wallet.js', 'testing.js'].map((name) => join(draft, name))
  const build = await rolldown({ input, platform: 'node', external: /^node:/ })
  await build.write({ dir: into, format: 'cjs', chunkFileNames: '[name].js' })
  await build.close()
  await writeFile(join(into, 'package.json'), '{"type":"commonjs"}\n')
  const names = (await readdir(draft)).filter((name) => name.endsWith('.d.ts'))
  for (const name of names) await copyFile(join(draft, name), join(into, name))
}

/** The folder that it wrote. Another process may be reading the one before, so it is replaced whole. */
const build = async (): Promise<string> => {
  const draft = `${dist}.${process.pid}`
  await promisify(execFile)(process.execPath, [tsc, '-p', join(folder, 'tsconfig.build.json'), '--outDir', draft])
  await bundleVerifier(draft)
  await bundleCommonJs(draft)
  await chmod(join(draft, 'cli', 'main.js'), 0o755)
  await rm(dist, { recursive: true, force: true })
  await rename(draft, dist)
  return dist
}

await build()
