import { execFile } from 'node:child_process'
import { copyFile, readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ensureBuilt, root } from './ensure-built.ts'

const client = join(root, 'client')
const sources = [
  'client/src',
  'client/package.json',
  'client/README.md',
  'verifier',
  'src/policy',
  'src/lib',
  'src/errors',
  'texts',
  'src/modules/policies/present.ts',
  'client/build.ts',
  'client/tsconfig.build.json',
  'LICENSE',
  'scripts/pack-client.ts',
  'package-lock.json',
]

/** Creates the package as npm would publish it. */
const pack = async (draft: string): Promise<void> => {
  await promisify(execFile)('npm', ['pack', '--silent', '--pack-destination', draft], { cwd: client })
  const [name = 'nothing'] = await readdir(draft)
  await rename(join(draft, name), join(draft, 'client.tgz'))
  await copyFile(join(client, 'dist/verify-receipt.mjs'), join(draft, 'verify-receipt.mjs'))
}

export const ensureClientPacked = () =>
  ensureBuilt({ folder: join(client, 'pack'), sources, tool: 'node_modules/.bin/tsc', make: pack })
