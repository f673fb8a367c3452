import { describeError, translateDatabaseError } from '../db/errors.ts'
import type { App } from '../http/app-type.ts'
import { Refusal } from '../lib/errors.ts'

const statusOf = (error: unknown): number => {
  if (translateDatabaseError(error) instanceof Refusal) return 503
  const requestedStatus = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500
  return requestedStatus >= 400 && requestedStatus < 500 ? requestedStatus : 500
}

/** Answers with the status alone. Does not log a path (it may contain a secret) or the values of a statement. */
export const registerOperatorErrors = (app: App): void => {
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ error: 'not_found' }))
  app.setErrorHandler((error, request, reply) => {
    // The sender has gone before its body was here: there is nobody to answer, and nothing of ours failed.
    const left = request.raw.destroyed && !request.raw.complete
    const status = left ? 400 : statusOf(error)
    if (left) app.log.debug('a sender on the private listener left before its body had arrived')
    if (status >= 500) app.log.error(describeError(error), 'a request on the private listener failed')
    return reply
      .code(status)
      .send({ error: status === 503 ? 'unavailable' : status >= 500 ? 'internal_error' : 'invalid_request' })
  })
}
