import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { columnOfTitle, isReason, knownColumns, labelOfColumn, listColumns, reasonTitle } from '../../src/lib/list-columns.ts'

test.each(listColumns)('%s is read under the name that pages and the guide give it', (column) => {
  expect(columnOfTitle(labelOfColumn(column))).toBe(column)
  expect(columnOfTitle(column.toUpperCase().replaceAll('_', ' '))).toBe(column)
  expect(knownColumns).toContain(column)
})

test('the guide names the columns that people need, and the one that is no part of a payment', () => {
  const guide = readFileSync(new URL('../../docs/guides/salaries.md', import.meta.url), 'utf8')
  const named = [...guide.matchAll(/`([a-z_]+)`/g)].map(([, name = '']) => name)
  expect(listColumns.filter((column) => !named.includes(column))).toEqual([])
  expect(guide).toContain(reasonTitle)
  expect([isReason('WHY IT WAS NOT PAID'), isReason('Reason'), columnOfTitle('Reason')]).toEqual([true, false, null])
})

test.each([
  ['EMPLOYEE  NAME', 'display_name'],
  ['Mobile No.', 'destination'],
  ['\u200BPhone\u00A0Number', 'destination'],
  ['Net Pay (KES)', 'amount'],
  ['metadata. Emp No ', 'metadata.Emp No'],
  ['metadata.__proto__', null],
  ['Gross pay', null],
])('a title %s means %s', (title, column) => expect(columnOfTitle(title)).toBe(column))
