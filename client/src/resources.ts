import { Pages } from './pages.ts'
import type { Answer, Body, Item, Method, MethodOf, Path, Query } from './route-types.ts'
import type { CallOptions } from './transport.ts'
import { isFinal, type WaitOptions, waitUntil } from './wait-for.ts'

/** One call of any route, typed by the API document. */
export type Input<P extends Path, M extends MethodOf<P>> = CallOptions & {
  path?: Record<string, string>
  body?: Body<P, M>
  query?: Query<P, M>
}
export type Call = <P extends Path, M extends Method & MethodOf<P>>(
  method: M,
  path: P,
  input?: Input<P, M>,
) => Promise<Answer<P, M>>

type ListPath = { [P in Path]: [Item<P>] extends [never] ? never : P }[Path]
/** A list's filters; the client handles the pages itself. */
export type Filters<P extends ListPath> = Omit<Query<P, 'get' & MethodOf<P>>, 'cursor'>
type Pageable = { data: never[]; next_cursor: string | null }

const lists =
  (call: Call) =>
  <P extends ListPath>(
    path: P,
    filters: Partial<Filters<P>> | undefined,
    options: CallOptions & { path?: Record<string, string> } = {},
  ) =>
    new Pages<Item<P>>(async (cursor) => {
      const query = { ...filters, ...(cursor !== undefined && { cursor }) }
      const answer: unknown = await call('get' as Method & MethodOf<P>, path, { ...options, query } as Input<
        P,
        Method & MethodOf<P>
      >)
      return answer as Pageable & { data: Item<P>[] }
    })

