import { inSpan } from '../lib/tracing.ts'
import { field, parseJson } from './json.ts'

export type Fetch = typeof globalThis.fetch

/**
 * One HTTP exchange and what it proves. `not_sent`: the connection never stood. `lost`: the request may have arrived.
 * `answer.body` is undefined when the answer was not JSON.
 */
export type Exchange =
  | { kind: 'answer'; status: number; body: unknown }
  | { kind: 'not_sent'; code: string; message: string }
  | { kind: 'lost'; message: string }

export type ExchangeRequest = {
  method: 'GET' | 'POST'
  url: string
  headers: Record<string, string>
  body?: unknown
  timeoutMs: number
}

/** Failures that come before the first byte of a request: the name was not found, no server listened, TLS was not agreed. */
const beforeSending = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'ERR_TLS_CERT_ALTNAME_INVALID',
])

/** The code of a failure that proves that nothing was sent. A host with several addresses fails with one error per address: all must. */
const notSentCode = (error: unknown): string | undefined => {
  if (error instanceof AggregateError && error.errors.length > 0) {
    const codes = error.errors.map(notSentCode)
    return codes.includes(undefined) ? undefined : codes[0]
  }
  const code = field(error, 'code')
  if (typeof code !== 'string') return undefined
  const connecting = field(error, 'syscall') === 'connect'
  return beforeSending.has(code) || connecting ? code : undefined
}

const classifyFailure = (error: unknown): Exchange => {
  const cause = error instanceof Error ? error.cause : undefined
  const code = notSentCode(cause)
  if (code !== undefined) return { kind: 'not_sent', code, message: 'The provider could not be reached.' }
  const timedOut = error instanceof Error && error.name === 'TimeoutError'
  return {
    kind: 'lost',
    message: timedOut ? 'The provider did not answer in time.' : 'The connection was lost before the answer.',
  }
}

/**
 * Never throws. Redirects are not followed: a 307 would send a payment a second time. The time-out covers the whole exchange.
 * No connection is used twice: one that the provider closes while it idles would turn a payment that was never sent into a lost one,
 * and a lost one may need a person. A handshake is cheaper.
 */
export const exchange = (fetch: Fetch, request: ExchangeRequest): Promise<Exchange> => {
  // The address may hold an id of the provider's; its host says which one it is.
  const { host } = new URL(request.url)
  return inSpan(`rail ${request.method}`, { 'server.address': host, 'http.request.method': request.method }, () =>
    send(fetch, request),
  )
}

const send = async (fetch: Fetch, request: ExchangeRequest): Promise<Exchange> => {
  try {
    const response = await fetch(request.url, {
      method: request.method,
      headers: {
        accept: 'application/json',
        connection: 'close',
        ...(request.body !== undefined && { 'content-type': 'application/json' }),
        ...request.headers,
      },
      ...(request.body !== undefined && { body: JSON.stringify(request.body) }),
      redirect: 'manual',
      signal: AbortSignal.timeout(request.timeoutMs),
    })
    return { kind: 'answer', status: response.status, body: parseJson(await response.text()) }
  } catch (error) {
    return classifyFailure(error)
  }
}
