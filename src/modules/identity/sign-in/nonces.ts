import { randomBytes } from 'node:crypto'
import { type Db, statement, type Tx } from '../../../db/client.ts'
import { prune } from '../../../db/prune.ts'
import { type noncePurposes, nonces } from '../../../db/tables/sessions.ts'
import { secondsAfter } from '../../../lib/clock.ts'

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
 * Uses a nonce up. False when the service never issued it, or it is used or expired; of twenty requests at once one succeeds. Runs outside
 * a transaction, so that a later failure does not make the nonce usable again.
 */
export const burnNonce = async (db: Db, nonce: string, purpose: Purpose, now: Date): Promise<boolean> => {
  const [row] = await db.query<{ expires_at: Date }>(burn, [nonce, purpose, now])
  return row !== undefined && row.expires_at > now
}

const removal = statement(
  'nonces.prune',
  'delete from nonces where nonce in (select nonce from nonces where expires_at < $1 order by expires_at, nonce limit $2 offset $3) returning 1',
)

/** An expired nonce is refused whether its row is there or not. */
export const pruneNonces = (db: Db, before: Date): Promise<void> => prune(db, { removal, before })

type NonceRow = { boundTo: string | null; expiresAt: Date }

const find = async (db: Db, nonce: string, purpose: Purpose, lock: '' | 'for update'): Promise<NonceRow | undefined> => {
  const [row] = await db.query<{ bound_to: string | null; expires_at: Date }>(
    `select bound_to, expires_at from nonces where nonce = $1 and purpose = $2 ${lock}`,
    [nonce, purpose],
  )
  return row && { boundTo: row.bound_to, expiresAt: row.expires_at }
}

export const findNonce = (db: Db, nonce: string, purpose: Purpose): Promise<NonceRow | undefined> => find(db, nonce, purpose, '')

/** For a nonce that is used up in the same transaction as what it was issued for: a second request with it waits here. */
export const lockNonce = (tx: Tx, nonce: string, purpose: Purpose): Promise<NonceRow | undefined> =>
  find(tx, nonce, purpose, 'for update')

export const consumeNonce = async (tx: Tx, nonce: string, now: Date): Promise<void> => {
  await tx.query('update nonces set consumed_at = $2 where nonce = $1', [nonce, now])
}
