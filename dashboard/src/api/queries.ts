import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Query } from '../../../client/src/route-types.ts'
import type { eventPermissions } from '../../../src/events/types.ts'
import type { PaymentStatus } from '../lib/status-words.ts'
import { api, call } from './client.ts'
import { parametersOf } from './parameters.ts'
import type { Schemas } from './types.ts'

// The first part of a key is the name that live/affected.ts knows it by.

const first: string | undefined = undefined
const nextOf = ({ next_cursor: next }: { next_cursor: string | null }): string | undefined => next ?? undefined
/** A filter that takes several values, of which a page here chooses one. */
const one = <Value>(value: Value | undefined): Value[] | undefined => (value === undefined ? undefined : [value])
const pages = { initialPageParam: first, getNextPageParam: nextOf } as const

export const accountQuery = queryOptions({ queryKey: ['account'], queryFn: () => call(api.GET('/v1/accounts/me')) })
export const workspaceQuery = queryOptions({ queryKey: ['workspace'], queryFn: () => call(api.GET('/v1/workspaces/current')) })
/** Whether this person administers the service: asked once for each load of the page. */
export const credentialQuery = queryOptions({
  queryKey: ['credential'],
  queryFn: () => call(api.GET('/v1/credentials/current')),
  staleTime: Number.POSITIVE_INFINITY,
})
export const workspacesQuery = queryOptions({
  queryKey: ['workspaces'],
  queryFn: () => call(api.GET('/v1/workspaces', { params: { query: { limit: 100 } } })),
})
export const passkeysQuery = queryOptions({
  queryKey: ['passkeys'],
  queryFn: () => call(api.GET('/v1/accounts/me/passkeys', { params: { query: { limit: 100 } } })),
})
/** They change with the service's configuration alone. */
export const banksQuery = queryOptions({ queryKey: ['banks'], queryFn: () => call(api.GET('/v1/banks')), staleTime: Infinity })
export const sessionsQuery = infiniteQueryOptions({
  queryKey: ['sessions'],
  queryFn: ({ pageParam }) =>
    call(api.GET('/v1/accounts/me/sessions', { params: { query: parametersOf({ cursor: pageParam }) } })),
  ...pages,
})
export type HistoryFilters = {
  type?: Schemas['HistoryEntry']['type'] | undefined
  created_after?: string | undefined
  created_before?: string | undefined
}
export const historyQuery = (filters: HistoryFilters, limit = 25) =>
  infiniteQueryOptions({
    queryKey: ['history', filters, limit],
    queryFn: ({ pageParam }) =>
      call(
        api.GET('/v1/accounts/me/history', {
          params: { query: parametersOf({ ...filters, type: one(filters.type), limit, cursor: pageParam }) },
        }),
      ),
    placeholderData: keepPreviousData,
    ...pages,
  })

export const historySummaryQuery = queryOptions({
  queryKey: ['summary', 'history'],
  queryFn: () => call(api.GET('/v1/accounts/me/history/summary')),
})

export type PaymentFilters = {
  q?: string | undefined
  status?: readonly PaymentStatus[] | undefined
  beneficiary_id?: string | undefined
  account_reference?: string | undefined
  grant_id?: string | undefined
  initiator_account_id?: string | undefined
  amount_min_minor?: string | undefined
  amount_max_minor?: string | undefined
  created_after?: string | undefined
  created_before?: string | undefined
}

export const paymentsQuery = (filters: PaymentFilters, limit = 25) =>
  infiniteQueryOptions({
    queryKey: ['payments', filters, limit],
    queryFn: ({ pageParam }) =>
      call(
        api.GET('/v1/payments', {
          params: {
            query: parametersOf({ ...filters, status: filters.status && [...filters.status], limit, cursor: pageParam }),
          },
        }),
      ),
    placeholderData: keepPreviousData,
    ...pages,
  })
/** The newest payment of one key or agent. */
export const lastPaymentQuery = (grantId: string) =>
  queryOptions({
    queryKey: ['payments', 'last', grantId],
    queryFn: async () => (await call(api.GET('/v1/payments', { params: { query: { grant_id: grantId, limit: 1 } } }))).data,
  })
export const paymentsSummaryQuery = (filters: PaymentFilters, days = 30) =>
  queryOptions({
    queryKey: ['summary', 'payments', filters, days],
    queryFn: () =>
      call(
        api.GET('/v1/payments/summary', {
          params: { query: parametersOf({ ...filters, status: filters.status && [...filters.status], days }) },
        }),
      ),
    placeholderData: keepPreviousData,
  })
