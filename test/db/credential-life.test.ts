import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  grantIsActive,
  grantLife,
  keyIsActive,
  keyLife,
  sessionEnd,
  sessionEnds,
  sessionIsActive,
  sessionLife,
} from '../../src/db/credential-life.ts'
import { createTestDatabase, type TestDatabase } from '../harness/postgres.ts'

const now = new Date('2026-03-01T09:00:00.000Z')
const days = (count: number) => new Date(now.getTime() + count * 86_400_000)
/** Times before, at and after the moment in question. The moment itself counts as ended. */
const times = [days(-1), now, new Date(now.getTime() + 1), days(1)]
const idleDays = 7

let database: TestDatabase
let client: pg.Client
beforeAll(async () => {
  database = await createTestDatabase()
  client = new pg.Client({ connectionString: database.url })
  await client.connect()
})
afterAll(async () => {
  await client.end()
  await database.drop()
})

const cases = [null, ...times].flatMap((revokedAt) =>
  [null, ...times].flatMap((expiresAt) =>
    [days(-8), days(-7), new Date(days(-7).getTime() + 1), days(0)].map((lastUsedAt) => ({ revokedAt, expiresAt, lastUsedAt })),
  ),
)

const inSql = `
  select ${grantIsActive('r', '$4::timestamptz')} as grant, ${keyIsActive('r', '$4::timestamptz')} as key,
    ${sessionIsActive('r', '$4::timestamptz', '$5')} as session, ${sessionEnds('r', '$5')} as ends
  from (select $1::timestamptz as revoked_at, $2::timestamptz as expires_at, $3::timestamptz as last_used_at) r`

test.each(cases)('revoked $revokedAt, expires $expiresAt, used $lastUsedAt: code and SQL agree', async (credential) => {
  const { rows } = await client.query(inSql, [credential.revokedAt, credential.expiresAt, credential.lastUsedAt, now, idleDays])
  expect([rows[0].grant, rows[0].key]).toEqual([grantLife(credential, now) === 'active', keyLife(credential, now) === 'active'])
  if (credential.expiresAt === null) return
  const session = { ...credential, expiresAt: credential.expiresAt }
  expect([rows[0].session, rows[0].ends]).toEqual([
    sessionLife(session, now, idleDays) === 'active',
    sessionEnd(session, idleDays),
  ])
})

test('a revoked grant has ended even before its expiry; a key works until its revocation; both end at that instant', () => {
  const ahead = { revokedAt: days(1), expiresAt: null }
  expect([grantLife(ahead, now), keyLife(ahead, now)]).toEqual(['revoked', 'active'])
  expect([grantLife({ revokedAt: null, expiresAt: now }, now), keyLife({ revokedAt: now, expiresAt: now }, now)]).toEqual([
    'expired',
    'revoked',
  ])
})
