import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { effectivePermissions, permissions, undelegable } from '../../src/auth/permissions.ts'
import { roles } from '../../src/db/tables/workspaces.ts'

const guide = readFileSync(new URL('../../docs/guides/permissions.md', import.meta.url), 'utf8')
const namesIn = (text: string): string[] => [...text.matchAll(/`([a-z]+\.[a-z]+)`/g)].map(([, name]) => name ?? '')

/** The cells of the tables' rows. */
const rows = [...guide.matchAll(/^\| (.+) \| (.+) \|$/gm)].map(([, first = '', second = '']) => [first, second] as const)

test('the guide about permissions explains every permission once, and no other', () => {
  expect(rows.flatMap(([first]) => namesIn(first)).sort()).toEqual([...permissions].sort())
})

test.each(roles)('the guide says what the role %s has', (role) => {
  const [, has = ''] = rows.find(([first]) => first.split(', ').includes(role)) ?? []
  const ofAccount = effectivePermissions(null, null)
  const said = permissions.filter(
    (permission) =>
      has.startsWith('all permissions') ||
      (has.includes('all `.read` permissions') && permission.endsWith('.read')) ||
      namesIn(has).includes(permission),
  )
  const held = [...effectivePermissions(role, null)].filter((permission) => !ofAccount.has(permission))
  expect(said.filter((permission) => !ofAccount.has(permission)).sort()).toEqual(held.sort())
})

test('the guide names the permissions that a key has only when a person names them', () => {
  const [, paragraph = ''] = /\*\*A key without a list of permissions\*\*([\s\S]*?)\n\n/.exec(guide) ?? []
  expect(namesIn(paragraph).sort()).toEqual([...undelegable].sort())
})
