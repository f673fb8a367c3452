import {
  type InfiniteData,
  infiniteQueryOptions,
  keepPreviousData,
  type QueryKey,
  queryOptions,
  type UseInfiniteQueryOptions,
} from '@tanstack/react-query'
import { ConnectionError, type ListOptions, Payments, PaymentsError } from '#client'
import type { Answer, Body, Item, Method, MethodOf, Path, Query, Schemas } from '../../../client/src/route-types.ts'
import type { EventResource } from '../../../src/events/types.ts'
import { readStored, writeStored } from '../lib/store.ts'
import { syncClock } from '../lib/time.ts'
import type { PageOf } from '../live/refresh.ts'
import { ApiError, unreachable } from './error.ts'
import { isolateTexts, withoutIsolation } from './isolate.ts'
import { withProof } from './step-up.ts'

export type { Answer, Body, Schemas } from '../../../client/src/route-types.ts'

type PaymentStatus = Schemas['Payment']['status']

// The first part of a query key is the query's name in live/live.tsx. The second part of a list's key is its filters, by which
// live/refresh.ts decides whether a changed row stays in the list.

type Readable = PathWith<'get'>
type Get<P extends Readable> = 'get' & MethodOf<P>
type Paging = 'cursor' | 'limit'
/** Filters of a list, with the API's names. An undefined filter is not sent. */
export type Filters<P extends Readable> = {
  [Name in Exclude<keyof Query<P, Get<P>>, Paging>]?: Query<P, Get<P>>[Name] | undefined
}
export type Listed<Row> = UseInfiniteQueryOptions<PageOf<Row>, Error, InfiniteData<PageOf<Row>>, QueryKey, string | undefined>

const queryFor = <P extends Readable>(
  queryKey: QueryKey,
  path: P,
  asked: { path?: Record<string, string>; query?: Query<P, Get<P>> } = {},
) => queryOptions({ queryKey, queryFn: () => api.GET(path, asked) as Promise<Answer<P, Get<P>>> })

const queryById = <P extends Readable>(queryKey: QueryKey, path: P, id: string) => queryFor(queryKey, path, { path: { id } })

const first: string | undefined = undefined
const pages = {
  initialPageParam: first,
  getNextPageParam: ({ next_cursor: next }: { next_cursor: string | null }): string | undefined => next ?? undefined,
} as const

const pagedQueryFor = <P extends Readable>(
  queryKey: QueryKey,
  path: P,
  filters: Filters<P> & { limit?: number },
  settings: { staleTime?: number; placeholderData?: typeof keepPreviousData } = {},
) =>
  infiniteQueryOptions({
    queryKey,
    queryFn: ({ pageParam: cursor }) => {
      const query: object = parametersOf({ ...filters, cursor })
      return api.GET(path, { query: query as Query<P, Get<P>> }) as Promise<PageOf<Item<P>>>
    },
    ...pages,
    ...settings,
  })

export const rowsOf = <Row>({ data }: { data?: { pages: readonly { data: readonly Row[] }[] } | undefined }): Row[] =>
  data?.pages.flatMap((page) => page.data) ?? []

/** Loads all pages of a list whose first page alone would mislead. `isEnough` stops early. */
export const everyPage = async <Row>(
  read: (cursor: string | undefined) => Promise<PageOf<Row>>,
  isEnough: (items: readonly Row[]) => boolean = () => false,
): Promise<Row[]> => {
  const items: Row[] = []
  for (let cursor: string | null | undefined; cursor !== null && !isEnough(items); ) {
    const page: PageOf<Row> = await read(cursor)
    items.push(...page.data)
    cursor = page.next_cursor
  }
  return items
}

/** Shows the previous answer until the next one arrives. */
const keepPrevious = { placeholderData: keepPreviousData } as const
const neverStale = { staleTime: Number.POSITIVE_INFINITY } as const

/** Wraps a single value for a filter that takes several. */
const asArray = <Value>(value: Value | undefined): Value[] | undefined => (value === undefined ? undefined : [value])

