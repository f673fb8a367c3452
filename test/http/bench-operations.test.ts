import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { isUnmeasured, operationsOf } from '../bench/operation-list.ts'
import { openService } from '../harness/service.ts'

const service = await openService()
const operations = service.routes.map(({ operation }) => operation)
const measured = Object.keys(operationsOf(service.routes))

test('every operation is in the table of the bench, or has a stated reason why not', () => {
  expect(operations.length).toBeGreaterThan(100)
  const named = new Set(measured.map((name) => name.split(',')[0] ?? ''))
  const both = operations.filter((name) => named.has(name) === isUnmeasured(name))
  expect(both, 'see test/bench/operation-list.ts').toEqual([])
})

test('docs/performance.md has what the bench measured of each', async () => {
  const page = await readFile(new URL('../../docs/performance.md', import.meta.url), 'utf8')
  const lines = page.split('\n').filter((line) => line.startsWith('| operations | '))
  const cells = lines.flatMap((line) => line.split(' | ').map((cell) => cell.trim()))
  expect(measured.filter((name) => !cells.includes(name))).toEqual([])
})