export const attentionQuery = queryOptions({
  queryKey: ['summary', 'attention'],
  queryFn: () => call(api.GET('/v1/payments/attention')),
})
export type RefusalFilters = {
  grant_id?: string | undefined
  initiator_account_id?: string | undefined
  beneficiary_id?: string | undefined
  created_after?: string | undefined
  created_before?: string | undefined
}
export const refusalsQuery = (filters: RefusalFilters, limit = 25) =>
  infiniteQueryOptions({
    queryKey: ['refusals', filters, limit],
    queryFn: ({ pageParam }) =>
      call(api.GET('/v1/payment-refusals', { params: { query: parametersOf({ ...filters, limit, cursor: pageParam }) } })),
    placeholderData: keepPreviousData,
    ...pages,
  })
export const paymentQuery = (id: string) =>
  queryOptions({ queryKey: ['payment', id], queryFn: () => call(api.GET('/v1/payments/{id}', { params: { path: { id } } })) })

export const batchesQuery = infiniteQueryOptions({
  queryKey: ['payments', 'batches'],
  queryFn: ({ pageParam }) => call(api.GET('/v1/payment-batches', { params: { query: parametersOf({ cursor: pageParam }) } })),
  ...pages,
})
export const batchQuery = (id: string) =>
  queryOptions({
    queryKey: ['payment', 'batch', id],
    queryFn: () => call(api.GET('/v1/payment-batches/{id}', { params: { path: { id } } })),
  })
export const batchLinesQuery = (id: string) =>
  queryOptions({
    queryKey: ['payment', 'batch', id, 'lines'],
    queryFn: () => call(api.GET('/v1/payment-batches/{id}/lines', { params: { path: { id } } })),
    // What was asked for never changes.
    staleTime: Number.POSITIVE_INFINITY,
  })
export const batchPaymentsQuery = (id: string, status: PaymentStatus | undefined) =>
  infiniteQueryOptions({
    queryKey: ['payments', 'batch', id, status],
    queryFn: ({ pageParam }) =>
      call(
        api.GET('/v1/payments', {
          params: { query: parametersOf({ batch_id: id, status: one(status), limit: 50, cursor: pageParam }) },
        }),
      ),
    placeholderData: keepPreviousData,
    ...pages,
  })
export const statementQuery = (month: string | undefined, own: boolean) =>
  infiniteQueryOptions({
    queryKey: ['history', 'statement', month, own],
    queryFn: async ({ pageParam }) => {
      const params = { query: parametersOf({ from: month && `${month}-01`, limit: 100, cursor: pageParam }) }
      if (own) return call(api.GET('/v1/accounts/me/statement', { params }))
      const read = await call(api.GET('/v1/workspaces/current/statement', { params }))
      return { ...read, opening_balance_minor: null, closing_balance_minor: null }
    },
    ...pages,
  })

type ApprovalStatus = Schemas['Approval']['status']
export const approvalsQuery = (status: ApprovalStatus | undefined, limit = 25) =>
  infiniteQueryOptions({
    queryKey: ['approvals', status ?? 'all', limit],
    queryFn: ({ pageParam }) =>
      call(api.GET('/v1/approvals', { params: { query: parametersOf({ status, limit, cursor: pageParam }) } })),
    ...pages,
  })
export const approvalQuery = (id: string) =>
  queryOptions({ queryKey: ['approval', id], queryFn: () => call(api.GET('/v1/approvals/{id}', { params: { path: { id } } })) })
export const approvalMessageQuery = (id: string, decision: 'approve' | 'reject') =>
  queryOptions({
    queryKey: ['approval', id, 'message', decision],
    queryFn: () => call(api.GET('/v1/approvals/{id}/message', { params: { path: { id }, query: { decision } } })),
  })

export type BeneficiaryFilters = {
  q?: string | undefined
  confirmation?: 'proposed' | undefined
  verification?: 'no_match' | undefined
  made_by_grant_id?: string | undefined
  status?: 'all' | undefined
}
/** The service searches: a workspace may have thousands. */
export const beneficiariesQuery = (filters: BeneficiaryFilters, limit = 50) =>
  infiniteQueryOptions({
    queryKey: ['beneficiaries', 'list', filters, limit],
    queryFn: ({ pageParam }) =>
      call(api.GET('/v1/beneficiaries', { params: { query: parametersOf({ ...filters, limit, cursor: pageParam }) } })),
    placeholderData: keepPreviousData,
    ...pages,
  })
