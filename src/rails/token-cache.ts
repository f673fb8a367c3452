import { type Clock, secondsAfter } from '../lib/clock.ts'
import type { Provider } from '../lib/rail-names.ts'

export type Token = { value: string; lifetimeSeconds: number }
export type NoToken = { code: string; message: string }
/** A token, and when it is renewed. */
export type HeldToken = { value: string; until: Date }
export type TokenAnswer = { kind: 'token'; value: string } | ({ kind: 'none' } & NoToken)

/**
 * What the processes of a deployment share a provider's token through: answers the token that all of them use, and lets one of them fetch a new
 * one. `credentials`: what a token is given for. `refused`: the token that the provider refused last, never an answer. Never throws.
 */
export type ShareToken = (asked: {
  provider: Provider
  credentials: readonly string[]
  refused: string | undefined
  fetch: () => Promise<HeldToken | NoToken>
}) => Promise<HeldToken | NoToken>

/** Renewed this long before it expires, so that no request is under way with an expired token. */
const marginSeconds = 60

type CacheDeps = {
  clock: Clock
  provider: Provider
  credentials: readonly string[]
  obtain: () => Promise<Token | NoToken>
  /** Without it, the process has a token of its own. */
  shareToken?: ShareToken | undefined
}

/**
 * One token for all requests, fetched once however many ask at the same time. `reject` discards a token that the provider refused, but only
 * that one: a slower request must not discard its successor.
 */
export const createTokenCache = ({ clock, provider, credentials, obtain, shareToken }: CacheDeps) => {
  let held: HeldToken | undefined
  let refused: string | undefined
  let underWay: Promise<TokenAnswer> | undefined

  const fetch = async (): Promise<HeldToken | NoToken> => {
    const token = await obtain()
    if (!('value' in token)) return token
    const seconds = Math.max(token.lifetimeSeconds - marginSeconds, token.lifetimeSeconds / 2)
    return { value: token.value, until: secondsAfter(clock.now(), seconds) }
  }

  const renew = async (): Promise<TokenAnswer> => {
    const token = shareToken ? await shareToken({ provider, credentials, refused, fetch }) : await fetch()
    if (!('value' in token)) return { kind: 'none', ...token }
    held = token
    return { kind: 'token', value: token.value }
  }

  return {
    get: (): Promise<TokenAnswer> => {
      if (held && held.until > clock.now()) return Promise.resolve({ kind: 'token', value: held.value })
      underWay ??= renew().finally(() => {
        underWay = undefined
      })
      return underWay
    },
    reject: (value: string): void => {
      if (held?.value !== value) return
      refused = value
      held = undefined
    },
  }
}

export type TokenCache = ReturnType<typeof createTokenCache>
