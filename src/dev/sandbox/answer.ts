import { randomUUID } from 'node:crypto'
import type { FastifyReply } from 'fastify'

/** An endpoint's answer; `lost` cuts the connection instead, after the request has had its effect. `delayMs`: it comes late. */
export type EmulatedAnswer = { status: number; body: unknown; lost?: boolean; delayMs?: number }

/** A fault for the next request: `takesEffect` says whether the provider acts on the request before the fault. */
export type Fault = { takesEffect: boolean } & (
  | { kind: 'reset' }
  | { kind: 'hang' }
  | { kind: 'answer'; status: number; body: unknown; contentType?: string; location?: string }
)

export const gatewayError = (status: number, errorCode: string, errorMessage: string): EmulatedAnswer => ({
  status,
  body: { requestId: randomUUID(), errorCode, errorMessage },
})

const cut = (reply: FastifyReply): FastifyReply => {
  reply.hijack()
  reply.raw.socket?.resetAndDestroy()
  return reply
}

export const sendFault = (reply: FastifyReply, fault: Fault): FastifyReply => {
  switch (fault.kind) {
    case 'reset':
      return cut(reply)
    case 'hang':
      return reply.hijack()
    case 'answer':
      if (fault.location !== undefined) reply.header('location', fault.location)
      return reply
        .code(fault.status)
        .type(fault.contentType ?? 'application/json')
        .send(fault.body)
  }
}

export const sendAnswer = (reply: FastifyReply, answer: EmulatedAnswer): FastifyReply =>
  answer.lost ? cut(reply) : reply.code(answer.status).send(answer.body)
