import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { nativeRecovery, portableRecovery, type RecoverKey, recoverSigner } from '../../src/auth/recover-signer.ts'

const pages = ['security.md', 'security-payments.md', 'security-operation.md']
/** Another test writes the table of a stolen cookie. */
const page = pages
  .map((name) => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8'))
  .join('\n')
  .replace(/<!-- stolen cookie -->.*<!-- .stolen cookie -->/s, '')
const named = [...page.matchAll(/\| ([\w/-]+(?:\.merge)?\.test\.ts): (.+) \|$/gm)].map(([, file = '', title = '']) => ({
  file,
  title,
}))

test('docs/security.md lists attacks, each with a test', () => {
  expect(named.length).toBeGreaterThan(100)
  const [attacks = '', figures = ''] = page.split('## How long one request')
  expect((attacks + figures.slice(figures.indexOf('\n## '))).match(/^\| (?!Attack|What hangs|-).*$/gm)).toHaveLength(named.length)
})

test.each(named)('$file has "$title"', ({ file, title }) => {
  const path = new URL(`../${file}`, import.meta.url)
  expect(existsSync(path)).toBe(true)
  expect(readFileSync(path, 'utf8')).toContain(title)
})

const require = createRequire(import.meta.url)
const loaded = () => Object.keys(require.cache)

test('signatures are recovered in native code, and elliptic is not loaded, for every signature', () => {
  expect(nativeRecovery()).toBeDefined()
  const r = '11'.repeat(32)
  for (const s of ['11'.repeat(32), '00'.repeat(32), 'ff'.repeat(32)]) recoverSigner('x', `0x${r}${s}1b`)
  portableRecovery()
  expect(loaded().some((file) => file.includes('/secp256k1/bindings.js'))).toBe(true)
  expect(loaded().filter((file) => file.includes('/node_modules/elliptic/') || file.includes('/secp256k1/elliptic.js'))).toEqual(
    [],
  )
})

test('without native code, every signature gives the same key, or none, as with it', () => {
  const native = nativeRecovery()
  const portable = portableRecovery()
  const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 })
  const known = { signatures: 0 }
  const outcome = (recover: RecoverKey | undefined, ...signed: Parameters<RecoverKey>) => {
    try {
      return Buffer.from(recover?.(...signed) ?? []).toString('hex')
    } catch {
      return 'none'
    }
  }
  fc.assert(
    fc.property(bytes, bytes, bytes, fc.constantFrom(0, 1), (r, s, hash, recovery) => {
      const signature = Buffer.concat([r, s])
      const result = outcome(native, signature, recovery, hash)
      if (result !== 'none') known.signatures += 1
      expect(outcome(portable, signature, recovery, hash)).toBe(result)
    }),
    { numRuns: 60, examples: [[new Uint8Array(32), new Uint8Array(32).fill(1), new Uint8Array(32).fill(1), 0]] },
  )
  expect(known.signatures).toBeGreaterThan(5)
})