/** A method for each operation that an integration uses; `client.call` reaches every other one. */
export const createResources = (call: Call) => {
  const list = lists(call)
  const getPayment = (id: string, options?: CallOptions) => call('get', '/v1/payments/{id}', { ...options, path: { id } })
  const getTopUp = (id: string, options?: CallOptions) => call('get', '/v1/topups/{id}', { ...options, path: { id } })
  return {
    account: {
      get: (options?: CallOptions) => call('get', '/v1/accounts/me', options),
      history: (filters?: Partial<Filters<'/v1/accounts/me/history'>>, options?: CallOptions) =>
        list('/v1/accounts/me/history', filters, options),
    },
    credentials: {
      /** What this credential may do, and how much of it is left. */
      current: (options?: CallOptions) => call('get', '/v1/credentials/current', options),
    },
    apiKeys: {
      create: (body: Body<'/v1/accounts/me/api-keys', 'post'>, options?: CallOptions) =>
        call('post', '/v1/accounts/me/api-keys', { ...options, body }),
      list: (options?: CallOptions) => list('/v1/accounts/me/api-keys', undefined, options),
      get: (id: string, options?: CallOptions) => call('get', '/v1/accounts/me/api-keys/{id}', { ...options, path: { id } }),
      update: (id: string, body: Body<'/v1/accounts/me/api-keys/{id}', 'patch'>, options?: CallOptions) =>
        call('patch', '/v1/accounts/me/api-keys/{id}', { ...options, path: { id }, body }),
      rotate: (id: string, body: Body<'/v1/accounts/me/api-keys/{id}/rotate', 'post'> = {}, options?: CallOptions) =>
        call('post', '/v1/accounts/me/api-keys/{id}/rotate', { ...options, path: { id }, body }),
      revoke: (id: string, options?: CallOptions) =>
        call('delete', '/v1/accounts/me/api-keys/{id}', { ...options, path: { id } }),
    },
    grants: {
      list: (options?: CallOptions) => list('/v1/accounts/me/grants', undefined, options),
      get: (id: string, options?: CallOptions) => call('get', '/v1/accounts/me/grants/{id}', { ...options, path: { id } }),
      update: (id: string, body: Body<'/v1/accounts/me/grants/{id}', 'patch'>, options?: CallOptions) =>
        call('patch', '/v1/accounts/me/grants/{id}', { ...options, path: { id }, body }),
      revoke: (id: string, options?: CallOptions) => call('delete', '/v1/accounts/me/grants/{id}', { ...options, path: { id } }),
    },
    workspaces: {
      list: (options?: CallOptions) => list('/v1/workspaces', undefined, options),
      current: (options?: CallOptions) => call('get', '/v1/workspaces/current', options),
    },
    beneficiaries: {
      create: (body: Body<'/v1/beneficiaries', 'post'>, options?: CallOptions) =>
        call('post', '/v1/beneficiaries', { ...options, body }),
      list: (filters?: Partial<Filters<'/v1/beneficiaries'>>, options?: CallOptions) =>
        list('/v1/beneficiaries', filters, options),
      get: (id: string, options?: CallOptions) => call('get', '/v1/beneficiaries/{id}', { ...options, path: { id } }),
      update: (id: string, body: Body<'/v1/beneficiaries/{id}', 'patch'>, options?: CallOptions) =>
        call('patch', '/v1/beneficiaries/{id}', { ...options, path: { id }, body }),
      archive: (id: string, options?: CallOptions) => call('delete', '/v1/beneficiaries/{id}', { ...options, path: { id } }),
    },
    policies: {
      create: (body: Body<'/v1/spending-policies', 'post'>, options?: CallOptions) =>
        call('post', '/v1/spending-policies', { ...options, body }),
      list: (options?: CallOptions) => list('/v1/spending-policies', undefined, options),
      get: (id: string, options?: CallOptions) => call('get', '/v1/spending-policies/{id}', { ...options, path: { id } }),
      update: (id: string, body: Body<'/v1/spending-policies/{id}', 'patch'>, options?: CallOptions) =>
        call('patch', '/v1/spending-policies/{id}', { ...options, path: { id }, body }),
      archive: (id: string, options?: CallOptions) => call('delete', '/v1/spending-policies/{id}', { ...options, path: { id } }),
    },
    payments: {
      create: (body: Body<'/v1/payments', 'post'>, options?: CallOptions) => call('post', '/v1/payments', { ...options, body }),
      simulate: (body: Body<'/v1/spending-policies/simulate', 'post'>, options?: CallOptions) =>
        call('post', '/v1/spending-policies/simulate', { ...options, body }),
      list: (filters?: Partial<Filters<'/v1/payments'>>, options?: CallOptions) => list('/v1/payments', filters, options),
      get: getPayment,
      receipt: (id: string, options?: CallOptions) => call('get', '/v1/payments/{id}/receipt', { ...options, path: { id } }),
      cancel: (id: string, options?: CallOptions) => call('post', '/v1/payments/{id}/cancel', { ...options, path: { id } }),
      /** Waits until the payment has ended. `unknown` is not an end: the wait continues. */
      waitFor: (id: string, { stopAt = [], ...options }: WaitOptions = {}) =>
        waitUntil(
          () => getPayment(id, options.signal ? { signal: options.signal } : {}),
          (payment) => isFinal(payment) || stopAt.includes(payment.status),
          options,
        ),
    },
    approvals: {
      list: (filters?: Partial<Filters<'/v1/approvals'>>, options?: CallOptions) => list('/v1/approvals', filters, options),
      get: (id: string, options?: CallOptions) => call('get', '/v1/approvals/{id}', { ...options, path: { id } }),
      decide: (id: string, body: Body<'/v1/approvals/{id}/decide', 'post'>, options?: CallOptions) =>
        call('post', '/v1/approvals/{id}/decide', { ...options, path: { id }, body }),
      message: (id: string, decision: 'approve' | 'reject', options?: CallOptions) =>
        call('get', '/v1/approvals/{id}/message', { ...options, path: { id }, query: { decision } }),
      decideBySignature: (id: string, body: Body<'/v1/approvals/{id}/decide-by-signature', 'post'>, options?: CallOptions) =>
        call('post', '/v1/approvals/{id}/decide-by-signature', { ...options, path: { id }, body }),
    },
    mandates: {
      prepare: (body: Body<'/v1/intent-mandates/prepare', 'post'>, options?: CallOptions) =>
        call('post', '/v1/intent-mandates/prepare', { ...options, body }),
      create: (body: Body<'/v1/intent-mandates', 'post'>, options?: CallOptions) =>
        call('post', '/v1/intent-mandates', { ...options, body }),
      list: (options?: CallOptions) => list('/v1/intent-mandates', undefined, options),
      get: (id: string, options?: CallOptions) => call('get', '/v1/intent-mandates/{id}', { ...options, path: { id } }),
      revoke: (id: string, options?: CallOptions) =>
        call('post', '/v1/intent-mandates/{id}/revoke', { ...options, path: { id } }),
    },
    topups: {
      initiate: (body: Body<'/v1/topups/initiate', 'post'>, options?: CallOptions) =>
        call('post', '/v1/topups/initiate', { ...options, body }),
      get: getTopUp,
      /** Waits until it has succeeded, failed or expired. Even a failed one may succeed later, when the provider proves it. */
      waitFor: (id: string, options: { timeoutMs?: number; signal?: AbortSignal } = {}) =>
        waitUntil(
          () => getTopUp(id, options.signal ? { signal: options.signal } : {}),
          ({ status }) => status !== 'pending',
          options,
        ),
    },
  }
}
