import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import type { Json } from '../harness/client.ts'

export const say = (text: string): void => void process.stdout.write(`${text}\n`)

/** `credential` is a bearer, or `cookie …`. A `{n}` in a body becomes a number of eight digits, another each time. */
export type LoadRequest = {
  method: string
  path: string
  credential?: string
  body?: unknown
  form?: Record<string, string>
  accept?: string
}
type Answer = { status: number; text: () => string }

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

/** One kept connection, and one request at a time. Costs a tenth of Node's own client, which would take the service's core. */
export const openConnection = (url: string) => {
  const { host, port } = new URL(url)
  let socket: Socket | undefined
  let received: Buffer = Buffer.alloc(0)
  let waiting: PromiseWithResolvers<Answer> | undefined
  const open = (): Socket => {
    const opened = connect({ host: '127.0.0.1', port: Number(port), noDelay: true })
    opened.on('error', () => undefined)
    opened.on('close', () => {
      socket = undefined
      received = Buffer.alloc(0)
      waiting?.reject(new Error('the connection ended'))
    })
    return opened.on('data', (part) => {
      const all = received.length === 0 ? part : Buffer.concat([received, part])
      const end = all.indexOf('\r\n\r\n')
      const head = all.toString('latin1', 0, Math.max(0, end))
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0)
      const isWhole = end >= 0 && all.length >= end + 4 + length
      received = isWhole ? Buffer.alloc(0) : all
      if (isWhole) waiting?.resolve({ status: Number(head.slice(9, 12)), text: () => all.toString('utf8', end + 4) })
    })
  }
  const send = (request: LoadRequest): Promise<Answer> => {
    socket ??= open()
    socket.write(textOf(request, host))
    waiting = Promise.withResolvers()
    return waiting.promise
  }
  return { send, close: () => void socket?.destroy() }
}
export type Connection = ReturnType<typeof openConnection>

/** The answer's JSON. Repeats the request if the service is overloaded; any other refusal ends the bench. */
export const jsonOf = async (connection: Connection, request: LoadRequest): Promise<Json> => {
  const { status, text } = await connection.send(request)
  if (status === 503) return wait(200).then(() => jsonOf(connection, request))
  if (status >= 400) throw new Error(`${request.method} ${request.path}: ${status} ${text().slice(0, 300)}`)
  return JSON.parse(text() || 'null')
}

/** Work for each item, by 15 connections: from 16 requests on, the service may refuse some. */
export const forEach = async <T>(url: string, items: readonly T[], work: (item: T, connection: Connection) => Promise<void>) => {
  const left = [...items]
  const drain = async () => {
    const connection = openConnection(url)
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item, connection)
    connection.close()
  }
  await Promise.all(Array.from({ length: Math.min(15, items.length) }, drain))
}
