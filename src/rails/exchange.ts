import type { LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'
import { request as overHttp } from 'node:http'
import { request as overHttps } from 'node:https'
import { connect as connectPlain, isIP, type LookupFunction, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { inSpan } from '../lib/tracing.ts'
import { parseJson, textField } from './fields.ts'

/** `not_sent`: no connection was made. `lost`: the request may have arrived. `body`: undefined if not JSON. */
export type Exchange =
  | { kind: 'answer'; status: number; body: unknown }
  | { kind: 'not_sent'; code: string; message: string }
  | { kind: 'lost'; message: string }

/** Requested on an open connection, right before the first byte. If it returns false, nothing is sent. */
export type Permission = { withinMs: number; take: () => Promise<boolean> }

export type ExchangeRequest = {
  method: 'GET' | 'POST'
  url: string
  headers: Record<string, string>
  body?: unknown
  timeoutMs: number
  permission?: Permission | undefined
}

/** A provider's base URL may end with a slash. */
export const urlAt = (baseUrl: string, path = ''): string => baseUrl.replace(/\/+$/, '') + path

const lookUpAll = (name: string): Promise<LookupAddress[]> => lookup(name, { all: true })

/**
 * Shares one lookup of a host name among callers. The system's lookup blocks one of the process's four threads until name servers
 * respond, so a few payments could block all of them. Each caller keeps its own deadline.
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

const shared = createLookup()

/** Nothing can have been sent before the promise resolves. */
const connect = (url: URL, lookup: LookupFunction, signal: AbortSignal): Promise<Socket> => {
  const isSecure = url.protocol === 'https:'
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const to = { host, port: Number(url.port) || (isSecure ? 443 : 80), lookup }
  return new Promise((resolve, reject) => {
    const socket = isSecure
      ? connectTls({ ...to, ALPNProtocols: ['http/1.1'], ...(isIP(host) === 0 && { servername: host }) })
      : connectPlain(to)
    const abort = () => socket.destroy(new Error('the time was over'))
    signal.addEventListener('abort', abort, { once: true })
    socket.once('error', reject)
    socket.once(isSecure ? 'secureConnect' : 'connect', () => {
      signal.removeEventListener('abort', abort)
      socket.off('error', reject)
      // Prevents an unhandled error on a reset. `send` checks `socket.writable` afterwards.
      socket.on('error', () => undefined)
      resolve(socket)
    })
  })
}

/** The largest responses are pages of 100 payments. */
const maxAnswerBytes = 8 * 1024 * 1024

const readText = async (response: AsyncIterable<Buffer>): Promise<string> => {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response) {
    bytes += chunk.length
    if (bytes > maxAnswerBytes) throw new Error('the answer is too long')
    chunks.push(chunk)
  }
  return new TextDecoder().decode(Buffer.concat(chunks))
}

const sendRequest = (input: ExchangeRequest, socket: Socket, signal: AbortSignal): Promise<Exchange> => {
  const url = new URL(input.url)
  const body = input.body === undefined ? undefined : JSON.stringify(input.body)
  const headers = {
    accept: 'application/json',
    connection: 'close',
    ...(body !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
    ...input.headers,
  }
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? overHttps : overHttp
    const request = send(url, { method: input.method, createConnection: () => socket, signal, headers })
    request.once('error', reject)
    request.once('response', (response) => {
      readText(response).then(
        (text) => resolve({ kind: 'answer', status: response.statusCode ?? 0, body: parseJson(text) }),
        reject,
      )
    })
    request.end(body)
  })
}

const notSent = (code: string, message: string): Exchange => ({ kind: 'not_sent', code, message })

const send = async (input: ExchangeRequest, lookup: LookupFunction): Promise<Exchange> => {
  const { permission } = input
  const signal = AbortSignal.timeout(input.timeoutMs)
  const connectSignal = permission
    ? AbortSignal.any([signal, AbortSignal.timeout(Math.max(0, Math.ceil(permission.withinMs)))])
    : signal
  let socket: Socket
  try {
    socket = await connect(new URL(input.url), lookup, connectSignal)
  } catch (error) {
    const code = connectSignal.aborted ? 'not_connected_in_time' : (textField(error, 'code') ?? 'unreachable')
    return notSent(code, 'The provider could not be reached.')
  }
  try {
    if (permission && !(await permission.take())) return notSent('not_permitted', 'The right to send was refused.')
    if (!socket.writable || socket.readableEnded) return notSent('connection_closed', 'The provider closed the connection.')
    try {
      return await sendRequest(input, socket, signal)
    } catch {
      const message = signal.aborted ? 'The provider did not answer in time.' : 'The connection was lost before the answer.'
      return { kind: 'lost', message }
    }
  } finally {
    socket.destroy()
  }
}

/**
 * Never throws for network failures. The deadline covers the entire exchange. Redirects are not followed, because a 307 would
 * send a payment twice. Connections are not reused: if the provider closed an idle one, an unsent payment would count as lost.
 */
export const exchange = (request: ExchangeRequest, lookup: LookupFunction = shared): Promise<Exchange> => {
  // The path is omitted, because it may contain a provider's id.
  const { host } = new URL(request.url)
  return inSpan(`rail ${request.method}`, { 'server.address': host, 'http.request.method': request.method }, () =>
    send(request, lookup),
  )
}
