import { createPublicKey } from 'node:crypto'
import { z } from 'zod'
import { type Clock, secondsAfter } from '../../lib/clock.ts'
import { requestJson } from './request.ts'

const Jwks = z.object({ keys: z.array(z.record(z.string(), z.unknown())) })
const RsaKey = z.object({
  kid: z.string(),
  kty: z.literal('RSA'),
  n: z.string(),
  e: z.string(),
  use: z.literal('sig').optional(),
})

/** PEM by key id: what google-auth-library verifies with. */
export type Certificates = Readonly<Record<string, string>>

const cacheSeconds = 3600

const toCertificates = (keys: readonly unknown[]): Certificates =>
  Object.fromEntries(
    keys.flatMap((key) => {
      const read = RsaKey.safeParse(key)
      if (!read.success) return []
      const { kid, kty, n, e } = read.data
      return [[kid, createPublicKey({ key: { kty, n, e }, format: 'jwk' }).export({ type: 'spki', format: 'pem' }).toString()]]
    }),
  )

/** The provider's signing keys, kept for an hour; for an unknown key the list is read again at once, because keys rotate. */
export const createKeySet = (clock: Clock) => {
  let cached: { url: string; certificates: Certificates; until: Date } | undefined
  return async (url: string, keyId: string): Promise<Certificates> => {
    const now = clock.now()
    if (cached && cached.url === url && cached.until > now && Object.hasOwn(cached.certificates, keyId))
      return cached.certificates
    const { keys } = await requestJson('google', Jwks, url)
    cached = { url, certificates: toCertificates(keys), until: secondsAfter(now, cacheSeconds) }
    return cached.certificates
  }
}
