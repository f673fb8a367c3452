import { randomBytes } from 'node:crypto'
import { equalBytes } from '../../../../auth/secrets.ts'
import type { Derivations } from '../../../../auth/vault.ts'
import { secondsAfter } from '../../../../lib/clock.ts'
import type { IssuedNonce, SignInNonce } from './nonces.ts'
import { nonceTtlSeconds } from './siwe.ts'

const timeDigits = 12
const randomDigits = 20
const macDigits = 32
const form = new RegExp(`^([0-9a-f]{${timeDigits}})[0-9a-f]{${randomDigits}}([0-9a-f]{${macDigits}})$`)

const purpose = 'sign-in-nonce'
const shorten = (mac: Buffer): string => mac.toString('hex', 0, macDigits / 2)

/**
 * A nonce that proves itself: its end, random bytes, and a code over both. Nothing is stored until it is used (`burnNonces`), so whoever asks
 * for millions of them fills no table.
 */
export const newSignInNonce = (derivations: Derivations, issuedAt: Date): IssuedNonce => {
  const expiresAt = secondsAfter(issuedAt, nonceTtlSeconds)
  const body = expiresAt.getTime().toString(16).padStart(timeDigits, '0') + randomBytes(randomDigits / 2).toString('hex')
  return { nonce: body + shorten(derivations.mac(purpose, body)), issuedAt, expiresAt }
}

/** A nonce that this service gave out, under any key that is still in the ring, and that has not expired. It may have been used. */
export const readSignInNonce = (derivations: Derivations, nonce: string, now: Date): SignInNonce | undefined => {
  const [, time, mac] = form.exec(nonce) ?? []
  if (time === undefined || mac === undefined) return undefined
  const expiresAt = new Date(Number.parseInt(time, 16))
  const body = nonce.slice(0, -macDigits)
  const ours = derivations.macs(purpose, body).some((each) => equalBytes(Buffer.from(shorten(each.mac)), Buffer.from(mac)))
  return ours && expiresAt > now ? { nonce, expiresAt, presentedAt: now } : undefined
}
