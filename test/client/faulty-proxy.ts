import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The fate of the next request through this proxy. */
export type Fault =
  /** The connection breaks before the request reaches the service. */
  | { kind: 'lost' }
  /** The service acts, and its answer never arrives. */
  | { kind: 'answer lost' }
  /** The service acts, and half of its answer arrives. */
  | { kind: 'answer cut' }
  /** The proxy itself answers instead of the service. */
  | { kind: 'answer'; status: number; headers?: Record<string, string>; body?: string }
  | { kind: 'none' }

export type Seen = { method: string; path: string; key: string | undefined; lastEventId: string | undefined }

export type FaultyProxy = {
  url: string
  /** Faults for the next requests, one each. Later requests pass unchanged. */
  faults: Fault[]
  seen: Seen[]
  /** Breaks every open event stream. */
  cutStreams: () => void
  /** Changes the service's events on their way. */
  rewrite: (change: ((block: string) => string) | undefined) => void
  close: () => Promise<void>
}

const bodyOf = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

const header = (request: IncomingMessage, name: string) => {
  const value = request.headers[name]
  return typeof value === 'string' ? value : undefined
}

/** A proxy between a client and the service that breaks connections on command. */
export const startFaultyProxy = async (target: string): Promise<FaultyProxy> => {
  const faults: Fault[] = []
  const seen: Seen[] = []
  const streams = new Set<ServerResponse>()
  let change: ((block: string) => string) | undefined

  const stream = async (response: ServerResponse, answer: Response, abort: AbortController) => {
    streams.add(response)
    response.writeHead(answer.status, { 'content-type': 'text/event-stream' })
    response.on('close', () => {
      streams.delete(response)
      abort.abort()
    })
    const decoder = new TextDecoder()
    let rest = ''
    for await (const chunk of answer.body ?? []) {
      const blocks = (rest + decoder.decode(chunk, { stream: true })).split('\n\n')
      rest = blocks.pop() ?? ''
      for (const block of blocks) response.write(change ? change(`${block}\n\n`) : `${block}\n\n`)
    }
    response.end()
  }

  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const path = request.url ?? '/'
    const method = request.method ?? 'GET'
    seen.push({ method, path, key: header(request, 'idempotency-key'), lastEventId: header(request, 'last-event-id') })
    const fault = faults.shift() ?? { kind: 'none' }
    const body = await bodyOf(request)
    if (fault.kind === 'lost') return request.socket.destroy()
    if (fault.kind === 'answer') return response.writeHead(fault.status, fault.headers).end(fault.body)
    const { host: _host, connection: _connection, 'content-length': _length, ...headers } = request.headers
    const abort = new AbortController()
    const answer = await fetch(target + path, {
      method,
      redirect: 'manual',
      headers: headers as Record<string, string>,
      signal: abort.signal,
      ...(body.length > 0 && { body: new Uint8Array(body) }),
    })
    if (answer.headers.get('content-type')?.startsWith('text/event-stream')) return stream(response, answer, abort)
    const bytes = Buffer.from(await answer.arrayBuffer())
    if (fault.kind === 'answer lost') return request.socket.destroy()
    const passed = [...answer.headers].filter(
      ([name]) => !['content-encoding', 'content-length', 'transfer-encoding', 'connection'].includes(name),
    )
    response.writeHead(answer.status, [...passed.flat(), 'content-length', String(bytes.length)])
    if (fault.kind === 'answer cut') {
      response.write(bytes.subarray(0, bytes.length / 2))
      return setImmediate(() => request.socket.destroy())
    }
    return response.end(bytes)
  }

  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    faults,
    seen,
    cutStreams: () => {
      for (const response of streams) response.destroy()
    },
    rewrite: (rule) => {
      change = rule
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
