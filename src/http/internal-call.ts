import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyRequest } from 'fastify'
import type { Principal } from '../auth/principal.ts'
import { newId } from '../lib/ids.ts'
import type { App } from './app-type.ts'

export type OuterRequest = Pick<FastifyRequest, 'id' | 'reauthenticate'> & { caller: Principal }
export type InternalCall = {
  method: 'GET' | 'POST' | 'DELETE'
  path: string
  query?: Readonly<Record<string, string | number | undefined>>
  body?: object
  idempotencyKey?: string
}
export type InternalAnswer = { status: number; replayed: boolean; retryAfterSeconds: number | undefined; body: unknown }

/** A call identifies its caller by 32 random bytes, valid once and only in this process, so outsiders cannot forge the header. */
const header = 'internal-call'
const announced = new Map<string, OuterRequest>()
const callers = new WeakMap<object, OuterRequest>()

export const outerRequestOf = (request: object): OuterRequest | undefined => callers.get(request)

/** An internal call has the id of the request that made it. */
export const requestIdOf = (request: { headers: IncomingHttpHeaders }): string => {
  const token = String(request.headers[header])
  const outer = announced.get(token)
  // The id begins with its time, by which the request log finds its entry.
  if (!outer) return newId()
  announced.delete(token)
  callers.set(request, outer)
  return outer.id
}

/** Runs a route with its hooks, validation and serializer. Authentication and rate limits applied to the outer request. */
export const callRoute = async (app: App, outer: OuterRequest, call: InternalCall): Promise<InternalAnswer> => {
  const token = randomBytes(32).toString('hex')
  announced.set(token, outer)
  const query = Object.entries(call.query ?? {}).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]))
  const { statusCode, headers, payload } = await app
    .inject({
      method: call.method,
      url: call.path,
      query: Object.fromEntries(query),
      remoteAddress: outer.caller.origin.ip ?? '127.0.0.1',
      headers: { [header]: token, ...(call.idempotencyKey !== undefined && { 'idempotency-key': call.idempotencyKey }) },
      ...(call.body && { payload: call.body }),
    })
    .finally(() => announced.delete(token))
  const retryAfter = Number(headers['retry-after'])
  return {
    status: statusCode,
    replayed: headers['idempotency-replayed'] === 'true',
    retryAfterSeconds: Number.isFinite(retryAfter) ? retryAfter : undefined,
    body: payload === '' ? undefined : JSON.parse(payload),
  }
}
