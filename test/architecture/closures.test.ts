import { expect, it } from 'vitest'
import { readSources } from './source.ts'

const sources = new Map(readSources().map((source) => [source.path, source]))

/** Providers' folders are alike, and their list is written from them: they are not counted, so that another provider breaks nothing here. */
const isProviders = (path: string) => /^rails\/[^/]+\//.test(path)

/** The policy is one pure function with a file for each kind of rule: it counts once, so that another rule breaks nothing here. */
const partOf = (path: string) => (path.startsWith('policy/') ? 'policy' : path)

/** The files that run with a file: itself and what its imports lead to. Types run nothing. */
const closureOf = (path: string): Set<string> => {
  const reached = new Set([path])
  for (const each of reached)
    for (const { to, ours, typeOnly } of sources.get(each)?.imports ?? []) if (ours && !typeOnly) reached.add(to)
  return reached
}

/**
 * How many files a reader must know to know what an act does, and how many can break it. A number here may fall and not rise: what an act
 * hands on to another part comes to it as a function among its `deps`, as the approval and the mandate come to a payment.
 */
it.each([
  ['modules/payments/create/payment-queue.ts', 57],
  ['modules/oauth/endpoints/token.ts', 71],
  ['modules/beneficiaries/routes.ts', 77],
])('%s runs with at most %i files', (path, most) => {
  expect(sources.has(path)).toBe(true)
  const closure = closureOf(path)
  expect([...closure].filter((each) => !sources.has(each) && !each.endsWith('.json'))).toEqual([])
  const counted = [...new Set([...closure].filter((each) => !isProviders(each)).map(partOf))]
  expect(counted.length, counted.sort().join('\n')).toBeLessThanOrEqual(most)
})
