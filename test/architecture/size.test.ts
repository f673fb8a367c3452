import { describe, expect, it } from 'vitest'
import { parseSource, readProgram, type Source } from './source.ts'
import { walk } from './syntax.ts'

/** Lines alone would grow with narrow lines and shrink with wide ones, so nodes of the syntax tree are counted too. */
const sizeOf = (files: readonly Source[]): { lines: number; nodes: number } => {
  let nodes = 0
  for (const file of files)
    walk(file, () => {
      nodes += 1
    })
  return { lines: files.reduce((sum, { text }) => sum + text.split('\n').length - 1, 0), nodes }
}

/** A feature pays for its code with code that goes. A commit that raises a ceiling says for what. */
const ceilings = {
  // 67,250 before seven readers compared every promise with the code on 1 December 2026. About 90 defects were corrected: stops that
  // hold until the first byte, refused balance queries, bounds and pruning, refusals during a freeze, one rail beside another.
  'src/': { lines: 67_550, nodes: 459_700 },
  // 21,950 before the same reading: copies that fail, every key that works, searches that fail; six files split by what they show.
  'dashboard/src/': { lines: 22_200, nodes: 154_600 },
}

describe('the size', () => {
  it.each(Object.entries(ceilings))('of %s does not grow beyond its ceiling', (folder, ceiling) => {
    const { lines, nodes } = sizeOf(readProgram().filter(({ path }) => path.startsWith(folder)))
    expect(lines).toBeLessThanOrEqual(ceiling.lines)
    expect(nodes).toBeLessThanOrEqual(ceiling.nodes)
    // A ceiling far above the size would not notice growth.
    expect(nodes).toBeGreaterThan(ceiling.nodes * 0.95)
  })

  it('counts the same nodes however lines are broken, and more for more code', () => {
    const [wide, narrow, more] = [
      'export const sum = (a: number, b: number): number => a + b\n',
      'export const sum = (\n  a: number,\n  b: number,\n): number =>\n  a + b\n',
      'export const sum = (a: number, b: number): number => a + b + 1\n',
    ].map((text) => sizeOf([parseSource('lib/planted.ts', text)]))
    expect(narrow?.nodes).toBe(wide?.nodes)
    expect(narrow?.lines).toBe(5)
    expect(more?.nodes).toBe((wide?.nodes ?? 0) + 2)
  })
})
