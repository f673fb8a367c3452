import { randomBytes } from 'node:crypto'
import { equalBytes } from '../../../auth/secrets.ts'
import type { Derivations } from '../../../auth/vault.ts'
import type { Db, Tx } from '../../../db/client.ts'
import { insertOnce } from '../../../db/prepare-write.ts'
import { prepareRemoval, prune } from '../../../db/prune.ts'
import { selectRow } from '../../../db/select-rows.ts'
import { type noncePurposes, nonces } from '../../../db/tables/sessions.ts'
import { secondsAfter } from '../../../lib/clock.ts'

export const nonceTtlSeconds = 600

export type SignInNonce = { nonce: string; expiresAt: Date; presentedAt: Date }

export type IssuedNonce = { nonce: string; issuedAt: Date; expiresAt: Date }

type NoncePurpose = Exclude<(typeof noncePurposes)[number], 'wallet_sign_in'>

/** `boundTo`: the subject that a later request with the nonce must have. */
export const issueNonce = async (
  db: Db,
  now: Date,
  { purpose, boundTo }: { purpose: NoncePurpose; boundTo: string },
): Promise<IssuedNonce> => {
  const nonce = randomBytes(16).toString('hex')
  const expiresAt = secondsAfter(now, nonceTtlSeconds)
  await insertOnce(db, nonces, { nonce, purpose, boundTo, createdAt: now, expiresAt }, nonces.nonce)
  return { nonce, issuedAt: now, expiresAt }
}

/** Uses up the nonce. Returns true to only one of several concurrent requests. */
export const consumeSignInNonce = (db: Db, { nonce, expiresAt, presentedAt: at }: SignInNonce): Promise<boolean> =>
  insertOnce(db, nonces, { nonce, purpose: 'wallet_sign_in', createdAt: at, expiresAt, consumedAt: at }, nonces.nonce)

const removal = prepareRemoval('nonces.prune', nonces.nonce, nonces.expiresAt)

/** Removes expired nonces, which are refused with or without a row. */
export const pruneNonces = (db: Db, before: Date): Promise<void> => prune(db, { removal, before })

export const findNonce = selectRow('nonces.find', nonces, ['nonce', 'purpose'])

/** Makes a second request with the same nonce wait. */
export const lockNonce = selectRow('nonces.lock', nonces, ['nonce', 'purpose'], { lock: 'update' })

export const consumeNonce = async (tx: Tx, nonce: string, now: Date): Promise<void> => {
  await tx.query('update nonces set consumed_at = $2 where nonce = $1', [nonce, now])
}

/** False if the nonce is unknown, used, expired or bound to something else. */
export const redeemNonce = async (
  tx: Tx,
  { nonce, purpose, boundTo }: { nonce: string; purpose: NoncePurpose; boundTo: string },
): Promise<boolean> => {
  const issued = await lockNonce(tx, { nonce, purpose })
  if (issued?.boundTo !== boundTo || issued.consumedAt !== null || issued.expiresAt <= tx.at) return false
  await consumeNonce(tx, nonce, tx.at)
  return true
}

const timeDigits = 12
const randomDigits = 20
const macDigits = 32
const noncePattern = new RegExp(`^([0-9a-f]{${timeDigits}})[0-9a-f]{${randomDigits}}([0-9a-f]{${macDigits}})$`)

const purpose = 'sign-in-nonce'
const shorten = (mac: Buffer): string => mac.toString('hex', 0, macDigits / 2)

/** Derives a nonce from its end, random bytes and a MAC over both. Only used nonces are stored, so a flood fills no table. */
export const newSignInNonce = (derivations: Derivations, issuedAt: Date): IssuedNonce => {
  const expiresAt = secondsAfter(issuedAt, nonceTtlSeconds)
  const body = expiresAt.getTime().toString(16).padStart(timeDigits, '0') + randomBytes(randomDigits / 2).toString('hex')
  return { nonce: body + shorten(derivations.mac(purpose, body)), issuedAt, expiresAt }
}

/** Reads a nonce of this service, under any key in the ring, that has not expired. It may have been used. */
export const readSignInNonce = (derivations: Derivations, nonce: string, now: Date): SignInNonce | undefined => {
  const [, time, mac] = noncePattern.exec(nonce) ?? []
  if (time === undefined || mac === undefined) return undefined
  const expiresAt = new Date(Number.parseInt(time, 16))
  const body = nonce.slice(0, -macDigits)
  const ours = derivations.macs(purpose, body).some((each) => equalBytes(Buffer.from(shorten(each.mac)), Buffer.from(mac)))
  return ours && expiresAt > now ? { nonce, expiresAt, presentedAt: now } : undefined
}
