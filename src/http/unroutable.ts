import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { Refusal } from '../lib/errors.ts'
import { type MakeEnvelope, retryHeader } from './envelope.ts'
import { lostPage, opensPage } from './page.ts'

// Refusals before there is a route, and so before any hook: the same envelope, written directly.

const headersOf = (requestId: string): Record<string, string> => ({
  'content-type': 'application/json',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-request-id': requestId,
})

/** A path that cannot be decoded, or with a part that is too long, names nothing. */
export const refuseUnroutable =
  (envelope: MakeEnvelope) => (_error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
    const refusal = new Refusal('not_found', { message: 'There is no such path.' })
    reply.hijack()
    if (opensPage(request)) {
      const { headers, html } = lostPage(request.id)
      reply.raw.writeHead(refusal.status, { ...headersOf(request.id), ...headers }).end(html)
      return
    }
    reply.raw
      .writeHead(refusal.status, { ...headersOf(request.id), ...retryHeader(refusal) })
      .end(JSON.stringify(envelope(refusal, request.id)))
  }

const refusalOf = (code: string | undefined): Refusal => {
  if (code === 'HPE_HEADER_OVERFLOW') return new Refusal('payload_too_large', { message: 'The request headers are too large.' })
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new Refusal('invalid_request', { message: 'The request did not arrive in time.' })
  return new Refusal('invalid_request', { message: 'This is not a well-formed HTTP request.' })
}

/** Input that is not HTTP: it is answered, so that a person with a broken client sees the reason, and the connection is closed. */
export const refuseGarbage = (envelope: MakeEnvelope) => (error: Error & { code?: string }, socket: Socket) => {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  // A browser opens connections before it needs them: an answer to one on which nothing was sent would be taken for that of its first request.
  if (socket.bytesRead === 0) {
    socket.destroy()
    return
  }
  const requestId = randomUUID()
  const refusal = refusalOf(error.code)
  const body = JSON.stringify(envelope(refusal, requestId))
  const headers = {
    ...headersOf(requestId),
    ...retryHeader(refusal),
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  if (socket.writable)
    socket.write([`HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}`, ...lines, '', body].join('\r\n'))
  socket.destroySoon()
}
