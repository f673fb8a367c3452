import { execFile } from 'node:child_process'
import { chmod, copyFile, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

// Writes `dist/`, the form in which this package is published: JavaScript and declarations instead of TypeScript. Inside this
// repository the sources are used as they are (package.json's "exports"), so nothing has to be built before anything runs.

const folder = fileURLToPath(new URL('.', import.meta.url))
const dist = join(folder, 'dist')
const tsc = fileURLToPath(new URL('../node_modules/typescript/bin/tsc', import.meta.url))

const entry = (name: string) => ({ types: `./${name}.d.ts`, default: `./${name}.js` })

export const build = async (): Promise<string> => {
  await rm(dist, { recursive: true, force: true })
  await promisify(execFile)(process.execPath, [tsc, '-p', join(folder, 'tsconfig.build.json')])
  const { scripts: _scripts, files: _files, ...described } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  const published = {
    ...described,
    bin: { payments: './cli/main.js' },
    exports: { '.': entry('index'), './wallet': entry('wallet'), './package.json': './package.json' },
  }
  await writeFile(join(dist, 'package.json'), `${JSON.stringify(published, null, 2)}\n`)
  await copyFile(join(folder, 'README.md'), join(dist, 'README.md'))
  await chmod(join(dist, 'cli', 'main.js'), 0o755)
  return dist
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(`Built ${await build()}; publish that folder.`)
