import { randomBytes } from 'node:crypto'
import { type Database, type Db, statement } from '../../db/client.ts'
import { type noncePurposes, nonces } from '../../db/tables/sessions.ts'
import { secondsAfter } from '../../lib/clock.ts'

type Purpose = (typeof noncePurposes)[number]

export type IssuedNonce = { nonce: string; issuedAt: Date; expiresAt: Date }

export const issueNonce = async (
  db: Db,
  now: Date,
  options: { purpose: Purpose; ttlSeconds: number; boundTo?: string },
): Promise<IssuedNonce> => {
  const nonce = randomBytes(16).toString('hex')
  const expiresAt = secondsAfter(now, options.ttlSeconds)
  await db.orm
    .insert(nonces)
    .values({ nonce, purpose: options.purpose, boundTo: options.boundTo ?? null, createdAt: now, expiresAt })
  return { nonce, issuedAt: now, expiresAt }
}

const burn = statement(
  'nonces.burn',
  'update nonces set consumed_at = $3 where nonce = $1 and purpose = $2 and consumed_at is null returning expires_at',
)

/**
 * Uses a nonce up, before anything else is looked at and in a transaction of its own: a failed attempt burns it all the same, and of
 * twenty at once one gets it. False when it was never given out, is used already or has expired.
 */
export const burnNonce = async (db: Database, nonce: string, purpose: Purpose, now: Date): Promise<boolean> => {
  const [row] = await db.query<{ expires_at: Date }>(burn, [nonce, purpose, now])
  return row !== undefined && row.expires_at > now
}
