import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
import { recoverSigner } from '../../src/auth/wallet.ts'

const page = readFileSync(new URL('../../docs/security.md', import.meta.url), 'utf8')
const named = [...page.matchAll(/\| ([\w/-]+\.test\.ts): (.+) \|$/gm)].map(([, file = '', title = '']) => ({ file, title }))

test('docs/security.md lists attacks, each with a test', () => {
  expect(named.length).toBeGreaterThan(50)
  expect(page.match(/^\| (?!Attack|-).*$/gm)).toHaveLength(named.length)
})

test.each(named)('$file has "$title"', ({ file, title }) => {
  const path = new URL(`../${file}`, import.meta.url)
  expect(existsSync(path)).toBe(true)
  expect(readFileSync(path, 'utf8')).toContain(title)
})

test('signatures are recovered in native code: elliptic is not loaded', () => {
  recoverSigner('x', `0x${'11'.repeat(64)}1b`)
  const loaded = Object.keys(createRequire(import.meta.url).cache)
  expect(loaded.some((file) => file.includes('/secp256k1/bindings.js'))).toBe(true)
  expect(loaded.filter((file) => file.includes('/node_modules/elliptic/'))).toEqual([])
})
