import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { AnyRail, Provider } from '../../lib/rail-names.ts'
import { type Journal, maskedParty } from './journal.ts'
import type { EffectOn, Rules } from './rules.ts'
import type { Tokens } from './tokens.ts'

/** An endpoint's response. `lost`: the request takes effect, but the connection is closed without a response. */
export type EmulatedAnswer = { status: number; body: unknown; lost?: boolean; delayMs?: number }

/** A fault for the next request. `takesEffect`: whether the provider processes the request before the fault. */
export type Fault = { takesEffect: boolean } & (
  | { kind: 'reset' }
  | { kind: 'hang' }
  | { kind: 'answer'; status: number; body: unknown; contentType?: string; location?: string }
)

export const gatewayError = (status: number, errorCode: string, errorMessage: string): EmulatedAnswer => ({
  status,
  body: { requestId: randomUUID(), errorCode, errorMessage },
})

const faultOf = (answer: EmulatedAnswer): Fault => ({ kind: 'answer', takesEffect: false, ...answer })

const faults: Readonly<Record<Exclude<EffectOn<'request'>, 'delay'>, Fault>> = {
  drop: { kind: 'hang', takesEffect: false },
  lose_answer: { kind: 'reset', takesEffect: true },
  html: { kind: 'answer', takesEffect: false, status: 502, body: '<html>Bad Gateway</html>', contentType: 'text/html' },
  error_500: faultOf(gatewayError(500, '500.001.1001', 'Server Error')),
  spike_arrest: faultOf(gatewayError(429, '500.003.02', 'Error Occurred: Spike Arrest Violation')),
  outage: { kind: 'reset', takesEffect: false },
}

export const resetConnection = (reply: FastifyReply): FastifyReply => {
  reply.hijack()
  reply.raw.socket?.resetAndDestroy()
  return reply
}

const sendFault = (reply: FastifyReply, fault: Fault): FastifyReply => {
  if (fault.kind === 'reset') return resetConnection(reply)
  if (fault.kind === 'hang') return reply.hijack()
  if (fault.location !== undefined) reply.header('location', fault.location)
  return reply
    .code(fault.status)
    .type(fault.contentType ?? 'application/json')
    .send(fault.body)
}

type Answer<P> = (provider: P, request: FastifyRequest) => EmulatedAnswer

/** Parses the body and calls the handler. If the body does not match the form, calls `invalid` with the faulty field. */
export const validated =
  <P>(invalid: (field: string) => EmulatedAnswer) =>
  <Form extends z.ZodType>(
    form: Form,
    answer: (provider: P, body: z.output<Form>, request: FastifyRequest) => EmulatedAnswer,
  ): Answer<P> =>
  (provider, request) => {
    const { success, data, error } = form.safeParse(request.body)
    return success ? answer(provider, data, request) : invalid(error.issues[0]?.path.join('.') ?? 'payload')
  }

/** A provider's endpoints. All except `login` need a token. `skipsFaults`: faults apply only to orders and queries for orders. */
export type Gateway<P> = {
  name: Provider
  login: { method: 'GET' | 'POST'; url: string; answer: Answer<P> }
  refuseToken: (authorization: string | undefined) => EmulatedAnswer
  partyOf: (body: unknown) => string | null
  endpoints: Readonly<Record<string, { method?: 'GET'; rail: AnyRail | null; answer: Answer<P>; skipsFaults?: true }>>
}
export type Serve = <P extends { tokens: Readonly<Record<Provider, Tokens>> }>(provider: P, gateway: Gateway<P>) => void

/** The first of these decides a response: an unknown token, a queued fault, a rule's fault, the endpoint itself. */
export const createGateways = (app: FastifyInstance, rules: Rules, journal: Journal) => {
  const queuedFaults: Fault[] = []
  const serve: Serve = (provider, { name, login, refuseToken, partyOf, endpoints }) => {
    const { method, url } = login
    const logIn = (request: FastifyRequest, reply: FastifyReply) => {
      const { status, body } = login.answer(provider, request)
      return reply.code(status).send(body)
    }
    app.route({ method, url, handler: logIn })
    for (const [path, { method = 'POST', rail, answer, skipsFaults }] of Object.entries(endpoints)) {
      const handler = async (request: FastifyRequest, reply: FastifyReply) => {
        const { authorization } = request.headers
        const isKnown = provider.tokens[name].accepts(authorization)
        const target = { rail, party: partyOf(request.body) }
        const logReceived = (status: number | string) =>
          journal.add('received', { path, rail, party: maskedParty(target.party), answer: status })
        const isFaulty = isKnown && !skipsFaults
        const rule = isFaulty ? rules.takeMatching('request', target) : undefined
        const faultOfRule = rule && rule.effect !== 'delay' ? faults[rule.effect] : undefined
        const fault = isFaulty ? (queuedFaults.shift() ?? faultOfRule) : undefined
        if (fault) {
          if (fault.takesEffect) answer(provider, request)
          logReceived(fault.kind === 'answer' ? fault.status : fault.kind)
          return sendFault(reply, fault)
        }
        const { status, body, lost, delayMs } = isKnown ? answer(provider, request) : refuseToken(authorization)
        logReceived(lost ? 'lost' : status)
        if (rule) await wait(rule.delay_ms)
        if (delayMs) await wait(delayMs)
        return lost ? resetConnection(reply) : reply.code(status).send(body)
      }
      app.route({ method, url: path, handler })
    }
  }
  return { failNext: (fault: Fault): void => void queuedFaults.push(fault), serve }
}
