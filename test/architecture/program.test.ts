import { describe, expect, it } from 'vitest'
import { programRules } from './program-rules.ts'
import { parseSource, readProgram } from './source.ts'

const program = readProgram()

const violations: Record<keyof typeof programRules, [path: string, text: string][]> = {
  doubleAssertions: [
    ['src/modules/planted.ts', 'export const tx = {} as unknown as Tx'],
    ['src/lib/planted.ts', 'export const id = (row as object) as Row'],
    ['dashboard/src/planted.tsx', 'export const Page = () => <List rows={rows as never} />'],
  ],
  parameters: [
    ['src/modules/planted.ts', 'export const pay = (tx, deps, principal, payment, at, reason) => undefined'],
    ['scripts/planted.ts', 'export function pay(tx, deps, principal, payment, at, ...reasons) {}'],
  ],
  pagesWithoutRails: [['dashboard/src/planted.tsx', `export const labels = { MPESA_B2C: 'M-PESA' }`]],
  withoutTests: [
    ['scripts/planted.ts', `import { startService } from '../test/harness/service.ts'`],
    ['client/src/planted.ts', `import type { Client } from '../../test/harness/client.ts'`],
  ],
  exits: [['scripts/planted.ts', 'await work()\nprocess.exit(0)']],
  cycles: [['dashboard/src/ui/button.tsx', `import { Filters } from '../pages/payments/filters.tsx'`]],
  pagesAbove: [['dashboard/src/ui/planted.tsx', `import type { PageProps } from '../pages/payments/filters.tsx'`]],
}

describe('what runs outside of tests', () => {
  it('is read completely by these tests', () => {
    for (const folder of ['src/', 'scripts/', 'client/src/', 'dashboard/src/'])
      expect(program.filter(({ path }) => path.startsWith(folder)).length, folder).toBeGreaterThan(10)
  })

  it.each(Object.entries(programRules))('%s holds', (_name, rule) => {
    expect(rule.check(program)).toEqual([])
  })

  it.each(Object.entries(violations).flatMap(([name, planted]) => planted.map(([path, text]) => ({ name, path, text }))))(
    '$name notices: $text',
    ({ name, path, text }) => {
      const rule = programRules[name as keyof typeof programRules]
      expect(rule.check([...program.filter((file) => file.path !== path), parseSource(path, text)]).join('\n')).toContain(path)
    },
  )
})
