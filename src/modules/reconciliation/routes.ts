import type { App } from '../../http/app-type.ts'
import { accepted, created, ok, respondOnce } from '../../http/idempotency.ts'
import { PageQuery, pageOf } from '../../http/pagination.ts'
import { listsOf, routesOf } from '../../http/routes.ts'
import { byId } from '../../http/wire.ts'
import type { Deps } from './deps.ts'
import { presentDifference, presentReconciliation } from './present.ts'
import { listDifferences, listReconciliations } from './queries.ts'
import { resolveDifference, resolveDifferences } from './resolve.ts'
import {
  FindDifferences,
  Reconciliation,
  ReconciliationDifference,
  ReconciliationDifferences,
  ResolveDifference,
  ResolveDifferences,
  UploadStatement,
} from './schema.ts'
import { readUpload, reportStatement } from './service.ts'

const bodyLimitBytes = 1024 * 1024

export const registerReconciliation = (app: App, deps: Deps): void => {
  const routes = routesOf(app, deps)
  const list = listsOf(app, deps)
  list('/v1/admin/reconciliations', {
    config: { operation: 'admin.list_reconciliations', access: 'admin' },
    schema: { querystring: PageQuery, response: { 200: pageOf(Reconciliation) } },
    listing: (_request) => ({
      of: null,
      read: (page) => listReconciliations(deps.db, page),
      present: (rows) => rows.map(presentReconciliation),
    }),
  })
  app.post(
    '/v1/admin/reconciliations',
    {
      config: {
        operation: 'admin.upload_statement',
        access: 'admin',
        idempotent: true,
        refuses: ['invalid_request', 'conflict'],
      },
      bodyLimit: bodyLimitBytes,
      schema: { body: UploadStatement, response: { 201: Reconciliation } },
    },
    async (request, reply) => {
      const statement = await readUpload(deps.rails, request.body)
      return respondOnce(deps, request, reply, async (tx) =>
        created(presentReconciliation(await reportStatement(tx, deps, request.principal, statement))),
      )
    },
  )
  list('/v1/admin/reconciliation-differences', {
    config: { operation: 'admin.list_differences', access: 'admin' },
    schema: { querystring: FindDifferences, response: { 200: pageOf(ReconciliationDifference) } },
    listing: ({ query }) => {
      const { status, reconciliation_id: reconciliationId } = query
      const filter = { reconciliationId, isOpen: status === undefined ? undefined : status === 'open' }
      return {
        of: null,
        read: (page) => listDifferences(deps.db, filter, page),
        present: (rows) => rows.map(presentDifference),
      }
    },
  })
  routes.post('/v1/admin/reconciliation-differences/resolve', {
    config: { operation: 'admin.resolve_differences', access: 'admin', refuses: ['invalid_request', 'not_found', 'conflict'] },
    schema: { body: ResolveDifferences, response: { 200: ReconciliationDifferences } },
    work: async (tx, { principal, body }) => {
      const { ids, note } = body
      return ok({ data: (await resolveDifferences(tx, deps.config, principal, ids, note)).map(presentDifference) })
    },
  })
  routes.post('/v1/admin/reconciliation-differences/:id/resolve', {
    config: {
      operation: 'admin.resolve_difference',
      access: 'admin',
      refuses: ['invalid_request', 'insufficient_funds', 'separation_of_duties', 'not_found', 'conflict'],
    },
    schema: {
      params: byId('reconciliation'),
      body: ResolveDifference,
      response: { 200: ReconciliationDifference, 202: ReconciliationDifference },
    },
    work: async (tx, request) => {
      const { difference, isWaiting } = await resolveDifference(
        tx,
        deps.config,
        request.principal,
        request.params.id,
        request.body,
      )
      const body = presentDifference(difference)
      return isWaiting ? accepted(body) : ok(body)
    },
  })
}