export const accountQuery = queryFor(['account'], '/v1/accounts/me')
export const workspaceQuery = queryFor(['workspace'], '/v1/workspaces/current')
/** Whether this person administers the service. Loaded once, until the document is reloaded. */
export const credentialQuery = { ...queryFor(['credential'], '/v1/credentials/current'), ...neverStale }
export const workspacesQuery = queryOptions({
  queryKey: ['workspaces'],
  queryFn: async () => ({
    data: await everyPage((cursor) => api.GET('/v1/workspaces', { query: parametersOf({ limit: 100, cursor }) })),
  }),
})
export const passkeysQuery = pagedQueryFor(['passkeys'], '/v1/accounts/me/passkeys', { limit: 100 })
export const pushSubscriptionsQuery = queryFor(['push subscriptions'], '/v1/accounts/me/push-subscriptions', {
  query: { limit: 100 },
})
export const notificationSettingsQuery = queryFor(['notification settings'], '/v1/accounts/me/notification-settings')
/** Fails if the service sends no push notifications. */
export const pushKeyQuery = { ...queryFor(['push key'], '/v1/push/key'), ...neverStale, retry: false }
/** Banks change only with the service's configuration. */
export const banksQuery = { ...queryFor(['banks'], '/v1/banks'), ...neverStale }
export const sessionsQuery = pagedQueryFor(['sessions'], '/v1/accounts/me/sessions', {})

export type HistoryFilters = Omit<Filters<'/v1/accounts/me/history'>, 'type'> & {
  type?: Schemas['HistoryEntry']['type'] | undefined
}
/** `hasOwnBalance`: history of the workspace's own balance, instead of the account's, which other workspaces may share. */
export const historyPath = (hasOwnBalance: boolean) =>
  hasOwnBalance ? '/v1/workspaces/current/history' : '/v1/accounts/me/history'
export const historyQuery = (filters: HistoryFilters, hasOwnBalance: boolean, limit = 25) =>
  pagedQueryFor(
    ['history', filters, hasOwnBalance, limit],
    historyPath(hasOwnBalance),
    { ...filters, type: asArray(filters.type), limit },
    keepPrevious,
  )
export const historySummaryQuery = (hasOwnBalance: boolean) =>
  queryFor(
    ['summary', 'history', hasOwnBalance],
    hasOwnBalance ? '/v1/workspaces/current/history/summary' : '/v1/accounts/me/history/summary',
  )

export const separationQuery = queryFor(['separation'], '/v1/workspaces/current/separate-balance')

export type PaymentFilters = Filters<'/v1/payments'>
/** Text to search payments for. Undefined while it is too short: the service needs two characters. */
export const searchText = (text = ''): string | undefined => (text.trim().length > 1 ? text.trim() : undefined)
export const paymentsQuery = (filters: PaymentFilters, limit = 25) =>
  pagedQueryFor(['payments', filters, limit], '/v1/payments', { ...filters, limit }, keepPrevious)
export const recentPayments = 8
export const recentFilters: PaymentFilters = { batch_items: 'first' }
export const recentPaymentsQuery = paymentsQuery(recentFilters, recentPayments)
export const lastPaymentQuery = (grantId: string) =>
  queryFor(['payments', 'last', grantId], '/v1/payments', { query: { grant_id: grantId, limit: 1 } })
export const paymentsSummaryQuery = (filters: Filters<'/v1/payments/summary'>, days = 30) => ({
  ...queryFor(['summary', 'payments', filters, days], '/v1/payments/summary', { query: parametersOf({ ...filters, days }) }),
  ...keepPrevious,
})
/** Rails stopped by the service or a provider, with reasons. */
export const readinessQuery = { ...queryFor(['readiness'], '/readyz'), refetchInterval: 30_000 }
export const attentionQuery = queryFor(['summary', 'attention'], '/v1/payments/attention')
export type RefusalFilters = Filters<'/v1/payment-refusals'>
export const refusalsQuery = (filters: RefusalFilters, limit = 25) =>
  pagedQueryFor(['refusals', filters, limit], '/v1/payment-refusals', { ...filters, limit }, keepPrevious)
