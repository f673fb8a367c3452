import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { version } from '../../src/lib/version.ts'

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

test.each(['package.json', 'client/package.json', 'package-lock.json'])('%s has the version of the service', (file) => {
  expect(JSON.parse(read(file)).version).toBe(version)
})

test('the changelogs name the version', () => {
  expect(read('CHANGELOG.md')).toContain(version)
  expect(read('docs/guides/changelog.md')).toContain(`| ${version} |`)
})

test('the licence is the same everywhere', () => {
  expect(read('client/LICENSE')).toBe(read('LICENSE'))
  for (const file of ['package.json', 'client/package.json']) expect(JSON.parse(read(file)).license).toBe('Apache-2.0')
})
