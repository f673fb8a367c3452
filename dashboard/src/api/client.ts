import { ConnectionError, type ListOptions, Payments, PaymentsError } from '#client'
import type { Body, Method, MethodOf, Path, Query } from '../../../client/src/route-types.ts'
import { recordCall } from '../lib/recent-calls.ts'
import { noteServerTime } from '../lib/time.ts'
import { chosenWorkspace } from './chosen-workspace.ts'
import { ApiError, unreachable } from './error.ts'
import { isolateTexts, withoutIsolation } from './isolate.ts'
import { withProof } from './step-up.ts'

/** Every request is about this tab's workspace, and is recorded for people who want to send the same request from a script. */
const sendOnce: typeof fetch = async (address, init) => {
  const request = new Request(address, init)
  const workspace = chosenWorkspace()
  // The person who signs in may not be the one who chose it.
  const signsIn = new URL(request.url).pathname.startsWith('/v1/auth/')
  // A request that names its workspace itself is about another one than this tab's.
  if (workspace !== null && !signsIn && !request.headers.has('Workspace-Id')) request.headers.set('Workspace-Id', workspace)
  const response = await fetch(request)
  noteServerTime(response.headers.get('date'))
  if (response.ok && request.method !== 'GET')
    recordCall(request, typeof init?.body === 'string' ? init.body : '', response.headers.get('x-request-id'))
  return response
}

const send: typeof fetch = (address, init) => withProof(() => sendOnce(address, init))

/** Nothing is sent again beneath the cache: it decides what to read again, and a person what to send again. */
const payments = new Payments({ baseUrl: location.origin, credentials: 'same-origin', retries: 0, fetch: send })

export type PathWith<M extends Method> = { [P in Path]: M extends MethodOf<P> ? P : never }[Path]
type RequestOptions<P extends Path, M extends Method & MethodOf<P>> = {
  path?: Record<string, string>
  query?: Query<P, M>
  body?: Body<P, M>
  headers?: Record<string, string>
}

/** What was answered, or the refusal as the pages show it. */
const shown = async <Data>(answering: Promise<Data>): Promise<Data> => {
  try {
    return await answering
  } catch (error) {
    if (error instanceof PaymentsError) throw new ApiError(error)
    throw error instanceof ConnectionError ? unreachable() : error
  }
}

const by =
  <M extends Method>(method: M) =>
  async <P extends PathWith<M>>(route: P, { path, query, headers, body }: RequestOptions<P, M & MethodOf<P>> = {}) => {
    const { 'Idempotency-Key': idempotencyKey, ...others } = headers ?? {}
    const key = idempotencyKey !== undefined && { idempotencyKey }
    const sent = body !== undefined && { body: withoutIsolation(body) }
    const asked = { ...(path && { path }), ...(query && { query }) }
    const answer = await shown(payments.call(method as M & MethodOf<P>, route, { ...asked, ...sent, ...key, headers: others }))
    // A receipt is verified byte for byte.
    return route.endsWith('/receipt') ? answer : isolateTexts(answer)
  }

/** The routes by method, typed by the API document. */
export const api = { GET: by('get'), POST: by('post'), PUT: by('put'), PATCH: by('patch'), DELETE: by('delete') }

/** A list of payments in CSV, checked or paid. */
export const paymentLists = {
  check: (csv: string, options: ListOptions) => shown(payments.batches.checkCsv(csv, options)),
  pay: (csv: string, options: ListOptions, idempotencyKey: string) =>
    shown(payments.batches.fromCsv(csv, options, { idempotencyKey })),
}

/** For a request about a workspace other than this tab's. */
export const inWorkspace = (id: string) => ({ headers: { 'Workspace-Id': id } })