export const paymentQuery = (id: string) => queryById(['payment', id], '/v1/payments/{id}', id)

export const batchesQuery = (q: string | undefined) =>
  pagedQueryFor(['payments', 'batches', q], '/v1/payment-batches', { q }, keepPrevious)
export const batchQuery = (id: string) => queryById(['payment', 'batch', id], '/v1/payment-batches/{id}', id)
/** The lines of a batch never change. */
export const batchLinesQuery = (id: string) => ({
  ...queryById(['payment', 'batch', id, 'lines'], '/v1/payment-batches/{id}/lines', id),
  ...neverStale,
})
type BatchFilters = { status?: PaymentStatus | undefined; q?: string | undefined }
export const batchPaymentsQuery = (id: string, { status, q }: BatchFilters) =>
  paymentsQuery({ batch_id: id, status: asArray(status), q: searchText(q) }, 100)
export const paymentsStatementQuery = (month: string) =>
  queryFor(['history', 'sums', month], '/v1/workspaces/current/statement', { query: { from: `${month}-01`, limit: 1 } })
export const statementQuery = (month: string | undefined, own: boolean) =>
  infiniteQueryOptions({
    queryKey: ['history', 'statement', month, own],
    queryFn: async ({ pageParam }) => {
      const query = parametersOf({ from: month && `${month}-01`, limit: 100, cursor: pageParam })
      if (own) return api.GET('/v1/accounts/me/statement', { query })
      return api.GET('/v1/workspaces/current/statement', { query })
    },
    ...pages,
  })

export const approvalsQuery = (status: Schemas['Approval']['status'] | undefined, limit = 25) =>
  pagedQueryFor(['approvals', { status: asArray(status) }, limit], '/v1/approvals', { status, limit })
export const approvalQuery = (id: string) => queryById(['approval', id], '/v1/approvals/{id}', id)
export const approvalMessageQuery = (id: string, decision: 'approve' | 'reject') =>
  queryFor(['approval', id, 'message', decision], '/v1/approvals/{id}/message', { path: { id }, query: { decision } })

export type BeneficiaryFilters = Filters<'/v1/beneficiaries'>
/** The service searches, because a workspace may have thousands of beneficiaries. */
export const beneficiariesQuery = (filters: BeneficiaryFilters, limit = 50) =>
  pagedQueryFor(['beneficiaries', filters, limit], '/v1/beneficiaries', { ...filters, limit }, keepPrevious)
/** Beneficiaries that one key or agent created or renamed. */
export const madeByQuery = (grantId: string, status?: 'all') => beneficiariesQuery({ made_by_grant_id: grantId, status }, 100)
const beneficiaries = (key: QueryKey, query: Query<'/v1/beneficiaries', 'get'>) =>
  queryFor(['beneficiaries', ...key], '/v1/beneficiaries', { query })
const maxIds = 100
export const newestBeneficiariesQuery = beneficiaries(['newest'], { limit: 100, status: 'all' })
export const searchedBeneficiariesQuery = (q: string) => beneficiaries(['search', q], { q, limit: 20, status: 'active' })
/** Reads nothing if `ids` is empty. A request takes at most a hundred. */
export const namedBeneficiariesQuery = (ids: readonly string[]) => {
  const unique = [...new Set(ids)].sort()
  const read = (start: number) =>
    api.GET('/v1/beneficiaries', { query: { id: unique.slice(start, start + maxIds), limit: maxIds } })
  return queryOptions({
    queryKey: ['beneficiaries', 'named', unique],
    queryFn: async () => {
      const starts = Array.from({ length: Math.ceil(unique.length / maxIds) }, (_, index) => index * maxIds)
      return (await Promise.all(starts.map(read))).flatMap(({ data }) => data)
    },
    enabled: unique.length > 0,
  })
}
export const beneficiaryQuery = (id: string) => queryById(['beneficiary', id], '/v1/beneficiaries/{id}', id)
export const nameChecksQuery = (id: string) =>
  queryById(['beneficiary', id, 'name-checks'], '/v1/beneficiaries/{id}/verifications', id)

