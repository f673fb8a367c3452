import { expect, test } from 'vitest'
import { sources } from '../../scripts/build-dashboard.ts'
import { readProgram } from './source.ts'

test('a change of any file that the dashboard is built from builds it again', () => {
  const files = new Map(readProgram().map((file) => [file.path, file]))
  const reached = new Set([...files.keys()].filter((path) => path.startsWith('dashboard/src/')))
  for (const path of reached)
    for (const { to, ours, typeOnly } of files.get(path)?.imports ?? []) if (ours && !typeOnly) reached.add(to)
  const missed = [...reached].filter((path) => !sources.some((source) => path === source || path.startsWith(`${source}/`)))
  expect(missed).toEqual([])
  expect([...reached].filter((path) => path.startsWith('src/')).length).toBeGreaterThan(3)
})
