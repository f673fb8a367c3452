import { createHash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { secondsAfter } from '../lib/clock.ts'
import type { Provider } from '../lib/rail-names.ts'
import { type Exchange, type ExchangeRequest, exchange, type Permission } from './exchange.ts'
import { textField } from './fields.ts'
import type { AdapterDeps, HeldToken, NoToken, SendPermission } from './rail.ts'

export type Token = { value: string; lifetimeSeconds: number }
type TokenAnswer = { kind: 'token'; value: string } | ({ kind: 'none' } & NoToken)

/** Renewed this long before it expires, so that no request is under way with an expired token. */
const marginSeconds = 60

/** `credentials`: what a token is given for. `refusesToken`: the gateway did not accept the token, so it has not processed the request. */
type GatewayOptions = {
  provider: Provider
  credentials: readonly string[]
  baseUrl: string
  timeoutMs: number
  obtain: () => Promise<Token | NoToken>
  refusesToken: (answer: { status: number; body: unknown }) => boolean
}

/**
 * One token for all requests, fetched once however many ask at the same time. `reject` discards a token that the provider refused, but only
 * that one: a slower request must not discard its successor.
 */
const createTokenCache = ({ provider, credentials, obtain }: GatewayOptions, { clock, shareToken }: AdapterDeps) => {
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

type TokenCache = ReturnType<typeof createTokenCache>

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
const authorizedExchange = async (
  tokens: TokenCache,
  refusesToken: GatewayOptions['refusesToken'],
  request: ExchangeRequest,
): Promise<Exchange> => {
  const { permission } = request
  const from = performance.now()
  const leftMs = () => (permission ? permission.withinMs - (performance.now() - from) : 0)
  for (let attempt = 1; attempt <= 2; attempt += 1) {
    const token = await (permission ? tokenWithin(tokens, leftMs()) : tokens.get())
    if (token.kind === 'none') return notSent(token.code, token.message)
    const answer = await exchange({
      ...request,
      headers: { ...request.headers, authorization: `Bearer ${token.value}` },
      permission: permission && { ...permission, withinMs: leftMs() },
    })
    if (answer.kind !== 'answer' || !refusesToken(answer)) return answer
    tokens.reject(token.value)
  }
  return notSent('token_refused', 'The provider refused our access token.')
}

type SendMore = { headers?: Record<string, string>; permission?: Permission | undefined }
/** Sends to a path of the provider: what has a body is a POST. `ready` gets the token that it needs. */
export type Send = ((path: string, body?: object, more?: SendMore) => Promise<Exchange>) & { ready: () => Promise<void> }

export const createGateway = (options: GatewayOptions, deps: AdapterDeps): Send => {
  const tokens = createTokenCache(options, deps)
  const { baseUrl, timeoutMs, refusesToken } = options
  const send = (path: string, body?: object, { headers = {}, permission }: SendMore = {}): Promise<Exchange> => {
    const method = body === undefined ? 'GET' : 'POST'
    return authorizedExchange(tokens, refusesToken, { method, url: baseUrl + path, headers, body, timeoutMs, permission })
  }
  return Object.assign(send, { ready: async () => void (await tokens.get()) })
}

/** An answer to a request for a token. A lifetime that cannot be read counts as short, not as endless. */
export const readToken = (answer: Exchange, named: string, secondsIn: (body: unknown) => number): Token | NoToken => {
  const value = answer.kind === 'answer' && answer.status === 200 ? textField(answer.body, named) : undefined
  if (answer.kind !== 'answer' || value === undefined)
    return { code: 'token_unavailable', message: 'The provider gave no access token.' }
  const seconds = secondsIn(answer.body)
  return { value, lifetimeSeconds: Number.isFinite(seconds) && seconds > 0 ? seconds : 60 }
}

/** Of an order as the provider gets it: a repeat must be the same order to the byte. */
const fingerprintOf = (order: object): Buffer => createHash('sha256').update(JSON.stringify(order)).digest()

export const permissionFor = (permission: SendPermission | undefined, order: object): Permission | undefined =>
  permission && { withinMs: permission.withinMs, take: () => permission.take(fingerprintOf(order)) }
