import type { App } from '../../http/app-type.ts'
import { accepted, created, ok, respondOnce } from '../../http/idempotency.ts'
import { PageQuery, pageOf, readPage } from '../../http/pagination.ts'
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
import { reportStatement } from './service.ts'

const bodyLimitBytes = 1024 * 1024

export const registerReconciliation = (app: App, deps: Deps): void => {
  app.get(
    '/v1/admin/reconciliations',
    {
      config: { operation: 'admin.list_reconciliations', access: 'admin', refuses: ['invalid_request', 'invalid_cursor'] },
      schema: {
        querystring: PageQuery,
        response: { 200: pageOf(Reconciliation) },
      },
    },
    async (request, reply) => {
      return reply.send(
        await readPage(deps, request, {
          of: null,
          read: (page) => listReconciliations(deps.db, page),
          idOf: (row) => row.id,
          present: (rows) => rows.map(presentReconciliation),
        }),
      )
    },
  )
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
    async (request, reply) =>
      respondOnce(deps, request, reply, async (tx) =>
        created(presentReconciliation(await reportStatement(tx, deps, request.principal, request.body))),
      ),
  )
  app.get(
    '/v1/admin/reconciliation-differences',
    {
      config: { operation: 'admin.list_differences', access: 'admin', refuses: ['invalid_request', 'invalid_cursor'] },
      schema: {
        querystring: FindDifferences,
        response: { 200: pageOf(ReconciliationDifference) },
      },
    },
    async (request, reply) => {
      const { status, reconciliation_id: reconciliationId } = request.query
      const filter = { reconciliationId, isOpen: status === undefined ? undefined : status === 'open' }
      return reply.send(
        await readPage(deps, request, {
          of: null,
          read: (page) => listDifferences(deps.db, filter, page),
          idOf: (row) => row.id,
          present: (rows) => rows.map(presentDifference),
        }),
      )
    },
  )
  app.post(
    '/v1/admin/reconciliation-differences/resolve',
    {
      config: { operation: 'admin.resolve_differences', access: 'admin', refuses: ['invalid_request', 'not_found', 'conflict'] },
      schema: {
        body: ResolveDifferences,
        response: { 200: ReconciliationDifferences },
      },
    },
    async (request, reply) =>
      respondOnce(deps, request, reply, async (tx) => {
        const { ids, note } = request.body
        return ok({ data: (await resolveDifferences(tx, deps, request.principal, ids, note)).map(presentDifference) })
      }),
  )
  app.post(
    '/v1/admin/reconciliation-differences/:id/resolve',
    {
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
    },
    async (request, reply) =>
      respondOnce(deps, request, reply, async (tx) => {
        const { difference, isWaiting } = await resolveDifference(tx, deps, request.principal, request.params.id, request.body)
        const body = presentDifference(difference)
        return isWaiting ? accepted(body) : ok(body)
      }),
  )
}
