import type { App } from '../../http/app-type.ts'
import { ok } from '../../http/idempotency.ts'
import { pageOf } from '../../http/pagination.ts'
import { listsOf, routesOf } from '../../http/routes.ts'
import { byId } from '../../http/wire.ts'
import type { Deps } from './deps.ts'
import { presentSuspense } from './present.ts'
import { listSuspense } from './queries.ts'
import { FindSuspense, ResolveSuspense, ResolveSuspenseItems, SuspenseItem, SuspenseItems } from './schema.ts'
import { resolveSuspense, resolveSuspenseItems } from './service.ts'

export const registerSuspense = (app: App, deps: Deps): void => {
  const routes = routesOf(app, deps)
  const list = listsOf(app, deps)
  list('/v1/admin/suspense', {
    config: { operation: 'admin.list_suspense', access: 'admin' },
    schema: { querystring: FindSuspense, response: { 200: pageOf(SuspenseItem) } },
    listing: ({ query }) => ({
      of: null,
      read: (page) => listSuspense(deps.db, query.status, page),
      present: (rows) => rows.map(presentSuspense),
    }),
  })
  routes.post('/v1/admin/suspense/resolve', {
    config: { operation: 'admin.resolve_suspense_items', access: 'admin', refuses: ['invalid_request', 'not_found', 'conflict'] },
    schema: { body: ResolveSuspenseItems, response: { 200: SuspenseItems } },
    work: async (tx, { principal, body }) => {
      const { ids, ...decision } = body
      return ok({ data: (await resolveSuspenseItems(tx, principal, ids, decision)).map(presentSuspense) })
    },
  })
  routes.post('/v1/admin/suspense/:id/resolve', {
    config: { operation: 'admin.resolve_suspense', access: 'admin', refuses: ['invalid_request', 'not_found', 'conflict'] },
    schema: { params: byId('suspense'), body: ResolveSuspense, response: { 200: SuspenseItem } },
    work: async (tx, { principal, params, body }) => ok(presentSuspense(await resolveSuspense(tx, principal, params.id, body))),
  })
}