/** What one key or agent created or renamed, archived or not: what it did stays done. */
export const madeByQuery = (grantId: string) => beneficiariesQuery({ made_by_grant_id: grantId, status: 'all' }, 100)
const readBeneficiaries = (query: Query<'/v1/beneficiaries', 'get'>) => call(api.GET('/v1/beneficiaries', { params: { query } }))
export const newestBeneficiariesQuery = queryOptions({
  queryKey: ['beneficiaries', 'newest'],
  queryFn: () => readBeneficiaries({ limit: 100, status: 'all' }),
})
export const searchedBeneficiariesQuery = (q: string) =>
  queryOptions({ queryKey: ['beneficiaries', 'search', q], queryFn: () => readBeneficiaries({ q, limit: 20, status: 'active' }) })
/** Not asked for at all where nothing is named. */
export const namedBeneficiariesQuery = (ids: readonly string[]) =>
  queryOptions({
    queryKey: ['beneficiaries', 'named', [...ids].sort()],
    queryFn: () => readBeneficiaries({ id: ids.slice(0, 100), limit: 100 }),
    enabled: ids.length > 0,
  })
export const beneficiaryQuery = (id: string) =>
  queryOptions({
    queryKey: ['beneficiary', id],
    queryFn: () => call(api.GET('/v1/beneficiaries/{id}', { params: { path: { id } } })),
  })

export const policiesQuery = (status: 'active' | 'all') =>
  infiniteQueryOptions({
    queryKey: ['policies', status],
    queryFn: ({ pageParam }) =>
      call(api.GET('/v1/spending-policies', { params: { query: parametersOf({ status, limit: 100, cursor: pageParam }) } })),
    ...pages,
  })
/** The policies that one key or agent created or changed. A workspace has at most a hundred that are active. */
export const policiesMadeByQuery = (grantId: string) =>
  infiniteQueryOptions({
    queryKey: ['policies', 'made-by', grantId],
    queryFn: ({ pageParam }) =>
      call(
        api.GET('/v1/spending-policies', {
          params: { query: parametersOf({ made_by_grant_id: grantId, status: 'all' as const, limit: 100, cursor: pageParam }) },
        }),
      ),
    ...pages,
  })
export const policyQuery = (id: string) =>
  queryOptions({
    queryKey: ['policy', id],
    queryFn: () => call(api.GET('/v1/spending-policies/{id}', { params: { path: { id } } })),
  })

export const mandatesQuery = infiniteQueryOptions({
  queryKey: ['mandates'],
  queryFn: ({ pageParam }) => call(api.GET('/v1/intent-mandates', { params: { query: parametersOf({ cursor: pageParam }) } })),
  ...pages,
})
export const mandateQuery = (id: string) =>
  queryOptions({
    queryKey: ['mandate', id],
    queryFn: () => call(api.GET('/v1/intent-mandates/{id}', { params: { path: { id } } })),
  })

export const topupQuery = (id: string) =>
  queryOptions({ queryKey: ['topup', id], queryFn: () => call(api.GET('/v1/topups/{id}', { params: { path: { id } } })) })

export const apiKeysQuery = infiniteQueryOptions({
  queryKey: ['api-keys'],
  queryFn: ({ pageParam }) =>
    call(api.GET('/v1/accounts/me/api-keys', { params: { query: parametersOf({ cursor: pageParam }) } })),
  ...pages,
})
export const grantsQuery = infiniteQueryOptions({
  queryKey: ['grants', 'own'],
  queryFn: ({ pageParam }) =>
    call(api.GET('/v1/accounts/me/grants', { params: { query: parametersOf({ limit: 100, cursor: pageParam }) } })),
  ...pages,
})
export const grantQuery = (id: string) =>
  queryOptions({
    queryKey: ['grant', id],
    queryFn: () => call(api.GET('/v1/accounts/me/grants/{id}', { params: { path: { id } } })),
  })
