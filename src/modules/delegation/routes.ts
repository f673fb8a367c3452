import { z } from 'zod'
import type { App } from '../../http/app-type.ts'
import { ok } from '../../http/idempotency.ts'
import { PageQuery, pageOf } from '../../http/pagination.ts'
import { listsOf, routesOf } from '../../http/routes.ts'
import { byId, IdOut } from '../../http/wire.ts'
import { found } from '../../lib/errors.ts'
import { formatId, type Uuid } from '../../lib/ids.ts'
import type { Parts } from '../parts.ts'
import { viewGrant, viewGrants } from './present.ts'
import { findGrant, listGrants, listWorkspaceGrants, scopeOf } from './queries.ts'
import { Grant, RevokeAll, UpdateGrant } from './schema.ts'
import { revokeAllGrants, revokeOwnGrant } from './service.ts'
import { freezeWorkspaceGrant, freezeWorkspaceGrants, revokeWorkspaceGrant, updateGrant } from './update.ts'

export const registerGrants = (app: App, deps: Parts): void => {
  const routes = routesOf(app, deps)
  const list = listsOf(app, deps)
  list('/v1/accounts/me/grants', {
    config: { operation: 'grants.list', permission: 'grant.manage' },
    schema: {
      summary: 'List grants',
      description: 'Everything that was delegated by the account: to API keys and to OAuth clients.',
      querystring: PageQuery,
      response: { 200: pageOf(Grant) },
    },
    of: ({ principal }) => scopeOf(principal).within ?? principal.accountId,
    read: async (page, { principal }) => {
      await deps.lastUsed.flush()
      return listGrants(deps.db, scopeOf(principal), page)
    },
    present: (rows, _request, at) => viewGrants(deps.db, at, rows),
  })
  routes.post('/v1/accounts/me/grants/revoke-all', {
    config: { operation: 'grants.revoke_all', permission: 'grant.manage', whileFrozen: true },
    schema: {
      summary: 'Revoke all grants of a kind',
      description:
        'The emergency stop for everything that was delegated: all API keys, or all OAuth clients.\n\nRevokes every active grant of a kind at once, and returns them: `{"kind": "oauth"}` stops all agents.',
      body: RevokeAll,
      response: { 200: z.object({ data: z.array(Grant) }) },
    },
    work: async (tx, { principal, body }) => {
      const revoked = await revokeAllGrants(tx, deps.onGrantsRevoked, principal, body.kind)
      return ok({ data: await viewGrants(tx, tx.at, revoked) })
    },
    concerned: ({ principal }) => deps.ownersRelyingOn(deps.db, principal.accountId),
  })
  routes.get('/v1/accounts/me/grants/:id', {
    config: { operation: 'grants.get', permission: 'grant.manage' },
    schema: {
      summary: 'Read a grant',
      description: 'Its permissions, controls, usage, and the headroom that it and the grants above it leave.',
      params: byId('grant'),
      response: { 200: Grant },
    },
    read: async ({ principal, params }) => {
      await deps.lastUsed.flush()
      const grant = found(await findGrant(deps.db, scopeOf(principal), params.id))
      return viewGrant(deps.db, deps.clock.now(), grant)
    },
  })
  routes.patch('/v1/accounts/me/grants/:id', {
    // A grant can be frozen while its workspace is frozen; the service then refuses new controls.
    config: {
      operation: 'grants.update',
      freshProof: 'by_content',
      permission: 'grant.manage',
      whileFrozen: true,
      refuses: ['conflict', 'account_frozen', 'workspace_frozen'],
    },
    schema: {
      summary: 'Change or freeze a grant',
      description:
        'Changes its controls, or freezes it with `{"frozen": true}`: it can still read, and cannot pay. Takes effect at once.',
      params: byId('grant'),
      body: UpdateGrant,
      response: { 200: Grant },
    },
    work: async (tx, { principal, params, body: { spending_controls: controls, frozen } }) =>
      ok((await updateGrant(tx, principal, params.id, { controls, frozen })).view),
  })
  routes.delete('/v1/accounts/me/grants/:id', {
    config: { operation: 'grants.revoke', permission: 'grant.manage', whileFrozen: true },
    schema: {
      summary: 'Revoke a grant',
      description: 'Ends it and everything that descends from it, at once: keys, access tokens and refresh tokens.',
      params: byId('grant'),
      response: { 200: Grant },
    },
    work: async (tx, { principal, params }) =>
      ok(await viewGrant(tx, tx.at, await revokeOwnGrant(tx, deps.onGrantsRevoked, principal, params.id))),
    concerned: ({ principal }) => deps.ownersRelyingOn(deps.db, principal.accountId),
  })
}

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
export const registerWorkspaceGrants = (app: App, deps: Parts): void => {
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
    read: async (page, { principal }) => {
      await deps.lastUsed.flush()
      return listWorkspaceGrants(deps.db, principal.workspace.id, page)
    },
    present: async (rows, _request, at) => {
      const views = await viewGrants(deps.db, at, rows)
      return rows.flatMap(({ accountId }, index) => {
        const grant = views[index]
        return grant ? [withAccount(grant, accountId)] : []
      })
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
      refuses: ['forbidden', 'conflict'],
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
      refuses: ['forbidden'],
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
