import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { chooseSeed, propertySeed } from '../harness/seed.ts'

const tests = join(import.meta.dirname, '..')

test('a property tries the same values in every run, until PROPERTY_SEED says otherwise', () => {
  const tried = () => fc.sample(fc.string(), 20)
  expect(fc.readConfigureGlobal().seed).toBe(propertySeed)
  expect(tried()).toEqual(tried())
  expect(chooseSeed()).toBe(chooseSeed())
  expect(chooseSeed('12')).toBe(12)
  expect(new Set(Array.from({ length: 9 }, () => chooseSeed('random'))).size).toBeGreaterThan(1)
  for (const wrong of ['', 'any', '-1', '1.5']) expect(() => chooseSeed(wrong)).toThrow(/PROPERTY_SEED/)
})

const files = readdirSync(tests, { recursive: true, encoding: 'utf8' })
  .filter((file) => /^(?!bench|mutants).*\.ts$/.test(file))
  .map((file) => ({ file, text: readFileSync(join(tests, file), 'utf8') }))

test('no test chooses by Math.random', () => {
  const named = ['Math', 'random'].join('.')
  expect(files.length).toBeGreaterThan(300)
  expect(files.filter(({ text }) => text.includes(`${named}()`)).map(({ file }) => file)).toEqual([])
})

test('each statement of a test has a name of its own: any two files may run in one process, in either order', () => {
  const declaration = /\b(?:statement|prepare\w*|listQuery\w*)\(\s*'(test\.[^']+)'/g
  const names = files.flatMap(({ text }) => [...new Set([...text.matchAll(declaration)].map(([, name]) => name ?? ''))])
  expect(names.length).toBeGreaterThan(5)
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
})
