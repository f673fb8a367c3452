import { z } from 'zod'
import type { App } from '../../http/app-type.ts'
import { created, ok } from '../../http/idempotency.ts'
import { PageQuery, pageOf } from '../../http/pagination.ts'
import { listsOf, routesOf } from '../../http/routes.ts'
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
  const routes = routesOf(app, deps)
  const list = listsOf(app, deps)
  routes.post(path, {
    // A new policy can only tighten, so an agent may create one: policy.create is enough.
    config: {
      operation: 'policies.create',
      permission: ['policy.create', 'policy.manage'],
      idempotent: true,
      refuses: ['invalid_request', 'conflict'],
    },
    schema: { body: CreatePolicy, response: { 201: Policy } },
    work: async (tx, { principal, body }) => created(presentPolicy(await createPolicy(tx, deps, principal, body))),
  })
  list(path, {
    config: { operation: 'policies.list', permission: 'policy.read' },
    schema: { querystring: ListQuery, response: { 200: pageOf(Policy) } },
    listing: ({ principal, query }) => {
      const { workspace } = principal
      const { status, made_by_grant_id: madeBy } = query
      const filter = { active: status === 'active', madeBy }
      return {
        of: workspace.id,
        read: (page) => listPolicies(deps.db, workspace.id, page, filter),
        present: async (rows) => {
          const ids = rows.map(({ id }) => id)
          const usageOf = await readUsage(deps.db, workspace, deps.clock.now(), ids)
          return rows.map((row) => presentPolicy(row, usageOf(row.id)))
        },
      }
    },
  })
  routes.get(one, {
    config: { operation: 'policies.get', permission: 'policy.read', refuses: ['not_found'] },
    schema: { params: byId('policy'), response: { 200: Policy } },
    read: async ({ principal, params }) => {
      const { workspace } = principal
      const { id } = params
      const [record, usageOf] = await Promise.all([
        findPolicy(deps.db, workspace.id, id),
        readUsage(deps.db, workspace, deps.clock.now(), [id]),
      ])
      return presentPolicy(found(record), usageOf(id))
    },
  })
  routes.patch(one, {
    config: {
      operation: 'policies.update',
      freshProof: 'by_content',
      permission: 'policy.manage',
      refuses: ['invalid_request', 'not_found', 'conflict'],
    },
    schema: { params: byId('policy'), body: UpdatePolicy, response: { 200: Policy } },
    work: async (tx, { principal, params, body }) => ok(presentPolicy(await updatePolicy(tx, deps, principal, params.id, body))),
  })
  routes.delete(one, {
    // A policy can be archived while the workspace is frozen, as the contract says.
    config: {
      operation: 'policies.archive',
      freshProof: 'always',
      permission: 'policy.manage',
      whileFrozen: true,
      refuses: ['not_found', 'account_frozen'],
    },
    schema: { params: byId('policy'), response: { 200: Policy } },
    work: async (tx, { principal, params }) => ok(presentPolicy(await archivePolicy(tx, deps, principal, params.id))),
  })
}
