import type { App } from './app-type.ts'
import { type Acting, exchange } from './internal-exchange.ts'

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

/**
 * Calls a route of this service without leaving the process: through all of its hooks, its validation and its serializer. The route checks the
 * caller's permission, its idempotency key and everything else as usual; only authentication and rate limits were done before.
 */
export const callRoute = async (app: App, as: Acting, call: InternalCall): Promise<InternalAnswer> => {
  // Of Node's request and response Fastify uses no more than these have.
  const serve = app.routing as (request: object, response: object) => void
  const body = call.body === undefined ? undefined : Buffer.from(JSON.stringify(call.body))
  const { status, headers, text } = await exchange(
    {
      as,
      method: call.method,
      url: call.path + search(call.query),
      remoteAddress: as.caller.origin.ip ?? '127.0.0.1',
      headers: {
        ...(body && { 'content-type': 'application/json', 'content-length': String(body.length) }),
        ...(call.idempotencyKey !== undefined && { 'idempotency-key': call.idempotencyKey }),
      },
      body,
    },
    serve,
  )
  const retryAfter = Number(headers['retry-after'])
  return {
    status,
    replayed: headers['idempotency-replayed'] === 'true',
    retryAfterSeconds: Number.isFinite(retryAfter) ? retryAfter : undefined,
    body: text === '' ? undefined : JSON.parse(text),
  }
}
