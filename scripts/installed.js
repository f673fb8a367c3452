// Runs before any program of the service. Exits with one sentence if files of the installation are missing or incomplete.
import './require-node.js'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const refuse = (sentence) => {
  console.error(sentence)
  process.exit(1)
}

// The list of files in a package (scripts/package.ts), first in the archive. A checkout does not have it.
const list = join(root, 'files.json')
if (existsSync(list)) {
  const { name, files } = JSON.parse(readFileSync(list, 'utf8'))
  const missing = Object.entries(files).find(
    ([path, bytes]) => statSync(join(root, path), { throwIfNoEntry: false })?.size !== bytes,
  )
  if (missing) refuse(`${join(root, missing[0])} is missing or incomplete: unpack ${name}.tar.gz again into an empty folder.`)
}

try {
  createRequire(import.meta.url)('@node-rs/argon2')
} catch (error) {
  const [reason] = String(error.cause?.message ?? error.message).split('\n')
  refuse(
    `The native module @node-rs/argon2 cannot be loaded (${reason}): run npm ci without --omit=optional, or use a package built for this platform.`,
  )
}
