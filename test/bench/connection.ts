import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import type { Json } from '../harness/client.ts'

export const say = (text: string): void => void process.stdout.write(`${text}\n`)

/** `credential` is a bearer, or `cookie …`. A `{n}` in a body becomes a number of eight digits, another each time. */
export type LoadRequest = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  path: string
  credential?: string
  body?: unknown
  form?: Record<string, string>
  accept?: string
}
export type Answer = { status: number; head: string; text: () => string }

let written = Math.floor(Math.random() * 80_000_000)
const run = Math.random().toString(36).slice(2, 10)

const textOf = ({ method, path, credential = '', body, form, accept }: LoadRequest, host: string): string => {
  written += 1
  const number = String(10_000_000 + (written % 90_000_000))
  const headers = [`${method} ${path} HTTP/1.1`, `host: ${host}`]
  if (credential.startsWith('cookie ')) headers.push(`cookie: service_session=${credential.slice(7)}`)
  else if (credential !== '') headers.push(`authorization: Bearer ${credential}`)
  if (accept) headers.push(`accept: ${accept}`)
  const text = form ? String(new URLSearchParams(form)) : (JSON.stringify(body)?.replaceAll('{n}', number) ?? '')
  if (text !== '') headers.push(`content-type: application/${form ? 'x-www-form-urlencoded' : 'json'}`)
  if (method !== 'GET') headers.push(`content-length: ${Buffer.byteLength(text)}`, `idempotency-key: ${run}-${written}`)
  return `${headers.join('\r\n')}\r\n\r\n${text}`
}

/** One connection, which is kept, and one request at a time. It costs a tenth of Node's own client, which would take the service's core. */
export class Connection {
  readonly url: URL
  #socket: Socket | undefined
  #received: Buffer = Buffer.alloc(0)
  #waiting: { resolve: (answer: Answer) => void; reject: (error: Error) => void } | undefined

  constructor(url: string) {
    this.url = new URL(url)
  }

  send(request: LoadRequest): Promise<Answer> {
    this.#socket ??= this.#open()
    this.#socket.write(textOf(request, this.url.host))
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
    })
  }

  close(): void {
    this.#socket?.destroy()
  }

  #open(): Socket {
    const socket = connect({ host: '127.0.0.1', port: Number(this.url.port), noDelay: true })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      this.#socket = undefined
      this.#received = Buffer.alloc(0)
      this.#waiting?.reject(new Error('the connection ended'))
    })
    return socket.on('data', (part) => {
      this.#received = this.#received.length === 0 ? part : Buffer.concat([this.#received, part])
      this.#read(this.#received)
    })
  }

  #read(all: Buffer): void {
    const end = all.indexOf('\r\n\r\n')
    if (end < 0) return
    const head = all.toString('latin1', 0, end)
    const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1]
    const isChunked = length === undefined && /\r\ntransfer-encoding: chunked/i.test(head)
    if (isChunked ? !all.subarray(-5).equals(Buffer.from('0\r\n\r\n')) : all.length < end + 4 + Number(length ?? 0)) return
    this.#received = Buffer.alloc(0)
    this.#waiting?.resolve({ status: Number(head.slice(9, 12)), head, text: () => all.toString('utf8', end + 4) })
  }
}

/** The answer's JSON. Where the service has too much to do, it is asked again; another refusal ends the bench. */
export const jsonOf = async (connection: Connection, request: LoadRequest): Promise<Json> => {
  const { status, text } = await connection.send(request)
  if (status === 503) return wait(200).then(() => jsonOf(connection, request))
  if (status >= 400) throw new Error(`${request.method} ${request.path}: ${status} ${text().slice(0, 300)}`)
  return JSON.parse(text() || 'null')
}

/** Work for each of many, by 32 connections. */
export const forEach = async <T>(url: string, items: readonly T[], work: (item: T, connection: Connection) => Promise<void>) => {
  const left = [...items]
  const drain = async () => {
    const connection = new Connection(url)
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item, connection)
    connection.close()
  }
  await Promise.all(Array.from({ length: Math.min(32, items.length) }, drain))
}
