import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { effectivePermissions, permissions, undelegable } from '../../src/auth/permissions.ts'
import { roles } from '../../src/db/tables/workspaces.ts'
import { railNames, topupMethods } from '../../src/lib/rail-names.ts'

const readGuide = (name: string) => readFileSync(new URL(`../../docs/guides/${name}.md`, import.meta.url), 'utf8')
const guide = readGuide('permissions')
const namesIn = (text: string): string[] => [...text.matchAll(/`([a-z]+\.[a-z]+)`/g)].map(([, name]) => name ?? '')

/** The cells in the tables of permissions and of roles. */
const [tables = ''] = guide.split('\n## How each record is stopped')
const rows = [...tables.matchAll(/^\| (.+) \| (.+) \|$/gm)].map(([, first = '', second = '']) => [first, second] as const)

test('the guide about permissions explains every permission once, and no other', () => {
  expect(rows.flatMap(([first]) => namesIn(first)).sort()).toEqual([...permissions].sort())
})

test.each(roles)('the guide says what the role %s has', (role) => {
  const [, has = ''] = rows.find(([first]) => first.split(', ').includes(role)) ?? []
  const ofAccount = effectivePermissions(null, null)
  const [, except = ''] = /except (`[^`]+`)/.exec(has) ?? []
  const said = permissions.filter(
    (permission) =>
      (has.startsWith('all permissions') ||
        (has.includes('all `.read` permissions') && permission.endsWith('.read')) ||
        namesIn(has).includes(permission)) &&
      !namesIn(except).includes(permission),
  )
  const held = [...effectivePermissions(role, null)].filter((permission) => !ofAccount.has(permission))
  expect(said.filter((permission) => !ofAccount.has(permission)).sort()).toEqual(held.sort())
})

test('the guide names the permissions that a key has only when a person names them', () => {
  const [, paragraph = ''] = /\*\*A key without a list of permissions\*\*([\s\S]*?)\n\n/.exec(guide) ?? []
  expect(namesIn(paragraph).sort()).toEqual([...undelegable].sort())
})

test.each([
  ['sandbox', 'a number that fails', railNames],
  ['funding', 'how money arrives', topupMethods],
])('the guide %s has a row, %s, for each rail', (name, _what, rails) => {
  const named = [...readGuide(name).matchAll(/^\| `([A-Z][A-Z0-9_]+)` \|/gm)].map(([, rail = '']) => rail)
  expect([...new Set(named)].sort()).toEqual([...rails].sort())
})