/** What changed about one's own keys and agents. */
export const grantEventsQuery = infiniteQueryOptions({
  queryKey: ['grants', 'events'],
  queryFn: ({ pageParam }) =>
    call(
      api.GET('/v1/notifications', {
        params: { query: parametersOf({ type: one('grant.*' as const), limit: 100, cursor: pageParam }) },
      }),
    ),
  ...pages,
})
export type EventFilters = {
  about?: keyof typeof eventPermissions | undefined
  created_after?: string | undefined
  created_before?: string | undefined
}
export const eventsQuery = ({ about, ...days }: EventFilters) =>
  infiniteQueryOptions({
    queryKey: ['events', about ?? 'all', days],
    queryFn: ({ pageParam }) =>
      call(
        api.GET('/v1/notifications', {
          params: { query: parametersOf({ ...days, limit: 50, type: one(about && (`${about}.*` as const)), cursor: pageParam }) },
        }),
      ),
    ...pages,
  })

export type RequestFilters = {
  status?: string | undefined
  grant_id?: string | undefined
  created_after?: string | undefined
  created_before?: string | undefined
}
export const requestLogQuery = (filters: RequestFilters) =>
  infiniteQueryOptions({
    queryKey: ['request-log', filters],
    queryFn: ({ pageParam }) =>
      call(api.GET('/v1/request-log', { params: { query: parametersOf({ ...filters, limit: 50, cursor: pageParam }) } })),
    placeholderData: keepPreviousData,
    // Requests make no event: a page that is opened reads them anew.
    staleTime: 0,
    ...pages,
  })

export const membersQuery = infiniteQueryOptions({
  queryKey: ['members'],
  queryFn: ({ pageParam }) =>
    call(api.GET('/v1/workspaces/current/members', { params: { query: parametersOf({ limit: 100, cursor: pageParam }) } })),
  ...pages,
})
export const invitationsQuery = infiniteQueryOptions({
  queryKey: ['invitations'],
  queryFn: ({ pageParam }) =>
    call(api.GET('/v1/workspaces/current/invitations', { params: { query: parametersOf({ cursor: pageParam }) } })),
  ...pages,
})
export type AuditFilters = {
  action?: string | undefined
  actor?: string | undefined
  subject_id?: string | undefined
  created_after?: string | undefined
  created_before?: string | undefined
}
export const auditQuery = (filters: AuditFilters) =>
  infiniteQueryOptions({
    queryKey: ['audit', filters],
    queryFn: ({ pageParam }) =>
      call(
        api.GET('/v1/workspaces/current/audit-log', {
          params: { query: parametersOf({ ...filters, limit: 50, cursor: pageParam }) },
        }),
      ),
    placeholderData: keepPreviousData,
    ...pages,
  })
export const suspenseQuery = infiniteQueryOptions({
  queryKey: ['suspense'],
  queryFn: ({ pageParam }) =>
    call(
      api.GET('/v1/admin/suspense', {
        params: { query: parametersOf({ status: 'open' as const, limit: 50, cursor: pageParam }) },
      }),
    ),
  ...pages,
})
export const differencesQuery = infiniteQueryOptions({
  queryKey: ['differences'],
  queryFn: ({ pageParam }) =>
    call(
      api.GET('/v1/admin/reconciliation-differences', {
        params: { query: parametersOf({ status: 'open' as const, limit: 50, cursor: pageParam }) },
      }),
    ),
  ...pages,
})
export const reconciliationsQuery = infiniteQueryOptions({
  queryKey: ['reconciliations'],
  queryFn: ({ pageParam }) =>
    call(api.GET('/v1/admin/reconciliations', { params: { query: parametersOf({ limit: 20, cursor: pageParam }) } })),
  ...pages,
})
export const trialBalanceQuery = queryOptions({
  queryKey: ['trial balance'],
  queryFn: () => call(api.GET('/v1/admin/ledger/trial-balance')),
})
export const workspaceGrantsQuery = infiniteQueryOptions({
  queryKey: ['grants', 'workspace'],
  queryFn: ({ pageParam }) =>
    call(api.GET('/v1/workspaces/current/grants', { params: { query: parametersOf({ limit: 100, cursor: pageParam }) } })),
  ...pages,
})

export const authorizationQuery = (id: string) =>
  queryOptions({
    queryKey: ['authorization', id],
    queryFn: () => call(api.GET('/v1/oauth/authorizations/{id}', { params: { path: { id } } })),
    retry: false,
  })
export const deviceQuery = (userCode: string) =>
  queryOptions({
    queryKey: ['device', userCode],
    queryFn: () => call(api.GET('/v1/oauth/device/{user_code}', { params: { path: { user_code: userCode } } })),
    retry: false,
  })
