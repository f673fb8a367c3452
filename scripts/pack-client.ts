import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { hashContent } from './content-hash.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const client = join(root, 'client')
const packed = join(client, 'pack')
const sources = [
  'client/src',
  'client/package.json',
  'client/README.md',
  'verifier',
  'src/policy',
  'src/lib',
  'src/modules/policies/present.ts',
  'client/build.ts',
  'client/tsconfig.build.json',
  'LICENSE',
  'scripts/pack-client.ts',
  'package-lock.json',
]

/** Two starts at the same time each pack into a folder of their own; the last one stays. */
const pack = async (sourcesHash: string): Promise<void> => {
  const draft = `${packed}.${process.pid}`
  await mkdir(draft, { recursive: true })
  await promisify(execFile)('npm', ['pack', '--silent', '--pack-destination', draft], { cwd: client })
  const [name = 'nothing'] = await readdir(draft)
  await rename(join(draft, name), join(draft, 'client.tgz'))
  await copyFile(join(client, 'dist/verify-receipt.mjs'), join(draft, 'verify-receipt.mjs'))
  await writeFile(join(draft, 'sources.sha256'), sourcesHash)
  await rm(packed, { recursive: true, force: true })
  await rename(draft, packed)
}

export type ClientPack = 'current' | 'built' | 'kept'

/** Packs the client as npm would publish it, if its sources differ from those of its package. Where the compiler is not installed, it stays as it is. */
export const ensureClientPacked = async (): Promise<ClientPack> => {
  const sourcesHash = await hashContent(root, sources)
  if ((await readFile(join(packed, 'sources.sha256'), 'utf8').catch(() => null)) === sourcesHash) return 'current'
  if (!existsSync(join(root, 'node_modules/.bin/tsc'))) return 'kept'
  await pack(sourcesHash)
  return 'built'
}

if (process.argv[1] === fileURLToPath(import.meta.url) && (await ensureClientPacked()) === 'built') console.log('client: packed')
