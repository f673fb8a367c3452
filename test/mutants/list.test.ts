import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { mutants } from './list.ts'

const at = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))

test('each bug of the list can be planted: its text stands once in its file, and its suite is there', () => {
  const wrong = mutants.filter(
    ({ file, find, replace, suite }) =>
      readFileSync(at(file), 'utf8').split(find).length !== 2 || find === replace || !existsSync(at(suite)),
  )
  expect(wrong.map(({ bug }) => bug)).toEqual([])
  expect(mutants).toHaveLength(165)
})
