import { z } from 'zod'
import type { App } from '../../../http/app-type.ts'
import { ok } from '../../../http/idempotency.ts'
import { PageQuery, pageOf } from '../../../http/pagination.ts'
import { listsOf, routesOf } from '../../../http/routes.ts'
import { byId, IdOut } from '../../../http/wire.ts'
import { formatId, type Uuid } from '../../../lib/ids.ts'
import type { Deps } from '../deps.ts'
import { viewGrant } from './present.ts'
import { listWorkspaceGrants } from './queries.ts'
import { Grant } from './schema.ts'
import { viewTogether } from './view-together.ts'
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

const withAccount = (grant: Grant, accountId: Uuid): z.output<typeof WorkspaceGrant> => ({
  ...grant,
  account_id: formatId('account', accountId),
})

/** For owners and administrators of the workspace in person: every grant of it, of every account. */
export const registerWorkspaceGrants = (app: App, deps: Deps): void => {
  const routes = routesOf(app, deps)
  const list = listsOf(app, deps)
  list('/v1/workspaces/current/grants', {
    config: { operation: 'workspace_grants.list', permission: 'workspace.manage', access: 'undelegated', refuses: ['forbidden'] },
    schema: {
      summary: 'List all grants of the workspace',
      description: 'For owners and administrators of the workspace: what any member has delegated in it.',
      querystring: PageQuery,
      response: { 200: pageOf(WorkspaceGrant) },
    },
    listing: async ({ principal }) => {
      await deps.lastUsed.flush()
      const { id } = principal.workspace
      return {
        of: id,
        read: (page) => listWorkspaceGrants(deps.db, id, page),
        present: async (rows) => {
          const views = await viewTogether(deps.db, deps.clock.now(), rows)
          return rows.flatMap(({ accountId }, index) => {
            const grant = views[index]
            return grant ? [withAccount(grant, accountId)] : []
          })
        },
      }
    },
  })
  routes.post('/v1/workspaces/current/grants/freeze', {
    config: {
      operation: 'workspace_grants.freeze_all',
      permission: 'workspace.manage',
      access: 'undelegated',
      whileFrozen: true,
      refuses: ['forbidden'],
    },
    schema: {
      summary: 'Freeze all grants of the workspace',
      description:
        'Stops every key and agent in the workspace: none of any member moves money until it is unfrozen. They can still read, and payments already sent still arrive.',
      response: { 200: FrozenGrants },
    },
    work: async (tx, { principal }) => ok({ frozen: await freezeWorkspaceGrants(tx, principal) }),
  })
  routes.patch('/v1/workspaces/current/grants/:id', {
    config: {
      operation: 'workspace_grants.freeze',
      freshProof: 'by_content',
      permission: 'workspace.manage',
      access: 'undelegated',
      whileFrozen: true,
      refuses: ['invalid_request', 'forbidden', 'not_found', 'conflict'],
    },
    schema: {
      summary: "Freeze or unfreeze a member's grant",
      description:
        'For owners and administrators of the workspace: stops a key or an agent of any member from moving money, or allows it again.',
      params: byId('grant'),
      body: FreezeGrant,
      response: { 200: WorkspaceGrant },
    },
    work: async (tx, { principal, params, body }) => {
      const { id } = params
      const { grant, view } = await freezeWorkspaceGrant(tx, principal, id, body.frozen)
      return ok({ ...view, account_id: formatId('account', grant.accountId) })
    },
  })
  routes.delete('/v1/workspaces/current/grants/:id', {
    config: {
      operation: 'workspace_grants.revoke',
      permission: 'workspace.manage',
      access: 'undelegated',
      whileFrozen: true,
      refuses: ['forbidden', 'not_found'],
    },
    schema: {
      summary: "Revoke a member's grant",
      description:
        'For owners and administrators of the workspace: ends a grant that another member gave in this workspace, and its descendants.',
      params: byId('grant'),
      response: { 200: WorkspaceGrant },
    },
    work: async (tx, { principal, params }) => {
      const grant = await revokeWorkspaceGrant(tx, deps.onGrantsRevoked, principal, params.id)
      return ok({ ...(await viewGrant(tx, tx.at, grant)), account_id: formatId('account', grant.accountId) })
    },
  })
}
