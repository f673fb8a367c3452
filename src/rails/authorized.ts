import { setTimeout as wait } from 'node:timers/promises'
import { type Exchange, type ExchangeRequest, exchange } from './exchange.ts'
import type { TokenAnswer, TokenCache } from './token-cache.ts'

type Deps = {
  tokens: TokenCache
  refusesToken: (answer: { status: number; body: unknown }) => boolean
}

const notSent = (code: string, message: string): Exchange => ({ kind: 'not_sent', code, message })

const late: TokenAnswer = { kind: 'none', code: 'not_connected_in_time', message: 'The provider gave no access token in time.' }

const tokenWithin = async (tokens: TokenCache, withinMs: number): Promise<TokenAnswer> => {
  const enough = new AbortController()
  try {
    return await Promise.race([tokens.get(), wait(Math.max(0, Math.ceil(withinMs)), late, { signal: enough.signal })])
  } finally {
    enough.abort()
  }
}

/**
 * A request with a token. A gateway that refuses the token has not processed the request, so it is safe to send it once more with a fresh
 * one; a second refusal proves that nothing was sent. The time of a permission covers the wait for the token and for the connection.
 */
export const authorizedExchange = async (deps: Deps, request: ExchangeRequest): Promise<Exchange> => {
  const { permission } = request
  const from = performance.now()
  const leftMs = () => (permission ? permission.withinMs - (performance.now() - from) : 0)
  for (let attempt = 1; attempt <= 2; attempt += 1) {
    const token = await (permission ? tokenWithin(deps.tokens, leftMs()) : deps.tokens.get())
    if (token.kind === 'none') return notSent(token.code, token.message)
    const answer = await exchange({
      ...request,
      headers: { ...request.headers, authorization: `Bearer ${token.value}` },
      permission: permission && { ...permission, withinMs: leftMs() },
    })
    if (answer.kind !== 'answer' || !deps.refusesToken(answer)) return answer
    deps.tokens.reject(token.value)
  }
  return notSent('token_refused', 'The provider refused our access token.')
}
