import { SiweMessage } from 'siwe'
import type { Config } from '../../../config.ts'
import { secondsAfter } from '../../../lib/clock.ts'
import { invalidFields, Refusal } from '../../../lib/errors.ts'
import { isLoopbackUrl } from '../../../lib/loopback.ts'

export const signInStatement = 'Sign in to the payments service. This costs nothing and moves no money.'
export const nonceTtlSeconds = 600

/** What a sign-in message must contain; shown to the caller before signing, and again when it was wrong. */
export const expectedOf = (config: Config) => ({
  domain: new URL(config.publicUrl).host,
  uri: config.publicUrl,
  chain_ids: config.SIWE_CHAIN_IDS,
})

/** In development a browser may use any of the loopback address's names. */
const sameSite = (config: Config, origin: string): boolean => {
  if (origin === config.publicUrl) return true
  if (config.NODE_ENV === 'production' || !URL.canParse(origin)) return false
  return isLoopbackUrl(origin) && isLoopbackUrl(config.publicUrl) && new URL(origin).port === new URL(config.publicUrl).port
}

const originOfUri = (uri: string): string => (URL.canParse(uri) ? new URL(uri).origin : '')

const mismatch = (config: Config, what: string, actual: unknown): Refusal =>
  new Refusal('invalid_signature', {
    message: `The message's ${what} is not what this service expects.`,
    details: { field: what, actual, expected: { ...expectedOf(config), statement: signInStatement } },
  })

export const readSiweMessage = (text: string): SiweMessage => {
  try {
    return new SiweMessage(text)
  } catch {
    throw invalidFields({
      path: 'message',
      message: 'must be a Sign-In with Ethereum message (EIP-4361), such as POST /v1/auth/wallet/nonce gives',
    })
  }
}

/** The site itself, not one of its pages: a signature for a path may have another meaning there. */
const isBare = (uri: string): boolean => /^https?:\/\/[^/?#]+\/?$/i.test(uri)

/** A wallet's clock may be ahead of ours. */
const aheadSeconds = 300

/** The message must be for this sign-in: not an old one, and not one for later. */
const isRecent = (issued: Date | undefined, now: Date): boolean =>
  issued !== undefined &&
  issued <= secondsAfter(now, aheadSeconds) &&
  issued >= secondsAfter(now, -nonceTtlSeconds - aheadSeconds)

const timeOf = (text: string | undefined): Date | undefined => (text === undefined ? undefined : new Date(text))

/** Domain, URI, chain and the message's own times: what is wrong, if anything. The nonce and the signature are checked elsewhere. */
export const checkSiweMessage = (config: Config, message: SiweMessage, now: Date): Refusal | null => {
  const expires = timeOf(message.expirationTime)
  const begins = timeOf(message.notBefore)
  const scheme = message.scheme ?? new URL(config.publicUrl).protocol.slice(0, -1)
  if (!sameSite(config, originOfUri(`${scheme}://${message.domain}`))) return mismatch(config, 'domain', message.domain)
  if (!sameSite(config, originOfUri(message.uri)) || !isBare(message.uri)) return mismatch(config, 'uri', message.uri)
  if (message.statement !== signInStatement) return mismatch(config, 'statement', message.statement ?? null)
  if (!isRecent(timeOf(message.issuedAt), now)) return mismatch(config, 'issued_at', message.issuedAt ?? null)
  if (!config.SIWE_CHAIN_IDS.includes(message.chainId)) return mismatch(config, 'chain_id', message.chainId)
  if (expires && expires <= now) return mismatch(config, 'expiration_time', message.expirationTime)
  if (begins && begins > now) return mismatch(config, 'not_before', message.notBefore)
  return null
}
