import { randomBytes } from 'node:crypto'
import { lt } from 'drizzle-orm'
import type { Db, Tx } from '../../../../db/client.ts'
import { prepareInsertAll } from '../../../../db/prepare-write.ts'
import { prepareRemoval, prune } from '../../../../db/prune.ts'
import { type noncePurposes, nonces } from '../../../../db/tables/sessions.ts'
import { secondsAfter } from '../../../../lib/clock.ts'

/** A sign-in's nonce as it came back, and when. */
export type SignInNonce = { nonce: string; expiresAt: Date; presentedAt: Date }

export type IssuedNonce = { nonce: string; issuedAt: Date; expiresAt: Date }

/** What a nonce that has a row from the start is for. */
export type NoncePurpose = Exclude<(typeof noncePurposes)[number], 'wallet_sign_in'>

const insertNonce = prepareInsertAll('nonces.insert', nonces)

/** Stored when it is given out, because what it is bound to decides how a later request with it is refused. */
export const issueNonce = async (
  db: Db,
  now: Date,
  { purpose, ttlSeconds, boundTo }: { purpose: NoncePurpose; ttlSeconds: number; boundTo: string },
): Promise<IssuedNonce> => {
  const nonce = randomBytes(16).toString('hex')
  const expiresAt = secondsAfter(now, ttlSeconds)
  await insertNonce(db.query, [{ nonce, purpose, boundTo, createdAt: now, expiresAt }])
  return { nonce, issuedAt: now, expiresAt }
}

const burn = prepareInsertAll<typeof nonces, { nonce: string }>('nonces.burn', nonces, 'on conflict do nothing returning nonce')
/**
 * Uses nonces of sign-ins up (`sign-in-nonce.ts`), and returns those that nobody has used before: of twenty requests at once one has it. In
 * sorted order, so that two transactions that use the same nonces do not wait for each other.
 */
export const burnNonces = async (db: Db, used: readonly SignInNonce[]): Promise<Set<string>> => {
  const rows = used.map(({ nonce, expiresAt, presentedAt }) => ({
    nonce,
    purpose: 'wallet_sign_in' as const,
    createdAt: presentedAt,
    expiresAt,
    consumedAt: presentedAt,
  }))
  const burnt = await burn(
    db.query,
    rows.sort((one, other) => (one.nonce < other.nonce ? -1 : 1)),
  )
  return new Set(burnt.map(({ nonce }) => nonce))
}

const removal = prepareRemoval('nonces.prune', nonces, {
  key: nonces.nonce,
  when: (before) => lt(nonces.expiresAt, before),
  by: [nonces.expiresAt, nonces.nonce],
})

/** An expired nonce is refused whether its row is there or not. */
export const pruneNonces = (db: Db, before: Date): Promise<void> => prune(db, { removal, before })

type NonceRow = { boundTo: string | null; expiresAt: Date; isUsed: boolean }

const find = async (db: Db, purpose: NoncePurpose, nonce: string, lock: '' | 'for update'): Promise<NonceRow | undefined> => {
  const [row] = await db.query<{ bound_to: string | null; expires_at: Date; is_used: boolean }>(
    `select bound_to, expires_at, consumed_at is not null as is_used from nonces where nonce = $1 and purpose = $2 ${lock}`,
    [nonce, purpose],
  )
  return row && { boundTo: row.bound_to, expiresAt: row.expires_at, isUsed: row.is_used }
}

export const findNonce = (db: Db, purpose: NoncePurpose, nonce: string): Promise<NonceRow | undefined> =>
  find(db, purpose, nonce, '')

/** For a nonce that is used up in the same transaction as what it was issued for: a second request with it waits here. */
export const lockNonce = (tx: Tx, purpose: NoncePurpose, nonce: string): Promise<NonceRow | undefined> =>
  find(tx, purpose, nonce, 'for update')

export const consumeNonce = async (tx: Tx, nonce: string, now: Date): Promise<void> => {
  await tx.query('update nonces set consumed_at = $2 where nonce = $1', [nonce, now])
}
