import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { sources } from '../../scripts/build-dashboard.ts'
import { parseSource, readProgram } from './source.ts'

const files = new Map(readProgram().map((file) => [file.path, file]))

/** Files and everything that they import, directly or not. */
const closureOf = (paths: readonly string[]): Set<string> => {
  const reached = new Set(paths)
  for (const path of reached)
    for (const { to, ours, typeOnly } of files.get(path)?.imports ?? []) if (ours && !typeOnly) reached.add(to)
  return reached
}
const pages = [...files.keys()].filter((path) => path.startsWith('dashboard/src/'))

test('a change of any file that the dashboard is built from builds it again', () => {
  const reached = closureOf(pages)
  const missed = [...reached].filter((path) => !sources.some((source) => path === source || path.startsWith(`${source}/`)))
  expect(missed).toEqual([])
  expect([...reached].filter((path) => path.startsWith('src/')).length).toBeGreaterThan(3)
})

/** Ids are only read there, never made: the bundler drops the code that makes them. */
const leftOut = { path: 'src/lib/ids.ts', needs: 'npm:node:crypto' }

test('what a browser has of the service uses nothing of Node: the pages, and the verifier of receipts', () => {
  for (const path of globSync('verifier/**/*.ts')) files.set(path, parseSource(path, readFileSync(path, 'utf8')))
  const verifier = [...files.keys()].filter((path) => path.startsWith('verifier/'))
  const shared = [...closureOf([...pages, ...verifier])].filter((path) => path.startsWith('src/'))
  const nodes = shared.filter((path) => {
    const { code = '', imports = [] } = files.get(path) ?? {}
    return (
      /\b(Buffer|process|setImmediate)\b[.(]/.test(code) ||
      imports.some(
        ({ to, typeOnly }) => to.startsWith('npm:node:') && !typeOnly && !(path === leftOut.path && to === leftOut.needs),
      )
    )
  })
  expect(nodes).toEqual([])
  expect(shared.length).toBeGreaterThan(20)
})
