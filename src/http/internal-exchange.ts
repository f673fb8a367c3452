import { EventEmitter } from 'node:events'
import { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import type { Principal } from '../auth/principal.ts'

// A request and a response without a socket, for a call that the process makes to itself. They have what Fastify uses of Node's own, whose
// streams and headers cost more than the rest of such a call.

/** The caller in whose name the service calls one of its own routes. */
export type Acting = Pick<FastifyRequest, 'id' | 'reauthenticate'> & { caller: Principal }

export type InternalRequest = {
  as: Acting
  method: string
  url: string
  headers: Readonly<Record<string, string>>
  remoteAddress: string
  body: Buffer | undefined
}
export type InternalResponse = { status: number; headers: Readonly<Record<string, unknown>>; text: string }

const host = 'localhost:80'

class RequestWithoutSocket extends Readable {
  readonly httpVersion = '1.1'
  readonly httpVersionMajor = 1
  readonly httpVersionMinor = 1
  readonly aborted = false
  readonly method: string
  readonly url: string
  readonly headers: Record<string, string>
  readonly socket: { remoteAddress: string }
  readonly #body: Buffer | undefined
  readonly #as: Acting

  constructor({ as, method, url, headers, remoteAddress, body }: InternalRequest) {
    super()
    this.#as = as
    this.method = method
    this.url = url
    this.headers = { host, ...headers }
    this.socket = { remoteAddress }
    this.#body = body
  }

  static actingFor(request: object): Acting | undefined {
    return #as in request ? request.#as : undefined
  }

  override _read(): void {
    if (this.#body) this.push(this.#body)
    this.push(null)
  }
}

/**
 * The caller is known by the object of the request, which only this process can make, and by nothing that can be sent: no header and no address
 * can imitate it. It is a private field: a weak map of requests costs three times as much, most of it in the garbage collector.
 */
export const actingFor = (request: object): Acting | undefined => RequestWithoutSocket.actingFor(request)

class ResponseWithoutSocket extends EventEmitter {
  statusCode = 200
  headersSent = false
  writableEnded = false
  writableFinished = false
  readonly destroyed = false
  #headers: Record<string, unknown> = {}
  readonly #chunks: Buffer[] = []
  #text = ''

  setHeader(name: string, value: unknown): this {
    this.#headers[name.toLowerCase()] = value
    return this
  }
  getHeader(name: string): unknown {
    return this.#headers[name.toLowerCase()]
  }
  getHeaders(): Record<string, unknown> {
    return this.#headers
  }
  hasHeader(name: string): boolean {
    return Object.hasOwn(this.#headers, name.toLowerCase())
  }
  removeHeader(name: string): void {
    delete this.#headers[name.toLowerCase()]
  }
  /** Fastify's names are in lower case. */
  writeHead(status: number, headers: Readonly<Record<string, unknown>> = {}): this {
    this.statusCode = status
    this.#headers = Object.assign(this.#headers, headers)
    this.headersSent = true
    return this
  }
  write(chunk: string | Uint8Array): boolean {
    this.#chunks.push(Buffer.from(chunk))
    return true
  }
  /** As with a socket, hooks that wait for the end run after the caller of `end` has returned. */
  end(payload?: string | Uint8Array | null): this {
    if (this.writableEnded) return this
    if (typeof payload === 'string' && this.#chunks.length === 0) this.#text = payload
    else {
      if (payload) this.write(payload)
      this.#text = Buffer.concat(this.#chunks).toString()
    }
    this.headersSent = true
    this.writableEnded = true
    process.nextTick(() => {
      this.writableFinished = true
      this.emit('finish')
      this.emit('close')
    })
    return this
  }
  destroy(error?: Error): this {
    if (!this.writableEnded) process.nextTick(() => this.emit('error', error ?? new Error('an internal call was not answered')))
    return this
  }
  get answer(): InternalResponse {
    return { status: this.statusCode, headers: this.#headers, text: this.#text }
  }
}

/** Resolves when the answer has ended and everything that waits for its end has run. */
export const exchange = (
  request: InternalRequest,
  serve: (request: object, response: object) => void,
): Promise<InternalResponse> =>
  new Promise((resolve, reject) => {
    const response = new ResponseWithoutSocket()
    response.once('close', () => resolve(response.answer))
    response.once('error', reject)
    serve(new RequestWithoutSocket(request), response)
  })
