import { createBatches, type Post } from './batches.ts'
import { Pages } from './pages.ts'
import type { Answer, Body, Item, Method, MethodOf, Path, Query } from './route-types.ts'
import type { CallOptions } from './transport.ts'
import { isFinal, type WaitOptions, waitUntil } from './wait-for.ts'

/** Input of one call to any route, typed by the API document. */
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
/** Filters of a list. The client handles paging itself. */
export type Filters<P extends ListPath> = Omit<Query<P, 'get' & MethodOf<P>>, 'cursor'>
/** Filters without a page size, because a CSV response contains every match. */
export type CsvFilters<P extends ListPath> = Partial<Omit<Filters<P>, 'limit'>>
export type ReadText = (path: Path, type: string, query: object | undefined, options?: CallOptions) => Promise<string>
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

/** Methods for operations that integrations use. All others are available through `client.call`. */
export const createResources = (call: Call, text: ReadText, postBatch: Post) => {
  const list = lists(call)
  const getPayment = (id: string, options?: CallOptions) => call('get', '/v1/payments/{id}', { ...options, path: { id } })
  const getTopUp = (id: string, options?: CallOptions) => call('get', '/v1/topups/{id}', { ...options, path: { id } })
  const getBatch = (id: string, options?: CallOptions) => call('get', '/v1/payment-batches/{id}', { ...options, path: { id } })
  return {
    account: {
      /** The account with its capabilities, sign-in methods and the balance of its personal workspace. */
      get: (options?: CallOptions) => call('get', '/v1/accounts/me', options),
      /** Changes the display name. */
      update: (body: Body<'/v1/accounts/me', 'patch'>, options?: CallOptions) =>
        call('patch', '/v1/accounts/me', { ...options, body }),
      /** Closes the account permanently. Requires a person's session, a balance of 0 and no holds. */
      close: (options?: CallOptions) => call('delete', '/v1/accounts/me', options),
      /** Every change of the account's own balance, newest first. */
      history: (filters?: Partial<Filters<'/v1/accounts/me/history'>>, options?: CallOptions) =>
        list('/v1/accounts/me/history', filters, options),
      /** The history as CSV, with all entries that match the filters. */
      historyCsv: (filters?: CsvFilters<'/v1/accounts/me/history'>, options?: CallOptions) =>
        text('/v1/accounts/me/history', 'text/csv', filters, options),
      /** Entries booked between two dates, oldest first, with the balances before and after. */
      statement: (period?: Query<'/v1/accounts/me/statement', 'get'>, options?: CallOptions) =>
        call('get', '/v1/accounts/me/statement', { ...options, ...(period && { query: period }) }),
      /** The whole statement as CSV, with amounts in major units and local dates. */
      statementCsv: (period?: { from?: string; to?: string }, options?: CallOptions) =>
        text('/v1/accounts/me/statement', 'text/csv', period, options),
    },
    requestLog: {
      /** Requests of the last seven days that were refused, failed or changed something, newest first. */
      list: (filters?: Partial<Filters<'/v1/request-log'>>, options?: CallOptions) => list('/v1/request-log', filters, options),
    },
    credentials: {
      /** The permissions of this credential, and how much is left of its limits. */
      current: (options?: CallOptions) => call('get', '/v1/credentials/current', options),
    },
    apiKeys: {
      /**
       * Creates an API key. Only the first response contains `key`. If that response is lost, the client's retry returns the record
       * without `key`: revoke that key and create another.
       */
      create: (body: Body<'/v1/accounts/me/api-keys', 'post'>, options?: CallOptions) =>
        call('post', '/v1/accounts/me/api-keys', { ...options, body }),
      /** The API keys that this credential may see, newest first. */
      list: (filters?: Partial<Filters<'/v1/accounts/me/api-keys'>>, options?: CallOptions) =>
        list('/v1/accounts/me/api-keys', filters, options),
      /** One API key with its grant and the grant's usage. */
      get: (id: string, options?: CallOptions) => call('get', '/v1/accounts/me/api-keys/{id}', { ...options, path: { id } }),
      /** Changes the name or the spending controls. Omitted fields stay unchanged, and null removes a limit. */
      update: (id: string, body: Body<'/v1/accounts/me/api-keys/{id}', 'patch'>, options?: CallOptions) =>
        call('patch', '/v1/accounts/me/api-keys/{id}', { ...options, path: { id }, body }),
      /**
       * Creates a new key on the same grant. The old key works until the overlap has passed. If the first response is lost, the
       * client's retry returns the new key's record without `key`: rotate that new key.
       */
      rotate: (id: string, body: Body<'/v1/accounts/me/api-keys/{id}/rotate', 'post'> = {}, options?: CallOptions) =>
        call('post', '/v1/accounts/me/api-keys/{id}/rotate', { ...options, path: { id }, body }),
      /** Revokes the key. The next request with it is refused. */
      revoke: (id: string, options?: CallOptions) =>
        call('delete', '/v1/accounts/me/api-keys/{id}', { ...options, path: { id } }),
    },
    grants: {
      /** Grants of API keys and OAuth clients, newest first. */
      list: (filters?: Partial<Filters<'/v1/accounts/me/grants'>>, options?: CallOptions) =>
        list('/v1/accounts/me/grants', filters, options),
      /** One grant with its controls and usage. */
      get: (id: string, options?: CallOptions) => call('get', '/v1/accounts/me/grants/{id}', { ...options, path: { id } }),
      /** Changes the spending controls, or freezes the grant. A frozen grant authenticates but moves no money. */
      update: (id: string, body: Body<'/v1/accounts/me/grants/{id}', 'patch'>, options?: CallOptions) =>
        call('patch', '/v1/accounts/me/grants/{id}', { ...options, path: { id }, body }),
      /** Revokes the grant and all grants created through it, at once. */
      revoke: (id: string, options?: CallOptions) => call('delete', '/v1/accounts/me/grants/{id}', { ...options, path: { id } }),
    },
    workspaces: {
      /** The account's workspaces, with its role in each. */
      list: (filters?: Partial<Filters<'/v1/workspaces'>>, options?: CallOptions) => list('/v1/workspaces', filters, options),
      /** This credential's workspace, with its balance and the role in it. */
      current: (options?: CallOptions) => call('get', '/v1/workspaces/current', options),
      /** Every change of the workspace's balance, newest first. */
      history: (filters?: Partial<Filters<'/v1/workspaces/current/history'>>, options?: CallOptions) =>
        list('/v1/workspaces/current/history', filters, options),
      /** The history as CSV, with all entries that match the filters. */
      historyCsv: (filters?: CsvFilters<'/v1/workspaces/current/history'>, options?: CallOptions) =>
        text('/v1/workspaces/current/history', 'text/csv', filters, options),
      /** Entries booked on the workspace's balance between two dates, oldest first. */
      statement: (period?: Query<'/v1/workspaces/current/statement', 'get'>, options?: CallOptions) =>
        call('get', '/v1/workspaces/current/statement', { ...options, ...(period && { query: period }) }),
      /** The whole statement as CSV, with amounts in major units and local dates. */
      statementCsv: (period?: { from?: string; to?: string }, options?: CallOptions) =>
        text('/v1/workspaces/current/statement', 'text/csv', period, options),
    },
    beneficiaries: {
      /** Creates a beneficiary. Its destination is stored encrypted and never returned. */
      create: (body: Body<'/v1/beneficiaries', 'post'>, options?: CallOptions) =>
        call('post', '/v1/beneficiaries', { ...options, body }),
      /** Beneficiaries of the workspace, newest first. */
      list: (filters?: Partial<Filters<'/v1/beneficiaries'>>, options?: CallOptions) =>
        list('/v1/beneficiaries', filters, options),
      /** One beneficiary. */
      get: (id: string, options?: CallOptions) => call('get', '/v1/beneficiaries/{id}', { ...options, path: { id } }),
      /** Changes names and metadata, or freezes the beneficiary. A destination cannot be changed. */
      update: (id: string, body: Body<'/v1/beneficiaries/{id}', 'patch'>, options?: CallOptions) =>
        call('patch', '/v1/beneficiaries/{id}', { ...options, path: { id }, body }),
      /**
       * Confirms a beneficiary: keys and agents can then pay it without an approval for new beneficiaries. They cannot confirm.
       */
      confirm: (id: string, options?: CallOptions) =>
        call('post', '/v1/beneficiaries/{id}/confirm', { ...options, path: { id } }),
      /** Queries the rail again for the holder's name. The result arrives later, in `verification`. */
      verify: (id: string, options?: CallOptions) => call('post', '/v1/beneficiaries/{id}/verify', { ...options, path: { id } }),
      /** Archives the beneficiary, which can then no longer be paid. */
      archive: (id: string, options?: CallOptions) => call('delete', '/v1/beneficiaries/{id}', { ...options, path: { id } }),
      /** Payments to one beneficiary, newest first. */
      payments: (id: string, filters?: Partial<Filters<'/v1/beneficiaries/{id}/payments'>>, options?: CallOptions) =>
        list('/v1/beneficiaries/{id}/payments', filters, { ...options, path: { id } }),
    },
    policies: {
      /** Creates a spending policy: limits, and when a person must approve. */
      create: (body: Body<'/v1/spending-policies', 'post'>, options?: CallOptions) =>
        call('post', '/v1/spending-policies', { ...options, body }),
      /** The policies of the workspace, newest first. */
      list: (filters?: Partial<Filters<'/v1/spending-policies'>>, options?: CallOptions) =>
        list('/v1/spending-policies', filters, options),
      /** One policy. */
      get: (id: string, options?: CallOptions) => call('get', '/v1/spending-policies/{id}', { ...options, path: { id } }),
      /** Changes a policy. A stale `version` is refused. A deferred change appears as `pending_change`. */
      update: (id: string, body: Body<'/v1/spending-policies/{id}', 'patch'>, options?: CallOptions) =>
        call('patch', '/v1/spending-policies/{id}', { ...options, path: { id }, body }),
      /** Archives the policy, which then no longer applies to new payments. */
      archive: (id: string, options?: CallOptions) => call('delete', '/v1/spending-policies/{id}', { ...options, path: { id } }),
      /** Confirms the pending change as a second approver. The change takes effect at once. */
      confirmChange: (
        id: string,
        body: Body<'/v1/spending-policies/{id}/pending-change/confirm', 'post'>,
        options?: CallOptions,
      ) => call('post', '/v1/spending-policies/{id}/pending-change/confirm', { ...options, path: { id }, body }),
      /** Withdraws the pending change. The policy stays unchanged. */
      withdrawChange: (id: string, options?: CallOptions) =>
        call('delete', '/v1/spending-policies/{id}/pending-change', { ...options, path: { id } }),
    },
    batches: {
      ...createBatches(postBatch, getBatch),
      /** The workspace's batches, newest first. For the payments of a batch, use `payments.list({ batch_id })`. */
      list: (filters?: Partial<Filters<'/v1/payment-batches'>>, options?: CallOptions) =>
        list('/v1/payment-batches', filters, options),
      /** One batch, with the number of payments in each status. */
      get: getBatch,
      /** All lines of the batch, as covered by the approved Merkle root. */
      lines: (id: string, options?: CallOptions) => call('get', '/v1/payment-batches/{id}/lines', { ...options, path: { id } }),
      /** Cancels a batch that has not been approved or is not due yet. */
      cancel: (id: string, options?: CallOptions) =>
        call('post', '/v1/payment-batches/{id}/cancel', { ...options, path: { id } }),
    },
    payments: {
      /** Pays a beneficiary. Calls with the same idempotency key create only one payment. */
      create: (body: Body<'/v1/payments', 'post'>, options?: CallOptions) => call('post', '/v1/payments', { ...options, body }),
      /** The decision that a payment would get now, with reasons. Creates nothing. */
      simulate: (body: Body<'/v1/spending-policies/simulate', 'post'>, options?: CallOptions) =>
        call('post', '/v1/spending-policies/simulate', { ...options, body }),
      /** The payments of the workspace, newest first. */
      list: (filters?: Partial<Filters<'/v1/payments'>>, options?: CallOptions) => list('/v1/payments', filters, options),
      /** The payments as CSV, with all that match the filters. */
      csv: (filters?: CsvFilters<'/v1/payments'>, options?: CallOptions) => text('/v1/payments', 'text/csv', filters, options),
      /** Counts and totals of the payments that match the filters. */
      summary: (filters: Query<'/v1/payments/summary', 'get'> = {}, options?: CallOptions) =>
        call('get', '/v1/payments/summary', { ...options, query: filters }),
      /** One payment. */
      get: getPayment,
      /** Refused payment requests, newest first, with requester, beneficiary, amount and reason. */
      refusals: (filters?: Partial<Filters<'/v1/payment-refusals'>>, options?: CallOptions) =>
        list('/v1/payment-refusals', filters, options),
      /** The signed receipt: one document with everything that led to the payment. */
      receipt: (id: string, options?: CallOptions) => call('get', '/v1/payments/{id}/receipt', { ...options, path: { id } }),
      /** Cancels a payment that has not been sent. */
      cancel: (id: string, options?: CallOptions) => call('post', '/v1/payments/{id}/cancel', { ...options, path: { id } }),
      /** Waits until the payment has ended. `unknown` is not final, so the wait continues. */
      waitFor: (id: string, { stopAt = [], ...options }: WaitOptions = {}) =>
        waitUntil(
          () => getPayment(id, options.signal ? { signal: options.signal } : {}),
          (payment) => isFinal(payment) || stopAt.includes(payment.status),
          options,
        ),
    },
    approvals: {
      /** The approvals of the workspace, newest first. */
      list: (filters?: Partial<Filters<'/v1/approvals'>>, options?: CallOptions) => list('/v1/approvals', filters, options),
      /** One approval with its decisions and the messages that a wallet signs. */
      get: (id: string, options?: CallOptions) => call('get', '/v1/approvals/{id}', { ...options, path: { id } }),
      /** Approves or rejects with this credential. */
      decide: (id: string, body: Body<'/v1/approvals/{id}/decide', 'post'>, options?: CallOptions) =>
        call('post', '/v1/approvals/{id}/decide', { ...options, path: { id }, body }),
      /** The message that a wallet signs to decide. Needs no credential. */
      message: (id: string, decision: 'approve' | 'reject', options?: CallOptions) =>
        call('get', '/v1/approvals/{id}/message', { ...options, path: { id }, query: { decision } }),
      /** Approves or rejects with a wallet's signature of that message. Needs no credential. */
      decideBySignature: (id: string, body: Body<'/v1/approvals/{id}/decide-by-signature', 'post'>, options?: CallOptions) =>
        call('post', '/v1/approvals/{id}/decide-by-signature', { ...options, path: { id }, body }),
    },
    mandates: {
      /** The message that a wallet signs to create a mandate with these terms. Needs no credential. */
      prepare: (body: Body<'/v1/intent-mandates/prepare', 'post'>, options?: CallOptions) =>
        call('post', '/v1/intent-mandates/prepare', { ...options, body }),
      /** Creates a mandate with a wallet's signature of that message. Needs no credential. */
      create: (body: Body<'/v1/intent-mandates', 'post'>, options?: CallOptions) =>
        call('post', '/v1/intent-mandates', { ...options, body }),
      /** The mandates of the workspace, newest first. */
      list: (filters?: Partial<Filters<'/v1/intent-mandates'>>, options?: CallOptions) =>
        list('/v1/intent-mandates', filters, options),
      /** One mandate with the amount used. */
      get: (id: string, options?: CallOptions) => call('get', '/v1/intent-mandates/{id}', { ...options, path: { id } }),
      /** Revokes the mandate. Payments that name it are then refused. */
      revoke: (id: string, options?: CallOptions) =>
        call('post', '/v1/intent-mandates/{id}/revoke', { ...options, path: { id } }),
    },
    topups: {
      /** Starts a top-up, which sends a prompt to the phone's owner. */
      initiate: (body: Body<'/v1/topups/initiate', 'post'>, options?: CallOptions) =>
        call('post', '/v1/topups/initiate', { ...options, body }),
      /** One top-up. */
      get: getTopUp,
      /** Waits until the top-up has succeeded, failed or expired. A failed one can still succeed if the provider proves it. */
      waitFor: (id: string, options: { timeoutMs?: number; signal?: AbortSignal } = {}) =>
        waitUntil(
          () => getTopUp(id, options.signal ? { signal: options.signal } : {}),
          ({ status }) => status !== 'pending',
          options,
        ),
    },
    notifications: {
      /** Events that this credential may read, newest first. With `after`, the events since then, oldest first. */
      list: (filters?: Partial<Filters<'/v1/notifications'>>, options?: CallOptions) =>
        list('/v1/notifications', filters, options),
    },
  }
}
