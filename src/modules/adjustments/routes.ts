import type { App } from '../../http/app-type.ts'
import { created, ok, respondOnce } from '../../http/idempotency.ts'
import { pageOf, readPage } from '../../http/pagination.ts'
import { byId } from '../../http/wire.ts'
import { found } from '../../lib/errors.ts'
import { Reasoned } from '../workspaces/schema.ts'
import type { Deps } from './deps.ts'
import { presentAdjustment } from './present.ts'
import { findAdjustment, listAdjustments } from './queries.ts'
import { Adjustment, CreateAdjustment, FindAdjustments } from './schema.ts'
import { confirmAdjustment, createAdjustment, rejectAdjustment } from './service.ts'

export const registerAdjustments = (app: App, deps: Deps): void => {
  app.post(
    '/v1/admin/adjustments',
    {
      config: {
        operation: 'admin.create_adjustment',
        access: 'admin',
        idempotent: true,
        refuses: ['invalid_request', 'insufficient_funds', 'separation_of_duties', 'conflict'],
      },
      schema: {
        body: CreateAdjustment,
        response: { 201: Adjustment },
      },
    },
    async (request, reply) =>
      respondOnce(deps, request, reply, async (tx) =>
        created(presentAdjustment(await createAdjustment(tx, deps, request.principal, request.body))),
      ),
  )
  app.get(
    '/v1/admin/adjustments',
    {
      config: { operation: 'admin.list_adjustments', access: 'admin', refuses: ['invalid_request', 'invalid_cursor'] },
      schema: {
        querystring: FindAdjustments,
        response: { 200: pageOf(Adjustment) },
      },
    },
    async (request, reply) => {
      const { status, account_id: accountId } = request.query
      const filter = { ...(status !== undefined && { status }), ...(accountId !== undefined && { accountId }) }
      return reply.send(
        await readPage(deps, request, {
          of: null,
          read: (page) => listAdjustments(deps.db, filter, page),
          idOf: (row) => row.id,
          present: (rows) => rows.map(presentAdjustment),
        }),
      )
    },
  )
  app.get(
    '/v1/admin/adjustments/:id',
    {
      config: { operation: 'admin.get_adjustment', access: 'admin', refuses: ['not_found'] },
      schema: { params: byId('ledger'), response: { 200: Adjustment } },
    },
    async (request, reply) => {
      return reply.send(presentAdjustment(found(await findAdjustment(deps.db, request.params.id))))
    },
  )
  const decideRefuses = ['invalid_request', 'insufficient_funds', 'separation_of_duties', 'not_found', 'conflict'] as const
  app.post(
    '/v1/admin/adjustments/:id/confirm',
    {
      config: { operation: 'admin.confirm_adjustment', access: 'admin', refuses: decideRefuses },
      schema: { params: byId('ledger'), response: { 200: Adjustment } },
    },
    async (request, reply) =>
      respondOnce(deps, request, reply, async (tx) =>
        ok(presentAdjustment(await confirmAdjustment(tx, deps, request.principal, request.params.id))),
      ),
  )
  app.post(
    '/v1/admin/adjustments/:id/reject',
    {
      config: { operation: 'admin.reject_adjustment', access: 'admin', refuses: decideRefuses },
      schema: { params: byId('ledger'), body: Reasoned, response: { 200: Adjustment } },
    },
    async (request, reply) =>
      respondOnce(deps, request, reply, async (tx) =>
        ok(presentAdjustment(await rejectAdjustment(tx, request.principal, request.params.id, request.body.reason))),
      ),
  )
}
