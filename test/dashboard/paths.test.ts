import { expect, test } from 'vitest'
import { safeReturn } from '../../dashboard/src/shell/paths.ts'

test.each([
  null,
  '',
  'account',
  '//evil.example',
  '/\\evil.example',
  '/%2f%2fevil.example',
  'https://evil.example/',
  '/\tevil',
  '/v1/auth/github/start',
  '/V1/auth/logout',
  '/link/abc',
  '/x/../v1/accounts/me',
  '/%76%31/auth/google/start',
  '/%2576%2531/auth/google/start',
  '/%E0%A4%A',
])('after signing in the browser is never sent to %j', (value) => expect(safeReturn(value)).toBe('/'))

test.each(['/', '/account?tab=keys#top', '/consent?authorization=oaz_1', '/linked'])(
  'after signing in the browser is sent to %s',
  (value) => expect(safeReturn(value)).toBe(value),
)
