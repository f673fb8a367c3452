import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { adviceOf } from '../../src/errors/advice.ts'
import { errorCodes, errorRow } from '../../src/errors/catalogue.ts'
import { nextSteps } from '../../src/mcp/tool.ts'
import { tools } from '../../src/mcp/tools.ts'

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

describe.each(errorCodes)('%s', (code) => {
  const row = errorRow(code)
  const advice = adviceOf(code)

  test('has sentences for a program, its author and a person', () => {
    for (const text of [row.sentence, row.fix, advice?.person]) expect(text).toMatch(/^[A-Z`].*\.$/)
    // A page shows the advice without its code.
    expect(advice?.person).not.toMatch(/[`_{]|\/v1/)
  })

  test('leads a person to a page of the dashboard, if to any', () => {
    if (advice?.page) expect(read('dashboard/src/pages.tsx')).toContain(`<Route path="${advice.page.path}"`)
  })
})

test('a credential is replaced after every 401, except after a signature that does not fit', () => {
  const replaced = errorCodes.filter((code) => errorRow(code).agent === 'new_credential')
  expect(replaced).toEqual([
    ...errorCodes.filter((code) => errorRow(code).status === 401 && code !== 'invalid_signature'),
    'forbidden',
  ])
})

test('the guide for agents explains every next step, and no other', () => {
  const [, table = ''] = read('docs/guides/mcp.md').split('| `next` | Means |')
  const explained = [...(table.split('\n\n')[0] ?? '').matchAll(/^\| `([a-z_]+)` \|/gm)].map(([, word]) => word)
  expect(explained.sort()).toEqual([...nextSteps].sort())
})

test('the guide for agents names every tool that requires an idempotency key, and no other', () => {
  const [, bullet = ''] = /- \*\*`idempotency_key`\*\* is required by ([^:]*):/.exec(read('docs/guides/mcp.md')) ?? []
  const named = [...bullet.matchAll(/`([a-z_]+)`/g)].map(([, name]) => name)
  const requiring = tools.filter(({ input }) => input.shape.idempotency_key?.safeParse(undefined).success === false)
  expect(named.sort()).toEqual(requiring.map(({ name }) => name).sort())
})

test('the guide about errors has every status, and no other', () => {
  const rows = [...read('docs/guides/errors.md').matchAll(/^\| ([\d, ]+) \|/gm)]
  const statuses = rows.flatMap(([, cell]) => (cell ?? '').split(', ').map(Number))
  expect(statuses.sort()).toEqual([...new Set(errorCodes.map((code) => errorRow(code).status))].sort())
})
