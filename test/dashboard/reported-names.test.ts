import { expect, test } from 'vitest'
import { nameBefore } from '../../dashboard/src/lib/reported-names.ts'

const at = '2026-03-10T09:00:00.000Z'
/** Reported names, oldest first. */
const warningOf = (...names: (string | null)[]) => {
  const found = nameBefore(names.map((name) => ({ name, checked_at: at })).reverse())
  return found && [found.before.name, found.last.name]
}

test.each([
  [['WANJIRU NJERI KAMAU']],
  [['WANJIRU N**** K****', 'WANJIRU NJERI KAMAU']],
  [['WANJIRU NJERI KAMAU', 'WANJIRU N**** K****']],
  [['Wanjiru Kamau', 'KAMAU WANJIRU']],
  [['WANJIRU NJERI KAMAU', null]],
  [['NOT AVAILABLE', 'WANJIRU NJERI KAMAU']],
  [[null]],
  [[]],
])('a name that may be the same person’s is no other name: %j', (names) => {
  expect(warningOf(...names)).toBeNull()
})

test.each([[['JANE WANGARI DOE', 'WANJIRU N**** K****']], [['JANE W****** D**', 'WANJIRU NJERI KAMAU']]])(
  'a name that cannot be the same person’s is named with the last one: %j',
  (names) => {
    expect(warningOf(...names)).toEqual(names)
    expect(warningOf(...names, null)).toEqual(names)
  },
)

test('another person’s name is found behind checks of the last one', () => {
  expect(warningOf('JANE WANGARI DOE', 'WANJIRU N**** K****', 'WANJIRU NJERI KAMAU')).toEqual([
    'JANE WANGARI DOE',
    'WANJIRU NJERI KAMAU',
  ])
})
