import { type Clock, secondsAfter } from '../lib/clock.ts'

export type Token = { value: string; lifetimeSeconds: number }
export type TokenAnswer = { kind: 'token'; value: string } | { kind: 'none'; code: string; message: string }

/** Renewed this long before it expires, so that no request is under way with an expired token. */
const marginSeconds = 60

/**
 * One token for all requests, fetched once however many ask at the same time. `reject` discards a token that the provider refused, but only
 * that one: a slower request must not discard its successor.
 */
export const createTokenCache = (deps: { clock: Clock; obtain: () => Promise<Token | { code: string; message: string }> }) => {
  let held: { value: string; until: Date } | undefined
  let underWay: Promise<TokenAnswer> | undefined

  const renew = async (): Promise<TokenAnswer> => {
    const token = await deps.obtain()
    if (!('value' in token)) return { kind: 'none', ...token }
    const seconds = Math.max(token.lifetimeSeconds - marginSeconds, token.lifetimeSeconds / 2)
    held = { value: token.value, until: secondsAfter(deps.clock.now(), seconds) }
    return { kind: 'token', value: token.value }
  }

  return {
    get: (): Promise<TokenAnswer> => {
      if (held && held.until > deps.clock.now()) return Promise.resolve({ kind: 'token', value: held.value })
      underWay ??= renew().finally(() => {
        underWay = undefined
      })
      return underWay
    },
    reject: (value: string): void => {
      if (held?.value === value) held = undefined
    },
  }
}

export type TokenCache = ReturnType<typeof createTokenCache>
