import { AsyncLocalStorage } from 'node:async_hooks'
import type { FastifyRequest } from 'fastify'
import type { Principal } from '../auth/principal.ts'
import type { App } from './app-type.ts'

/** The caller in whose name the service calls one of its own routes. */
export type Acting = Pick<FastifyRequest, 'id' | 'reauthenticate'> & { caller: Principal }

/**
 * The caller is stored in the asynchronous context of the call and nowhere in the request, so no header and no address can imitate it. The
 * route checks its permission, its idempotency key and everything else as usual; only authentication and rate limits were done before.
 */
const acting = new AsyncLocalStorage<Acting>()

export const actingFor = (): Acting | undefined => acting.getStore()

export type InternalCall = {
  method: 'GET' | 'POST' | 'DELETE'
  path: string
  query?: Readonly<Record<string, string | undefined>>
  body?: object
  idempotencyKey?: string
}
export type InternalAnswer = { status: number; replayed: boolean; retryAfterSeconds: number | undefined; body: unknown }

const search = (query: InternalCall['query']): string => {
  const parameters = Object.entries(query ?? {}).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, value]],
  )
  return parameters.length === 0 ? '' : `?${new URLSearchParams(parameters)}`
}

/** Calls a route of this service without leaving the process. */
export const callRoute = (app: App, as: Acting, call: InternalCall): Promise<InternalAnswer> =>
  acting.run(as, async () => {
    const answer = await app.inject({
      method: call.method,
      url: call.path + search(call.query),
      remoteAddress: as.caller.origin.ip ?? '127.0.0.1',
      headers: {
        ...(call.body !== undefined && { 'content-type': 'application/json' }),
        ...(call.idempotencyKey !== undefined && { 'idempotency-key': call.idempotencyKey }),
      },
      ...(call.body !== undefined && { payload: JSON.stringify(call.body) }),
    })
    const retryAfter = Number(answer.headers['retry-after'])
    return {
      status: answer.statusCode,
      replayed: answer.headers['idempotency-replayed'] === 'true',
      retryAfterSeconds: Number.isFinite(retryAfter) ? retryAfter : undefined,
      body: answer.body === '' ? undefined : JSON.parse(answer.body),
    }
  })
