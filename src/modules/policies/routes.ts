import { z } from 'zod'
import type { App } from '../../http/app-type.ts'
import { created, ok, respondOnce } from '../../http/idempotency.ts'
import { PageQuery, pageOf, readPage } from '../../http/pagination.ts'
import { byId, IdIn } from '../../http/wire.ts'
import { found } from '../../lib/errors.ts'
import type { Deps } from './deps.ts'
import { presentPolicy } from './present.ts'
import { findPolicy, listPolicies } from './queries.ts'
import { CreatePolicy, Policy, UpdatePolicy } from './schema.ts'
import { archivePolicy, createPolicy, updatePolicy } from './service.ts'
import { readUsage } from './usage.ts'

const path = '/v1/spending-policies'
const one = `${path}/:id`

const ListQuery = PageQuery.extend({
  made_by_grant_id: IdIn('grant').optional().meta({ description: 'Created or changed by this key or agent.' }),
  status: z.enum(['active', 'all']).default('all'),
})

export const registerPolicies = (app: App, deps: Deps): void => {
  app.post(
    path,
    {
      // A new policy can only tighten, so an agent may create one: policy.create is enough.
      config: {
        operation: 'policies.create',
        sideBySide: true,
        permission: ['policy.create', 'policy.manage'],
        idempotent: true,
        refuses: ['invalid_request', 'conflict'],
      },
      schema: { body: CreatePolicy, response: { 201: Policy } },
    },
    async (request, reply) =>
      respondOnce(deps, request, reply, async (tx) =>
        created(presentPolicy(await createPolicy(tx, deps, request.principal, request.body))),
      ),
  )
  app.get(
    path,
    {
      config: { operation: 'policies.list', permission: 'policy.read', refuses: ['invalid_request', 'invalid_cursor'] },
      schema: { querystring: ListQuery, response: { 200: pageOf(Policy) } },
    },
    async (request, reply) => {
      const { workspace } = request.principal
      const { status, made_by_grant_id: madeBy } = request.query
      const filter = { active: status === 'active', madeBy }
      return reply.send(
        await readPage(deps, request, {
          of: workspace.id,
          read: (page) => listPolicies(deps.db, workspace.id, page, filter),
          idOf: (row) => row.id,
          present: async (rows) => {
            const ids = rows.map(({ id }) => id)
            const usageOf = await readUsage(deps.db, workspace, deps.clock.now(), ids)
            return rows.map((row) => presentPolicy(row, usageOf(row.id)))
          },
        }),
      )
    },
  )
  app.get(
    one,
    {
      config: { operation: 'policies.get', permission: 'policy.read', refuses: ['not_found'] },
      schema: { params: byId('policy'), response: { 200: Policy } },
    },
    async (request, reply) => {
      const { workspace } = request.principal
      const { id } = request.params
      const [record, usageOf] = await Promise.all([
        findPolicy(deps.db, workspace.id, id),
        readUsage(deps.db, workspace, deps.clock.now(), [id]),
      ])
      return reply.send(presentPolicy(found(record), usageOf(id)))
    },
  )
  app.patch(
    one,
    {
      config: {
        operation: 'policies.update',
        sideBySide: true,
        permission: 'policy.manage',
        refuses: ['invalid_request', 'not_found', 'conflict'],
      },
      schema: {
        params: byId('policy'),
        body: UpdatePolicy,
        response: { 200: Policy },
      },
    },
    async (request, reply) =>
      respondOnce(deps, request, reply, async (tx) =>
        ok(presentPolicy(await updatePolicy(tx, deps, request.principal, request.params.id, request.body))),
      ),
  )
  app.delete(
    one,
    {
      // A policy can be archived while the workspace is frozen, as the contract says.
      config: {
        operation: 'policies.archive',
        sideBySide: true,
        permission: 'policy.manage',
        whileFrozen: true,
        refuses: ['not_found', 'account_frozen'],
      },
      schema: { params: byId('policy'), response: { 200: Policy } },
    },
    async (request, reply) =>
      respondOnce(deps, request, reply, async (tx) =>
        ok(presentPolicy(await archivePolicy(tx, deps, request.principal, request.params.id))),
      ),
  )
}
