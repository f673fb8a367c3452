import type { Logger } from 'pino'
import type { App } from './app-type.ts'

/** One line for each request, with the caller and without path or body: these contain ids and destinations. */
export const registerRequestLog = (app: App, logger: Logger): void => {
  if (!logger.isLevelEnabled('info')) return
  app.addHook('onResponse', (request, reply, done) => {
    done()
    const { config } = request.routeOptions
    if (config.internal && reply.statusCode < 400) return
    const { caller } = request
    request.log.info(
      {
        operation: config.operation,
        method: request.method,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime),
        ...(caller && { account: caller.accountId, credential: `${caller.credential.kind}:${caller.credential.id}` }),
      },
      'request',
    )
  })
}
