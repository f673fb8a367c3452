import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { versionOf } from '../../scripts/build-version.ts'
import { version } from '../../src/lib/version.ts'

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

test.each(['package.json', 'client/package.json', 'package-lock.json'])('%s has the version of the service', (file) => {
  expect(JSON.parse(read(file)).version).toBe(version)
})

test('the Python package has the version of the service', () => {
  expect(read('client/python/pyproject.toml')).toMatch(new RegExp(`^version = "${version}"$`, 'm'))
})

test.each([
  ['deploy/kubernetes/kustomization.yaml', `newTag: ${version}`],
  ['client/README.md', `client-${version}.tgz`],
  ['docs/guides/testing.md', `ref: v${version}`],
  ['README.md', `This is version ${version}.`],
])('%s names the version', (file, name) => {
  expect(read(file)).toContain(name)
})

test('the changelogs name the version', () => {
  expect(read('CHANGELOG.md')).toContain(version)
  expect(read('docs/guides/changelog.md')).toContain(`| ${version} |`)
})

test('a build between two releases has the next version and its commit, a release its own', () => {
  const released = '# Changelog\n\n## [Unreleased]\n\n## [0.3.0] - 2026-01-01\n\n- Something.\n'
  expect(versionOf('0.3.0', released, 'abc')).toBe('0.3.0')
  expect(versionOf('0.3.0', released.replace(']\n', ']\n\n- More.\n'), 'abc')).toBe('0.4.0-dev.abc')
})

test('the licence is the same everywhere', () => {
  expect(read('client/LICENSE')).toBe(read('LICENSE'))
  for (const file of ['package.json', 'client/package.json']) expect(JSON.parse(read(file)).license).toBe('Apache-2.0')
})
