import type { App } from '../../http/app-type.ts'
import { ok, respondOnce } from '../../http/idempotency.ts'
import { pageOf, readPage } from '../../http/pagination.ts'
import { byId } from '../../http/wire.ts'
import type { Deps } from './deps.ts'
import { presentSuspense } from './present.ts'
import { listSuspense } from './queries.ts'
import { FindSuspense, ResolveSuspense, ResolveSuspenseItems, SuspenseItem, SuspenseItems } from './schema.ts'
import { resolveSuspense, resolveSuspenseItems } from './service.ts'

export const registerSuspense = (app: App, deps: Deps): void => {
  app.get(
    '/v1/admin/suspense',
    {
      config: { operation: 'admin.list_suspense', access: 'admin', refuses: ['invalid_request', 'invalid_cursor'] },
      schema: {
        querystring: FindSuspense,
        response: { 200: pageOf(SuspenseItem) },
      },
    },
    async (request, reply) => {
      return reply.send(
        await readPage(deps, request, {
          of: null,
          read: (page) => listSuspense(deps.db, request.query.status, page),
          idOf: (row) => row.id,
          present: (rows) => rows.map(presentSuspense),
        }),
      )
    },
  )
  app.post(
    '/v1/admin/suspense/resolve',
    {
      config: {
        operation: 'admin.resolve_suspense_items',
        access: 'admin',
        refuses: ['invalid_request', 'not_found', 'conflict'],
      },
      schema: {
        body: ResolveSuspenseItems,
        response: { 200: SuspenseItems },
      },
    },
    async (request, reply) =>
      respondOnce(deps, request, reply, async (tx) => {
        const { ids, ...decision } = request.body
        return ok({ data: (await resolveSuspenseItems(tx, request.principal, ids, decision)).map(presentSuspense) })
      }),
  )
  app.post(
    '/v1/admin/suspense/:id/resolve',
    {
      config: { operation: 'admin.resolve_suspense', access: 'admin', refuses: ['invalid_request', 'not_found', 'conflict'] },
      schema: {
        params: byId('suspense'),
        body: ResolveSuspense,
        response: { 200: SuspenseItem },
      },
    },
    async (request, reply) =>
      respondOnce(deps, request, reply, async (tx) =>
        ok(presentSuspense(await resolveSuspense(tx, request.principal, request.params.id, request.body))),
      ),
  )
}
