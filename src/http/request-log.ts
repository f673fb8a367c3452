import type { Logger } from 'pino'
import type { Principal } from '../auth/principal.ts'
import { formatId, isIdKind } from '../lib/ids.ts'
import type { App } from './app-type.ts'

/** What a load balancer asks every second says nothing while it is answered. */
const probes: ReadonlySet<string | undefined> = new Set(['service.health', 'service.ready'])

/** As the API names it; what has no name there, such as a token, by its id. */
const nameOf = ({ kind, id }: Principal['credential']): string => (isIdKind(kind) ? formatId(kind, id) : `${kind}:${id}`)

/** One line for each request, with the caller as the API names it, and without path or body: these may contain destinations. */
export const registerRequestLog = (app: App, logger: Logger): void => {
  if (!logger.isLevelEnabled('info')) return
  app.addHook('onResponse', (request, reply, done) => {
    done()
    const { config } = request.routeOptions
    if (reply.statusCode < 400 && (config.internal || probes.has(config.operation))) return
    const { caller } = request
    request.log.info(
      {
        operation: config.operation,
        method: request.method,
        status: reply.statusCode,
        ...(request.refusal && { code: request.refusal.code }),
        ms: Math.round(reply.elapsedTime),
        address: request.ip,
        ...(caller && { account: formatId('account', caller.accountId), credential: nameOf(caller.credential) }),
      },
      'request',
    )
  })
}
