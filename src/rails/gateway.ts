import { createHash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { type Clock, secondsAfter } from '../lib/clock.ts'
import type { Provider } from '../lib/rail-names.ts'
import { type Exchange, exchange, type Permission, urlAt } from './exchange.ts'
import { textField } from './fields.ts'
import type { AdapterDeps, HeldToken, NoToken, SendPermission } from './rail.ts'

type GatewayOptions = {
  provider: Provider
  credentials: readonly string[]
  baseUrl: string
  timeoutMs: number
  obtain: () => Promise<HeldToken | NoToken>
  refusesToken: (answer: { status: number; body: unknown }) => boolean
}

type SendMore = { headers?: Record<string, string>; permission?: Permission | undefined }
/** Sends a POST if there is a body. `ready` obtains the token that requests need. */
export type Send = ((path: string, body?: object, more?: SendMore) => Promise<Exchange>) & { ready: () => Promise<void> }

/** A rate limit rejects a request before it is processed, whatever the body of the response. */
export const throttled = {
  kind: 'not_sent',
  code: 'throttled',
  message: 'The provider takes no more requests right now.',
} as const

const late: NoToken = { code: 'not_connected_in_time', message: 'The provider gave no access token in time.' }

export const createGateway = (options: GatewayOptions, { clock, shareToken }: AdapterDeps): Send => {
  const { provider, credentials, baseUrl, timeoutMs, obtain, refusesToken } = options
  let held: HeldToken | undefined
  let refused: string | undefined
  let underWay: Promise<HeldToken | NoToken> | undefined

  const renew = async (): Promise<HeldToken | NoToken> => {
    const token = await (shareToken ? shareToken({ provider, credentials, refused, fetch: obtain }) : obtain())
    if ('value' in token) held = token
    return token
  }
  const getToken = async (): Promise<HeldToken | NoToken> => {
    if (held && held.until > clock.now()) return held
    underWay ??= renew().finally(() => {
      underWay = undefined
    })
    return underWay
  }
  const tokenWithin = async (withinMs: number): Promise<HeldToken | NoToken> => {
    const enough = new AbortController()
    try {
      return await Promise.race([getToken(), wait(Math.max(0, Math.ceil(withinMs)), late, { signal: enough.signal })])
    } finally {
      enough.abort()
    }
  }

  /**
   * If the gateway rejects the token, it has not processed the request, so resending once is safe. A second rejection proves that
   * nothing was sent. The permission's time limit includes waiting for the token and the connection.
   */
  const send = async (path: string, body?: object, { headers = {}, permission }: SendMore = {}): Promise<Exchange> => {
    const method = body === undefined ? 'GET' : 'POST'
    const from = performance.now()
    const leftMs = () => (permission ? permission.withinMs - (performance.now() - from) : 0)
    for (let attempt = 1; attempt <= 2; attempt += 1) {
      const token = await (permission ? tokenWithin(leftMs()) : getToken())
      if (!('value' in token)) return { kind: 'not_sent', ...token }
      const answer = await exchange({
        method,
        url: urlAt(baseUrl, path),
        headers: { ...headers, authorization: `Bearer ${token.value}` },
        body,
        timeoutMs,
        permission: permission && { ...permission, withinMs: leftMs() },
      })
      if (answer.kind !== 'answer') return answer
      if (answer.status === 429) return throttled
      if (!refusesToken(answer)) return answer
      // Discards only the rejected token, because a slow request must not discard its successor.
      if (held?.value === token.value) {
        refused = token.value
        held = undefined
      }
    }
    return { kind: 'not_sent', code: 'token_refused', message: 'The provider refused our access token.' }
  }
  return Object.assign(send, { ready: async () => void (await getToken()) })
}

/** How long before its expiry a token is renewed, so that no request in progress uses an expired token. */
const marginSeconds = 60
/** Lifetime of a token without a stated expiry. */
const shortSeconds = 60

export const readToken = (
  answer: Exchange,
  named: string,
  secondsIn: (body: unknown) => number,
  clock: Clock,
): HeldToken | NoToken => {
  const value = answer.kind === 'answer' && answer.status === 200 ? textField(answer.body, named) : undefined
  if (answer.kind !== 'answer' || value === undefined)
    return { code: 'token_unavailable', message: 'The provider gave no access token.' }
  const stated = secondsIn(answer.body)
  const seconds = Number.isFinite(stated) && stated > 0 ? stated : shortSeconds
  return { value, until: secondsAfter(clock.now(), Math.max(seconds - marginSeconds, seconds / 2)) }
}

/** A hash of the order in the provider's format, because a repeat must be byte for byte the same order. */
const fingerprintOf = (order: object): Buffer => createHash('sha256').update(JSON.stringify(order)).digest()

export const permissionFor = (permission: SendPermission | undefined, order: object): Permission | undefined =>
  permission && { withinMs: permission.withinMs, take: () => permission.take(fingerprintOf(order)) }
