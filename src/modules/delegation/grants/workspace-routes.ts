import { z } from 'zod'
import type { App } from '../../../http/app-type.ts'
import { ok, respondOnce } from '../../../http/idempotency.ts'
import { PageQuery, pageOf, readPage } from '../../../http/pagination.ts'
import { byId, IdOut } from '../../../http/wire.ts'
import { formatId, type Uuid } from '../../../lib/ids.ts'
import { madeOnce } from '../../../lib/shared.ts'
import type { Deps } from '../deps.ts'
import { viewGrant, viewGrants } from './present.ts'
import { listWorkspaceGrants } from './queries.ts'
import { Grant } from './schema.ts'
import { freezeWorkspaceGrant, freezeWorkspaceGrants, revokeWorkspaceGrant } from './workspace-grants.ts'

const WorkspaceGrant = Grant.extend({ account_id: IdOut('account').meta({ description: 'Who delegated.' }) }).meta({
  id: 'WorkspaceGrant',
})

const FreezeGrant = z
  .strictObject({ frozen: z.boolean().meta({ description: 'A frozen grant can still read, and moves no money.' }) })
  .meta({ id: 'FreezeGrant' })

const FrozenGrants = z
  .object({ frozen: z.number().int().meta({ description: 'How many grants this request froze.' }) })
  .meta({ id: 'FrozenGrants' })

const withAccount = madeOnce(
  (grant: Grant, accountId: Uuid): z.output<typeof WorkspaceGrant> => ({ ...grant, account_id: formatId('account', accountId) }),
)

/** For owners and administrators of the workspace in person: every grant of it, of every account. */
export const registerWorkspaceGrants = (app: App, deps: Deps): void => {
  app.get(
    '/v1/workspaces/current/grants',
    {
      config: {
        operation: 'workspace_grants.list',
        permission: 'workspace.manage',
        access: 'undelegated',
        refuses: ['invalid_request', 'invalid_cursor', 'forbidden'],
      },
      schema: {
        querystring: PageQuery,
        response: { 200: pageOf(WorkspaceGrant) },
      },
    },
    async (request, reply) => {
      await deps.lastUsed.flush()
      const { id } = request.principal.workspace
      return reply.send(
        await readPage(deps, request, {
          of: id,
          read: (page) => listWorkspaceGrants(deps.db, id, page),
          idOf: (row) => row.id,
          present: async (rows) => {
            const views = await viewGrants(deps.db, deps.clock.now(), rows)
            return rows.flatMap(({ accountId }, index) => {
              const grant = views[index]
              return grant ? [withAccount(grant, accountId)] : []
            })
          },
        }),
      )
    },
  )
  app.post(
    '/v1/workspaces/current/grants/freeze',
    {
      config: {
        operation: 'workspace_grants.freeze_all',
        permission: 'workspace.manage',
        access: 'undelegated',
        whileFrozen: true,
        refuses: ['forbidden'],
      },
      schema: { response: { 200: FrozenGrants } },
    },
    async (request, reply) =>
      respondOnce(deps, request, reply, async (tx) => ok({ frozen: await freezeWorkspaceGrants(tx, deps, request.principal) })),
  )
  app.patch(
    '/v1/workspaces/current/grants/:id',
    {
      config: {
        operation: 'workspace_grants.freeze',
        permission: 'workspace.manage',
        access: 'undelegated',
        whileFrozen: true,
        refuses: ['invalid_request', 'forbidden', 'not_found', 'conflict'],
      },
      schema: { params: byId('grant'), body: FreezeGrant, response: { 200: WorkspaceGrant } },
    },
    async (request, reply) =>
      respondOnce(deps, request, reply, async (tx) => {
        const { id } = request.params
        const { grant, view } = await freezeWorkspaceGrant(tx, deps, request.principal, id, request.body.frozen)
        return ok({ ...view, account_id: formatId('account', grant.accountId) })
      }),
  )
  app.delete(
    '/v1/workspaces/current/grants/:id',
    {
      config: {
        operation: 'workspace_grants.revoke',
        permission: 'workspace.manage',
        access: 'undelegated',
        whileFrozen: true,
        refuses: ['forbidden', 'not_found'],
      },
      schema: { params: byId('grant'), response: { 200: WorkspaceGrant } },
    },
    async (request, reply) =>
      respondOnce(deps, request, reply, async (tx) => {
        const grant = await revokeWorkspaceGrant(tx, deps, request.principal, request.params.id)
        return ok({ ...(await viewGrant(tx, tx.at, grant)), account_id: formatId('account', grant.accountId) })
      }),
  )
}
