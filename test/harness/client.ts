import { Agent, type IncomingMessage, request } from 'node:http'
import { Agent as EncryptedAgent, request as encrypted } from 'node:https'

/** An answer, its body parsed if it is JSON. Tests look into it freely, so it is loosely typed on purpose. */
// biome-ignore lint/suspicious/noExplicitAny: a test reads every kind of answer
export type Json = any
export type Answer = { status: number; body: Json; headers: Headers; text: string }

/** `undefined` removes a header that the client sends by default. */
export type Credentials = { bearer?: string | undefined; cookie?: string | undefined }
export type CallOptions = Credentials & {
  body?: unknown
  raw?: string | Uint8Array
  headers?: Record<string, string>
  key?: string
}

export type Client = {
  url: string
  /** The credentials of every call. */
  credentials: Credentials
  call: (method: string, path: string, options?: CallOptions) => Promise<Answer>
  get: (path: string, options?: CallOptions) => Promise<Answer>
  post: (path: string, body?: unknown, options?: CallOptions) => Promise<Answer>
  patch: (path: string, body: unknown, options?: CallOptions) => Promise<Answer>
  put: (path: string, body: unknown, options?: CallOptions) => Promise<Answer>
  delete: (path: string, options?: CallOptions) => Promise<Answer>
  /** The same client with a credential in every call. */
  as: (credentials: Credentials) => Client
}

const agents = { http: new Agent({ keepAlive: true }), https: new EncryptedAgent({ keepAlive: true }) }

/** Trusts this authority's https certificates from now on. */
export const trust = (authority: string): void => {
  agents.https = new EncryptedAgent({ keepAlive: true, ca: authority })
}

/** One request without redirects. By node:http: fetch costs twice as much, a tenth of a cheap request's processor time. */
const send = (method: string, url: string, body: string | Uint8Array | undefined, headers: Record<string, string>) =>
  new Promise<{ status: number; headers: Headers; text: string }>((resolve, reject) => {
    const all = { accept: '*/*', 'user-agent': 'node', ...headers }
    const receive = (response: IncomingMessage) => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.push(part))
      response.on('error', reject)
      response.on('end', () => {
        const received = new Headers()
        for (const [name, values = []] of Object.entries(response.headersDistinct))
          for (const value of values) received.append(name, value)
        resolve({ status: response.statusCode ?? 0, headers: received, text: Buffer.concat(parts).toString() })
      })
    }
    const sent = url.startsWith('https:')
      ? encrypted(url, { method, agent: agents.https, headers: all }, receive)
      : request(url, { method, agent: agents.http, headers: all }, receive)
    sent.on('error', reject)
    sent.end(body)
  })

/** All methods of a client, built on its one call. */
export const withCall = (client: Pick<Client, 'url' | 'credentials' | 'as'>, call: Client['call']): Client => ({
  ...client,
  call,
  get: (path, options) => call('GET', path, options),
  post: (path, body, options) => call('POST', path, { ...options, ...(body !== undefined && { body }) }),
  patch: (path, body, options) => call('PATCH', path, { ...options, body }),
  put: (path, body, options) => call('PUT', path, { ...options, body }),
  delete: (path, options) => call('DELETE', path, options),
})

/** `before`: awaited before each request. */
export const createClient = (
  url: string,
  defaults: Credentials = {},
  before: (path: string) => Promise<void> | undefined = () => undefined,
): Client => {
  const call: Client['call'] = async (method, path, options = {}) => {
    await before(path)
    const { bearer, cookie } = { ...defaults, ...options }
    const text = options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body))
    const answer = await send(method, url + path, text, {
      ...(text !== undefined && { 'content-type': 'application/json' }),
      ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
      ...(cookie !== undefined && { cookie: `service_session=${cookie}` }),
      ...(options.key !== undefined && { 'idempotency-key': options.key }),
      ...options.headers,
    })
    const isJson = answer.headers.get('content-type')?.includes('json') && answer.text !== ''
    return { ...answer, body: isJson ? JSON.parse(answer.text) : undefined }
  }
  const as: Client['as'] = (credentials) => createClient(url, { ...defaults, ...credentials }, before)
  return withCall({ url, credentials: defaults, as }, call)
}
