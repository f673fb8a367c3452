import { afterAll, beforeAll, expect, test } from 'vitest'
import { isListed, measured, rare } from '../bench/operation-list.ts'
import { startService, type TestService } from '../harness/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())

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
