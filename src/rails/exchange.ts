import type { LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'
import { request as overHttp } from 'node:http'
import { request as overHttps } from 'node:https'
import type { LookupFunction } from 'node:net'
import { text } from 'node:stream/consumers'
import { inSpan } from '../lib/tracing.ts'
import { parseJson, textField } from './json.ts'

/**
 * One HTTP exchange and what it proves. `not_sent`: no connection was established. `lost`: the request may have arrived.
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

/**
 * Looks up a provider's name once for all callers at the same time. The system's lookup occupies one of the four threads that file access,
 * hashing and every other lookup share, until it gives up on name servers that do not answer: without this, a few payments would occupy all
 * four. Each caller has its own deadline.
 */
export const createLookup = (resolve: (name: string) => Promise<LookupAddress[]> = lookUpAll): LookupFunction => {
  const underWay = new Map<string, Promise<LookupAddress[]>>()
  const find = (name: string): Promise<LookupAddress[]> => {
    const pending = underWay.get(name) ?? resolve(name).finally(() => underWay.delete(name))
    underWay.set(name, pending)
    return pending
  }
  return (name, options, callback) => {
    find(name).then(
      (addresses) => {
        const [first] = addresses
        if (options.all) callback(null, addresses)
        else callback(first ? null : new Error('the name has no address'), first?.address ?? '', first?.family)
      },
      (error: Error) => callback(error, '', 0),
    )
  }
}

const lookUpAll = (name: string): Promise<LookupAddress[]> => lookup(name, { all: true })

const shared = createLookup()

/**
 * Sends a request to the provider. `connected`: the name was resolved, the host reached and TLS established; before that nothing can have
 * been sent.
 */
const converse = (
  input: ExchangeRequest,
  { signal, lookup, connected }: { signal: AbortSignal; lookup: LookupFunction; connected: () => void },
): Promise<{ status: number; responseText: string }> => {
  const url = new URL(input.url)
  const isSecure = url.protocol === 'https:'
  const body = input.body === undefined ? undefined : JSON.stringify(input.body)
  const headers = {
    accept: 'application/json',
    connection: 'close',
    ...(body !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
    ...input.headers,
  }
  return new Promise((resolve, reject) => {
    const request = (isSecure ? overHttps : overHttp)(url, { method: input.method, agent: false, lookup, signal, headers })
    request.once('socket', (socket) => socket.once(isSecure ? 'secureConnect' : 'connect', connected))
    request.once('error', reject)
    request.once('response', (response) => {
      text(response).then((responseText) => resolve({ status: response.statusCode ?? 0, responseText }), reject)
    })
    request.end(body)
  })
}

const failed = (error: unknown, connected: boolean, isLate: boolean): Exchange => {
  if (!connected) {
    const code = isLate ? 'not_connected_in_time' : (textField(error, 'code') ?? 'unreachable')
    return { kind: 'not_sent', code, message: 'The provider could not be reached.' }
  }
  return {
    kind: 'lost',
    message: isLate ? 'The provider did not answer in time.' : 'The connection was lost before the answer.',
  }
}

const send = async (input: ExchangeRequest, lookup: LookupFunction): Promise<Exchange> => {
  const signal = AbortSignal.timeout(input.timeoutMs)
  let isConnected = false
  const connected = () => {
    isConnected = true
  }
  try {
    const { status, responseText } = await converse(input, { signal, lookup, connected })
    return { kind: 'answer', status, body: parseJson(responseText) }
  } catch (error) {
    return failed(error, isConnected, signal.aborted)
  }
}

/**
 * Never throws for a network failure. The deadline covers everything, from the name lookup to the last byte of the answer. Redirects are
 * not followed: a 307 would send a payment a second time. No connection is reused: one that the provider closes while it is idle would turn
 * a payment that was never sent into a lost one, and a lost one may need a person. A handshake is cheaper.
 */
export const exchange = (request: ExchangeRequest, lookup: LookupFunction = shared): Promise<Exchange> => {
  // The address may contain an id of the provider; its host identifies the provider.
  const { host } = new URL(request.url)
  return inSpan(`rail ${request.method}`, { 'server.address': host, 'http.request.method': request.method }, () =>
    send(request, lookup),
  )
}
