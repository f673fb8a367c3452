import type { LookupFunction } from 'node:net'
import { type Exchange, type ExchangeRequest, exchange } from './exchange.ts'
import type { TokenCache } from './token-cache.ts'

type Deps = {
  lookup?: LookupFunction | undefined
  tokens: TokenCache
  refusesToken: (answer: { status: number; body: unknown }) => boolean
}

const notSent = (code: string, message: string): Exchange => ({ kind: 'not_sent', code, message })

/**
 * A request with a token. A gateway that refuses the token has not processed the request, so it is safe to send it once more with a fresh
 * one; a second refusal proves that nothing was sent.
 */
export const authorizedExchange = async (
  deps: Deps,
  request: ExchangeRequest,
  mayStillSend: () => boolean = () => true,
): Promise<Exchange> => {
  for (let attempt = 1; attempt <= 2; attempt += 1) {
    const token = await deps.tokens.get()
    if (token.kind === 'none') return notSent(token.code, token.message)
    // Time may have passed: waiting for the token, or a process that slept. The attempt may have been recorded as not sent meanwhile; then
    // nothing is sent.
    if (!mayStillSend()) return notSent('too_late', 'The time to send it was over.')
    const answer = await exchange(
      { ...request, headers: { ...request.headers, authorization: `Bearer ${token.value}` } },
      deps.lookup,
    )
    if (answer.kind !== 'answer' || !deps.refusesToken(answer)) return answer
    deps.tokens.reject(token.value)
  }
  return notSent('token_refused', 'The provider refused our access token.')
}
