import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Principal } from '../auth/principal.ts'
import { parseAnyId } from '../lib/ids.ts'
import type { App } from './app-type.ts'
import { isUnsafe } from './authorize.ts'

/** What a caller asked for and how it was answered: never with a body. */
export type AnsweredRequest = {
  caller: Principal
  operation: string
  method: string
  path: string
  status: number
  error: string | null
  message: string | null
  requestId: string
  ms: number
}

/** A parameter that is no id may be a secret (a device's user code), so only its name is kept. */
const pathOf = ({ routeOptions, url }: FastifyRequest): string => {
  const sent = url.split('?')[0]?.split('/') ?? []
  const segments = (routeOptions.url ?? '').split('/')
  return segments.map((name, at) => (name.startsWith(':') && parseAnyId(sent[at] ?? '') ? sent[at] : name)).join('/')
}

const isRecorded = ({ method, routeOptions: { config } }: FastifyRequest, status: number): boolean =>
  status >= 400 || (isUnsafe(method) && !config.changesNothing)

const longestMessage = 1_000

const answerOf = (request: FastifyRequest, reply: FastifyReply, caller: Principal): AnsweredRequest => ({
  caller,
  operation: request.routeOptions.config.operation ?? '',
  method: request.method,
  path: pathOf(request),
  status: reply.statusCode,
  error: request.refusal?.code ?? null,
  message: request.refusal?.message.slice(0, longestMessage) ?? null,
  requestId: request.id,
  ms: Math.round(reply.elapsedTime),
})

/** Tells `note` of every request of a known caller that was refused, failed or changed something, after its answer was sent. */
export const registerRequestRecords = (app: App, note: (answered: AnsweredRequest) => void): void => {
  app.addHook('onResponse', (request, reply, done) => {
    done()
    const { caller, routeOptions } = request
    if (caller && routeOptions.config.operation !== undefined && isRecorded(request, reply.statusCode))
      note(answerOf(request, reply, caller))
  })
}
