import type { Clock } from '../../lib/clock.ts'
import { authorizedExchange } from '../authorized.ts'
import { type Exchange, type ExchangeRequest, exchange, type Permission } from '../exchange.ts'
import { asRecord, textField } from '../json.ts'
import { providerInstant } from '../nairobi-time.ts'
import { createTokenCache, type Token } from '../token-cache.ts'
import { type PesalinkDeps, type PesalinkOptions, paths } from './options.ts'

type Request = Pick<ExchangeRequest, 'method' | 'body'> & {
  path: string
  signature: string
  permission?: Permission | undefined
}
export type Send = ((request: Request) => Promise<Exchange>) & { ready: () => Promise<void> }

const unavailable = { code: 'token_unavailable', message: 'The bank gave no access token.' }

export const obtainToken = async (options: PesalinkOptions, clock: Clock): Promise<Token | typeof unavailable> => {
  const request: ExchangeRequest = {
    method: 'POST',
    url: `${options.baseUrl}${paths.token}`,
    headers: { 'api-key': options.apiKey },
    body: { merchantCode: options.merchantCode, consumerSecret: options.consumerSecret },
    timeoutMs: options.timeoutMs,
  }
  const answer = await exchange(request)
  const value = answer.kind === 'answer' && answer.status === 200 ? textField(answer.body, 'accessToken') : undefined
  if (answer.kind !== 'answer' || value === undefined) return unavailable
  // `expiresIn` is the instant of expiry; an unreadable one counts as near.
  const seconds =
    ((providerInstant(textField(answer.body, 'expiresIn') ?? '')?.getTime() ?? Number.NaN) - clock.now().getTime()) / 1000
  return { value, lifetimeSeconds: Number.isFinite(seconds) && seconds > 0 ? seconds : 60 }
}

export const createGateway = (options: PesalinkOptions, deps: PesalinkDeps): Send => {
  const tokens = createTokenCache({
    ...deps,
    provider: 'PESALINK',
    credentials: [options.baseUrl, options.merchantCode, options.apiKey, options.consumerSecret],
    obtain: () => obtainToken(options, deps.clock),
  })
  // A 401 of the bank's API itself, in JSON: a 401 of a proxy would prove nothing about the bank.
  const refusesToken = (answer: { status: number; body: unknown }) => answer.status === 401 && asRecord(answer.body) !== undefined
  const send = ({ method, path, body, signature, permission }: Request) =>
    authorizedExchange(
      { tokens, refusesToken },
      { method, url: `${options.baseUrl}${path}`, headers: { signature }, body, timeoutMs: options.timeoutMs, permission },
    )
  return Object.assign(send, { ready: async () => void (await tokens.get()) })
}