export const policiesQuery = (status: 'active' | 'all') =>
  pagedQueryFor(['policies', status], '/v1/spending-policies', { status, limit: 100 })
/** Policies that one key or agent created or changed. */
export const policiesMadeByQuery = (grantId: string, status: 'active' | 'all') =>
  pagedQueryFor(['policies', 'made-by', grantId, status], '/v1/spending-policies', {
    made_by_grant_id: grantId,
    status,
    limit: 100,
  })
export const policyQuery = (id: string) => queryById(['policy', id], '/v1/spending-policies/{id}', id)

export const mandatesQuery = pagedQueryFor(['mandates'], '/v1/intent-mandates', {})
export const activeMandatesQuery = pagedQueryFor(['mandates', 'active'], '/v1/intent-mandates', { status: 'active', limit: 100 })
export const mandateQuery = (id: string) => queryById(['mandate', id], '/v1/intent-mandates/{id}', id)
export const topupQuery = (id: string) => queryById(['topup', id], '/v1/topups/{id}', id)

export const apiKeysQuery = pagedQueryFor(['api-keys'], '/v1/accounts/me/api-keys', { limit: 100 })
export const grantsQuery = pagedQueryFor(['grants', 'own'], '/v1/accounts/me/grants', { limit: 100 })
export const grantQuery = (id: string) => queryById(['grant', id], '/v1/accounts/me/grants/{id}', id)
export const grantEventsQuery = pagedQueryFor(['grants', 'events'], '/v1/notifications', { type: ['grant.*'], limit: 100 })
export type EventFilters = Omit<Filters<'/v1/notifications'>, 'type'> & { about?: EventResource | undefined }
export const eventsQuery = ({ about, ...days }: EventFilters) =>
  pagedQueryFor(['events', about ?? 'all', days], '/v1/notifications', {
    ...days,
    limit: 50,
    type: asArray(about && (`${about}.*` as const)),
  })

/** Requests cause no events, so the page reloads them each time it opens. */
export const requestLogQuery = (filters: Filters<'/v1/request-log'>) =>
  pagedQueryFor(['request-log', filters], '/v1/request-log', { ...filters, limit: 50 }, { ...keepPrevious, staleTime: 0 })

export const membersQuery = pagedQueryFor(['members'], '/v1/workspaces/current/members', { limit: 100 })
export const invitationsQuery = pagedQueryFor(['invitations'], '/v1/workspaces/current/invitations', {})
export const auditQuery = (filters: Filters<'/v1/workspaces/current/audit-log'>) =>
  pagedQueryFor(['audit', filters], '/v1/workspaces/current/audit-log', { ...filters, limit: 50 }, keepPrevious)
export const workspaceGrantsQuery = pagedQueryFor(['grants', 'workspace'], '/v1/workspaces/current/grants', { limit: 100 })

export const suspenseQuery = pagedQueryFor(['suspense'], '/v1/admin/suspense', { status: 'open', limit: 50 })
export const differencesQuery = pagedQueryFor(['differences'], '/v1/admin/reconciliation-differences', {
  status: 'open',
  limit: 50,
})
export const providerAlertsQuery = pagedQueryFor(['provider alerts'], '/v1/admin/provider-alerts', { status: 'open', limit: 50 })
export const movementsQuery = pagedQueryFor(['movements'], '/v1/admin/provider-movements', { limit: 20 })
export const reconciliationsQuery = pagedQueryFor(['reconciliations'], '/v1/admin/reconciliations', { limit: 20 })
/** Unknown payments in every account of the service. */
export const unknownPaymentsQuery = pagedQueryFor(['payments', { status: ['unknown'] }, 'unknown'], '/v1/admin/payments', {
  status: 'unknown',
  limit: 50,
})
export const lateSuccessesQuery = pagedQueryFor(['payments', 'late'], '/v1/admin/payments', {
  attention: 'late_success',
  limit: 50,
})
export const paymentByReceiptQuery = (provider_receipt: string) => ({
  ...queryFor(['payments', 'receipt', provider_receipt], '/v1/admin/payments', { query: { provider_receipt } }),
  enabled: provider_receipt !== '',
})
export const trialBalanceQuery = queryFor(['trial balance'], '/v1/admin/ledger/trial-balance')

