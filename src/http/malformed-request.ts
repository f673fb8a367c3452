import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { invalidAt, Refusal } from '../lib/errors.ts'
import { refusalAnswer } from './envelope.ts'

const refusalOf = (code: string | undefined): Refusal => {
  if (code === 'HPE_HEADER_OVERFLOW') return new Refusal('payload_too_large', { message: 'The request headers are too large.' })
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return invalidAt('request', 'The request did not arrive in time.')
  return invalidAt('request', 'This is not a well-formed HTTP request.')
}

/** Responds to input that is not HTTP, so that a person with a broken client sees the reason. */
export const refuseMalformedRequest = (publicUrl: string) => (error: Error & { code?: string }, socket: Socket) => {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  // Browsers open connections in advance, and would take a response now for the response to their first request.
  if (socket.bytesRead === 0) {
    socket.destroy()
    return
  }
  const requestId = randomUUID()
  const refusal = refusalOf(error.code)
  const { headers, body } = refusalAnswer(refusal, requestId, publicUrl)
  const sent = {
    ...headers,
    'x-content-type-options': 'nosniff',
    'x-request-id': requestId,
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  }
  const lines = Object.entries(sent).map(([name, value]) => `${name}: ${value}`)
  if (socket.writable)
    socket.write([`HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}`, ...lines, '', body].join('\r\n'))
  socket.destroySoon()
}
