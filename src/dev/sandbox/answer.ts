import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import { type Journal, maskedParty } from './journal.ts'
import type { EffectOn, Rules, Target } from './rules.ts'

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

const instead = (answer: EmulatedAnswer): Fault => ({ kind: 'answer', takesEffect: false, ...answer })

const faults: Readonly<Record<Exclude<EffectOn<'request'>, 'delay'>, Fault>> = {
  drop: { kind: 'hang', takesEffect: false },
  lose_answer: { kind: 'reset', takesEffect: true },
  html: { kind: 'answer', takesEffect: false, status: 502, body: '<html>Bad Gateway</html>', contentType: 'text/html' },
  error_500: instead(gatewayError(500, '500.001.1001', 'Server Error')),
  spike_arrest: instead(gatewayError(429, '500.003.02', 'Error Occurred: Spike Arrest Violation')),
  outage: { kind: 'reset', takesEffect: false },
}

export const cut = (reply: FastifyReply): FastifyReply => {
  reply.hijack()
  reply.raw.socket?.resetAndDestroy()
  return reply
}

const sendFault = (reply: FastifyReply, fault: Fault): FastifyReply => {
  if (fault.kind === 'reset') return cut(reply)
  if (fault.kind === 'hang') return reply.hijack()
  if (fault.location !== undefined) reply.header('location', fault.location)
  return reply
    .code(fault.status)
    .type(fault.contentType ?? 'application/json')
    .send(fault.body)
}

/** `faulty: false` for requests before the real one (for its token). */
type Options = { path: string; target: Target; faulty?: boolean }

export const createFaults = (rules: Rules, journal: Journal) => {
  const ordered: Fault[] = []
  return {
    failNext: (fault: Fault): void => void ordered.push(fault),
    respond: async (reply: FastifyReply, answer: () => EmulatedAnswer, { path, target, faulty = true }: Options) => {
      const note = (status: number | string) =>
        journal.note('received', { path, rail: target.rail, party: maskedParty(target.party), answer: status })
      const rule = faulty ? rules.take('request', target) : undefined
      const ruled = rule && rule.effect !== 'delay' ? faults[rule.effect] : undefined
      const fault = faulty ? (ordered.shift() ?? ruled) : undefined
      if (fault) {
        if (fault.takesEffect) answer()
        note(fault.kind === 'answer' ? fault.status : fault.kind)
        return sendFault(reply, fault)
      }
      const payload = answer()
      note(payload.lost ? 'lost' : payload.status)
      if (rule) await wait(rule.delay_ms)
      if (payload.delayMs) await wait(payload.delayMs)
      return payload.lost ? cut(reply) : reply.code(payload.status).send(payload.body)
    },
  }
}

export type Respond = ReturnType<typeof createFaults>['respond']