export const authorizationQuery = (id: string) => ({
  ...queryById(['authorization', id], '/v1/oauth/authorizations/{id}', id),
  retry: false,
})
export const deviceQuery = (userCode: string) => ({
  ...queryFor(['device', userCode], '/v1/oauth/device/{user_code}', { path: { user_code: userCode } }),
  retry: false,
})

/** Sends a request about this tab's workspace. */
const sendOnce: typeof fetch = async (address, init) => {
  const request = new Request(address, init)
  const workspace = chosenWorkspace()
  // A sign-in omits the workspace, because another person may have chosen it.
  const signsIn = new URL(request.url).pathname.startsWith('/v1/auth/')
  // A request that already has the header is about another workspace.
  if (workspace !== null && !signsIn && !request.headers.has('Workspace-Id')) request.headers.set('Workspace-Id', workspace)
  const response = await fetch(request)
  syncClock(response.headers.get('date'))
  return response
}

const send: typeof fetch = (address, init) => withProof(() => sendOnce(address, init))

/** The client does not retry: the query cache retries reads, and a person decides whether to send a change again. */
const payments = new Payments({ baseUrl: location.origin, credentials: 'same-origin', retries: 0, fetch: send })

export type PathWith<M extends Method> = { [P in Path]: M extends MethodOf<P> ? P : never }[Path]
type RequestOptions<P extends Path, M extends Method & MethodOf<P>> = {
  path?: Record<string, string>
  query?: Query<P, M>
  body?: Body<P, M>
  headers?: Record<string, string>
}

/** Converts the client's errors to the errors that pages show. */
const withPageErrors = async <Data>(answering: Promise<Data>): Promise<Data> => {
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
    const asked = { ...(path && { path }), ...(query && { query: withoutIsolation(query) }) }
    const answer = await withPageErrors(
      payments.call(method as M & MethodOf<P>, route, { ...asked, ...sent, ...key, headers: others }),
    )
    // A receipt must stay unchanged, because it is verified byte for byte.
    return route.endsWith('/receipt') ? answer : isolateTexts(answer)
  }

export const api = { GET: by('get'), POST: by('post'), PUT: by('put'), PATCH: by('patch'), DELETE: by('delete') }

/** A batch as CSV text, or as a JSON body. */
export type BatchInput = string | Body<'/v1/payment-batches', 'post'>

/** Checks or pays a batch. */
export const batchClient = {
  check: (list: BatchInput, options: ListOptions) => {
    const { batches } = payments
    return withPageErrors(typeof list === 'string' ? batches.checkCsv(list, options) : batches.check({ ...list, ...options }))
  },
  pay: (list: BatchInput, options: ListOptions, idempotencyKey: string) => {
    const { batches } = payments
    const once = { idempotencyKey }
    return withPageErrors(
      typeof list === 'string' ? batches.fromCsv(list, options, once) : batches.create({ ...list, ...options }, once),
    )
  },
}

/** Options of a request about a workspace other than this tab's. */
export const inWorkspace = (id: string) => ({ headers: { 'Workspace-Id': id } })

type Optional<Fields> = { [Key in keyof Fields]: undefined extends Fields[Key] ? Key : never }[keyof Fields]

/** Makes fields that may be undefined optional. */
export type Parameters<Fields> = Omit<Fields, Optional<Fields>> & {
  [Key in Optional<Fields>]?: Exclude<Fields[Key], undefined>
}

export const parametersOf = <const Fields extends object>(fields: Fields): Parameters<Fields> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Parameters<Fields>

let chosen = readStored('workspace', 'session')

/** This tab's workspace. Null: the session's workspace, where the person worked last. */
export const chosenWorkspace = (): string | null => chosen

export const chooseWorkspace = (id: string | null): void => {
  chosen = id
  writeStored('workspace', id, 'session')
}
