import { describe, expect, it } from 'vitest'
import { parseSource, readSources } from './source.ts'
import { styleRules } from './style-rules.ts'

const sources = readSources()

const violations: Record<keyof typeof styleRules, [path: string, text: string][]> = {
  any: [
    ['lib/planted.ts', 'export const parse = (value: any) => value'],
    ['lib/planted.ts', 'export const parse = (value: unknown) => value as any'],
    ['lib/planted.ts', 'export const list: Array<any> = []'],
  ],
  nonNull: [
    ['lib/planted.ts', 'export const first = (list: string[]) => list[0]!.length'],
    ['lib/planted.ts', 'export const name = found!'],
  ],
  suppression: [['lib/planted.ts', '// @ts-expect-error\nexport const one: string = 1']],
  defaultExport: [['lib/planted.ts', 'export default function parse() {}']],
  unfinished: [['lib/planted.ts', '// TODO: think\nexport const one = 1']],
  printing: [['modules/planted/service.ts', `console.log('paid')`]],
  normalising: [
    ['lib/planted.ts', `export const kept = (text: string) => text.trim().normalize('NFC')`],
    ['lib/planted.ts', `export const Kept = z.string().max(5).normalize('NFC')`],
  ],
  length: [['lib/planted.ts', 'export const one = 1\n'.repeat(351)]],
  fileNames: [
    ['lib/plantedFile.ts', 'export const one = 1'],
    ['lib/utils.ts', 'export const one = 1'],
  ],
}

describe('the style', () => {
  it.each(Object.entries(styleRules))('%s holds', (_name, rule) => {
    expect(rule.check(sources)).toEqual([])
  })

  it.each(Object.entries(violations).flatMap(([name, planted]) => planted.map(([path, text]) => ({ name, path, text }))))(
    '$name notices: $text',
    ({ name, path, text }) => {
      const rule = styleRules[name as keyof typeof styleRules]
      expect(rule.check([...sources, parseSource(path, text)]).join('\n')).toContain(path)
    },
  )
})
