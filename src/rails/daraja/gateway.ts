import { authorizedExchange } from '../authorized.ts'
import { type Exchange, type ExchangeRequest, exchange, type Permission } from '../exchange.ts'
import { textField } from '../json.ts'
import { createTokenCache, type NoToken, type Token } from '../token-cache.ts'
import type { DarajaDeps, DarajaOptions } from './options.ts'

/** The gateway's answer when it did not accept the token; it has not processed the request then. */
const tokenRefusals = new Set(['401.002.01', '401.003.01', '404.001.03', '404.001.04'])

/** The token is good, and the app may not call this: "Invalid API call as no apiproduct match found". */
export const lacksProduct = (message: string | undefined): boolean => /apiproduct/i.test(message ?? '')

export type Post = ((path: string, body: object, permission?: Permission) => Promise<Exchange>) & {
  ready: () => Promise<void>
}

export const obtainToken = async (options: DarajaOptions): Promise<Token | NoToken> => {
  const basic = Buffer.from(`${options.consumerKey}:${options.consumerSecret}`, 'utf8').toString('base64')
  const request: ExchangeRequest = {
    method: 'GET',
    url: `${options.baseUrl}/oauth/v1/generate?grant_type=client_credentials`,
    headers: { authorization: `Basic ${basic}` },
    timeoutMs: options.timeoutMs,
  }
  const answer = await exchange(request)
  const value = answer.kind === 'answer' && answer.status === 200 ? textField(answer.body, 'access_token') : undefined
  if (answer.kind !== 'answer' || value === undefined)
    return { code: 'token_unavailable', message: 'The provider gave no access token.' }
  // Seconds as a string or a number; an unreadable value counts as short, not as endless.
  const seconds = Number.parseInt(textField(answer.body, 'expires_in') ?? '', 10)
  return { value, lifetimeSeconds: Number.isFinite(seconds) && seconds > 0 ? seconds : 60 }
}

export const createGateway = (options: DarajaOptions, deps: DarajaDeps): Post => {
  const tokens = createTokenCache({
    ...deps,
    provider: 'MPESA',
    credentials: [options.baseUrl, options.consumerKey, options.consumerSecret],
    obtain: () => obtainToken(options),
  })
  const refusesToken = ({ body }: { body: unknown }) =>
    tokenRefusals.has(textField(body, 'errorCode') ?? '') && !lacksProduct(textField(body, 'errorMessage'))
  const post = (path: string, body: object, permission?: Permission) =>
    authorizedExchange(
      { tokens, refusesToken },
      { method: 'POST', url: `${options.baseUrl}${path}`, headers: {}, body, timeoutMs: options.timeoutMs, permission },
    )
  return Object.assign(post, { ready: async () => void (await tokens.get()) })
}
