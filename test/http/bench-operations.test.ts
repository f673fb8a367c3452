import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { fallenOf, readLast } from '../bench/last-operations.ts'
import { isListed, measured, rare } from '../bench/operation-list.ts'
import { openService } from '../harness/service.ts'

const service = await openService()

const operations = () => service.routes.flatMap(({ operation }) => operation ?? [])

test('every operation is measured by the bench, or is rare for a stated reason', () => {
  expect(operations().length).toBeGreaterThan(100)
  expect(
    operations().filter((operation) => !isListed(operation)),
    'add each to test/bench/operation-list.ts: to what is measured, or to what is rare, with the reason',
  ).toEqual([])
  // This proves that the check finds one that is missing.
  expect(isListed('payments.unknown')).toBe(false)
})

test('the bench lists no operation that is gone, and none twice', () => {
  const known = operations()
  const named = Object.keys(measured).map((name) => name.split(',')[0] ?? '')
  const left = Object.keys(rare).filter(
    (name) => !known.some((one) => (name.endsWith('.') ? one.startsWith(name) : one === name)),
  )
  expect([...named.filter((name) => !known.includes(name)), ...left]).toEqual([])
  expect(named.filter((name) => name in rare)).toEqual([])
})

describe('the check of the bench', () => {
  test('names an operation whose ratio fell by more than a quarter, and no other', () => {
    const before = new Map([
      ['payments.get', 0.6],
      ['payments.list', 0.4],
      ['approvals.get', 0.2],
      ['topups.get', 0.3],
    ])
    const now = new Map([
      ['payments.get', 0.44],
      ['payments.list', 0.31],
      ['approvals.get', 0.9],
      ['mandates.list', 0.01],
    ])
    expect(fallenOf(before, now)).toEqual(['payments.get: 0.44, was 0.60'])
    expect(fallenOf(before, before)).toEqual([])
  })

  test('compares with the ratios of the table in docs/performance.md', async () => {
    const page = await readFile(new URL('../../docs/performance.md', import.meta.url), 'utf8')
    const part = page.split('<!-- operations -->')[1]?.split('<!-- /operations -->')[0] ?? ''
    const rows = part.matchAll(/^\| ([a-z_.]+[^|]*) \| ([\d.]+) \|/gm)
    const table = [...rows].map(([, name = '', ratio]): [string, number] => [name, Number(ratio)])
    expect(table.length).toBeGreaterThan(50)
    expect(new Map(table)).toEqual(await readLast())
    expect(table.map(([name]) => name).filter((name) => !(name in measured))).toEqual([])
  })
})
