import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import type { Principal } from '../auth/principal.ts'
import { formatId, isIdKind, parseAnyId } from '../lib/ids.ts'
import { cleanText } from '../lib/text.ts'
import type { App } from './app-type.ts'
import { isUnsafe } from './authorize.ts'

const probes: ReadonlySet<string | undefined> = new Set(['service.health', 'service.ready'])

/** The id of the credential in the API's form. A token has no such id, so its UUID is used. */
const nameOf = ({ kind, id }: Principal['credential']): string => (isIdKind(kind) ? formatId(kind, id) : `${kind}:${id}`)

/** The record that the request returned or named. A response that is a record begins with its id. */
const answeredId = (payload: unknown): string | undefined =>
  typeof payload === 'string' ? /^\{"id":"([a-z]{3}_[0-9a-z]{26})"/.exec(payload)?.[1] : undefined
const namedId = (params: unknown): string | undefined =>
  Object.values(params ?? {}).find((value) => typeof value === 'string' && parseAnyId(value) !== undefined)

/** A log line contains no path and no body, because both may contain destinations. */
export const registerRequestLog = (app: App, logger: Logger): void => {
  if (!logger.isLevelEnabled('info')) return
  app.decorateRequest('answeredId', null)
  app.addHook('onSend', (request, _reply, payload, done) => {
    request.answeredId = answeredId(payload) ?? null
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    done()
    const { config } = request.routeOptions
    if (reply.statusCode < 400 && (config.internal || probes.has(config.operation))) return
    const { caller } = request
    const named = namedId(request.params)
    const subject = request.answeredId ?? named
    request.log.info(
      {
        operation: config.operation,
        method: request.method,
        status: reply.statusCode,
        ...(subject !== undefined && { subject }),
        ...(named !== undefined && named !== subject && { named }),
        ...(request.refusal && { code: request.refusal.code }),
        ms: Math.round(reply.elapsedTime),
        address: request.ip,
        ...(caller && { account: formatId('account', caller.accountId), credential: nameOf(caller.credential) }),
      },
      'request',
    )
  })
}

/** A parameter that is not an id may be a secret (a device's user code), so only its name is logged. */
const pathOf = ({ routeOptions, url }: FastifyRequest): string => {
  const sent = url.split('?')[0]?.split('/') ?? []
  const segments = (routeOptions.url ?? '').split('/')
  return segments.map((name, index) => (name.startsWith(':') && parseAnyId(sent[index] ?? '') ? sent[index] : name)).join('/')
}

const isRecorded = ({ method, routeOptions: { config } }: FastifyRequest, status: number): boolean =>
  status >= 400 || (isUnsafe(method) && !config.changesNothing)

const longestMessage = 1_000

const answerOf = (request: FastifyRequest, reply: FastifyReply, caller: Principal) => ({
  accountId: caller.accountId,
  grantId: caller.grant?.id ?? null,
  operation: request.routeOptions.config.operation ?? '',
  method: request.method,
  path: pathOf(request),
  status: reply.statusCode,
  error: request.refusal?.code ?? null,
  // The message may quote the caller's input.
  message: request.refusal ? cleanText(request.refusal.message).slice(0, longestMessage) : null,
  requestId: request.id,
  ms: Math.round(reply.elapsedTime),
})
export type AnsweredRequest = ReturnType<typeof answerOf>

/** Records each request by a known caller that was refused, failed or changed something, after its response was sent. */
export const registerRequestRecords = (app: App, note: (answered: AnsweredRequest) => void): void => {
  app.addHook('onResponse', (request, reply, done) => {
    done()
    const { caller, routeOptions } = request
    if (caller && routeOptions.config.operation !== undefined && isRecorded(request, reply.statusCode))
      note(answerOf(request, reply, caller))
  })
}
