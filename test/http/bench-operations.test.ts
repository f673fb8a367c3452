import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { listed, measured } from '../bench/operation-list.ts'
import { openService } from '../harness/service.ts'

const service = await openService()
const operations = service.routes.flatMap(({ operation }) => operation ?? [])

test('every operation is in the table of the bench, or has a stated reason why not', () => {
  expect(operations.length).toBeGreaterThan(100)
  // One that stands twice, or that no route has, makes these differ as well.
  expect([...listed.measured, ...listed.unmeasured].sort(), 'see test/bench/operation-list.ts').toEqual([...operations].sort())
})

test('docs/performance.md has what the bench measured of each', async () => {
  const page = await readFile(new URL('../../docs/performance.md', import.meta.url), 'utf8')
  const lines = page.split('\n').filter((line) => line.startsWith('| operations | '))
  const cells = lines.flatMap((line) => line.split(' | ').map((cell) => cell.trim()))
  expect(Object.keys(measured).filter((name) => !cells.includes(name))).toEqual([])
})
