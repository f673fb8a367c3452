import { z } from 'zod'
import type { App } from '../../http/app-type.ts'
import { created, ok } from '../../http/idempotency.ts'
import { PageQuery, pageOf } from '../../http/pagination.ts'
import { routesOf } from '../../http/routes.ts'
import { BodyIn, byId, IdOut, RecordOut } from '../../http/wire.ts'
import { found } from '../../lib/errors.ts'
import { formatId, type Uuid } from '../../lib/ids.ts'
import type { Parts } from '../parts.ts'
import { createApiKey, revokeApiKey, rotateApiKey, updateApiKey } from './api-key-service.ts'
import { changeGrant, changeVisibleGrant, freezeWorkspaceGrants, lockGrantToManage } from './grant-service.ts'
import {
  findGrant,
  findGrantOfWorkspace,
  findKey,
  grantList,
  keyList,
  lockVisibleGrant,
  scopeOf,
  workspaceGrantList,
} from './queries.ts'
import { revokeGrant, revokeGrantsOf, revokeOwnGrant } from './revoke-service.ts'
import {
  ApiKey,
  CreateApiKey,
  Grant,
  ListGrants,
  NewApiKey,
  RevokeAll,
  RotateApiKey,
  UpdateApiKey,
  UpdateGrant,
} from './schema.ts'
import { viewGrant, viewGrants, viewKey, viewKeys } from './view-service.ts'

/** Writes pending last-used times before reading, so that the result is up to date. */
const afterUses = <Row>({ lastUsed }: Parts, read: () => Promise<Row>): Promise<Row> => lastUsed.flush().then(read)

const secretFields = ['key']

export const registerGrants = (app: App, deps: Parts): void => {
  const routes = routesOf(app, deps)
  routes.list('/v1/accounts/me/grants', 'grants.list', {
    permission: 'grant.manage',
    summary: 'List grants',
    description: 'Returns all grants of the account to API keys and OAuth clients, or those of one `kind`.',
    querystring: ListGrants,
    response: { 200: pageOf(Grant) },
    owner: ({ principal }) => scopeOf(principal).within ?? principal.accountId,
    read: (page, { principal, query: { kind } }) =>
      afterUses(deps, () => deps.db.run(grantList, { ...scopeOf(principal), kind, ...page })),
    present: (rows, _request, at) => viewGrants(deps.db, at, rows),
  })
  routes.post('/v1/accounts/me/grants/revoke-all', 'grants.revoke_all', {
    permission: 'grant.manage',
    whileFrozen: true,
    summary: 'Revoke all grants of a kind',
    description:
      'Revokes every active grant of a kind at once and returns them: all API keys, or all OAuth clients. Use it as an emergency stop: `{"kind": "oauth"}` stops all agents.',
    body: RevokeAll,
    response: { 200: z.object({ data: z.array(Grant) }) },
    work: async (tx, { principal, body }) => {
      const revoked = await revokeGrantsOf(tx, deps.onGrantsRevoked, principal, { ...scopeOf(principal), kind: body.kind })
      return ok({ data: await viewGrants(tx, tx.at, revoked) })
    },
    otherAccounts: ({ principal }) => deps.ownersRelyingOn(deps.db, principal.accountId),
  })
  routes.get('/v1/accounts/me/grants/:id', 'grants.get', {
    permission: 'grant.manage',
    summary: 'Retrieve a grant',
    description:
      'Returns the grant with its permissions, spending controls and usage, and the headroom under its own limits and those of its parent grants.',
    params: byId('grant'),
    response: { 200: Grant },
    read: async ({ principal, params }) => {
      const grant = found(await afterUses(deps, () => findGrant(deps.db, scopeOf(principal), params.id)))
      return viewGrant(deps.db, deps.clock.now(), grant)
    },
  })
  routes.patch('/v1/accounts/me/grants/:id', 'grants.update', {
    // A grant can be frozen while its workspace is frozen. The service then refuses new controls.
    freshProof: 'by_content',
    permission: 'grant.manage',
    whileFrozen: true,
    refuses: ['conflict', 'account_frozen', 'workspace_frozen'],
    summary: 'Update or freeze a grant',
    description:
      'Changes the spending controls, or freezes the grant with `{"frozen": true}`. A frozen grant can still read, but cannot pay. Takes effect at once.',
    params: byId('grant'),
    body: UpdateGrant,
    response: { 200: Grant },
    work: async (tx, { principal, params, body: { spending_controls: controls, frozen } }) => {
      const grant = found(await lockVisibleGrant(tx, scopeOf(principal), params.id))
      return ok((await changeVisibleGrant(tx, principal, grant, { controls, frozen })).view)
    },
  })
  routes.delete('/v1/accounts/me/grants/:id', 'grants.revoke', {
    permission: 'grant.manage',
    whileFrozen: true,
    summary: 'Revoke a grant',
    description: 'Revokes the grant and its descendants at once, with their keys, access tokens and refresh tokens.',
    params: byId('grant'),
    response: { 200: Grant },
    work: async (tx, { principal, params }) =>
      ok(await viewGrant(tx, tx.at, await revokeOwnGrant(tx, deps.onGrantsRevoked, principal, params.id))),
    otherAccounts: ({ principal }) => deps.ownersRelyingOn(deps.db, principal.accountId),
  })
  routes.post('/v1/accounts/me/api-keys', 'api_keys.create', {
    freshProof: 'always',
    permission: 'key.manage',
    idempotent: true,
    refuses: ['forbidden', 'capability_disabled'],
    summary: 'Create an API key',
    description:
      'Creates an API key, which is shown only once. Its spending controls apply to every payment made with it. A key created with another key is its child and never has more permissions or higher limits.',
    body: CreateApiKey,
    response: { 201: NewApiKey },
    work: async (tx, { principal, body }) => created(await createApiKey(tx, principal, body), secretFields),
  })
  routes.list('/v1/accounts/me/api-keys', 'api_keys.list', {
    permission: 'key.manage',
    summary: 'List API keys',
    description: 'Returns the keys of the account. A key sees only itself and its descendants.',
    querystring: PageQuery,
    response: { 200: pageOf(ApiKey) },
    owner: ({ principal }) => scopeOf(principal).within ?? principal.accountId,
    read: (page, { principal }) => afterUses(deps, () => deps.db.run(keyList, { ...scopeOf(principal), ...page })),
    idOf: ({ key }) => key.id,
    present: (rows, _request, at) => viewKeys(deps.db, at, rows),
  })
  routes.get('/v1/accounts/me/api-keys/:id', 'api_keys.get', {
    permission: 'key.manage',
    summary: 'Retrieve an API key',
    description: 'Returns the status, grant, spending controls, usage and headroom of the key, but never the key itself.',
    params: byId('api_key'),
    response: { 200: ApiKey },
    read: async ({ principal, params }) => {
      const key = found(await afterUses(deps, () => findKey(deps.db, scopeOf(principal), params.id)))
      return viewKey(deps.db, deps.clock.now(), key)
    },
  })
  routes.patch('/v1/accounts/me/api-keys/:id', 'api_keys.update', {
    freshProof: 'by_content',
    permission: 'key.manage',
    refuses: ['forbidden', 'conflict'],
    summary: 'Update an API key',
    description:
      'Changes the name or the spending controls. Omitted fields keep their value; `null` removes a limit. A key cannot change its own controls.',
    params: byId('api_key'),
    body: UpdateApiKey,
    response: { 200: ApiKey },
    work: async (tx, { principal, params, body }) => ok(await updateApiKey(tx, principal, params.id, body)),
  })
  routes.post('/v1/accounts/me/api-keys/:id/rotate', 'api_keys.rotate', {
    freshProof: 'always',
    permission: 'key.manage',
    idempotent: true,
    refuses: ['forbidden', 'capability_disabled'],
    summary: 'Rotate an API key',
    description:
      'Creates a new key for the same grant, with the same limits and usage. With `overlap_seconds`, the old key works while you deploy the new one.',
    params: byId('api_key'),
    body: RotateApiKey,
    response: { 201: NewApiKey },
    work: async (tx, { principal, params, body }) =>
      created(await rotateApiKey(tx, principal, params.id, body?.overlap_seconds ?? 0), secretFields),
  })
  routes.delete('/v1/accounts/me/api-keys/:id', 'api_keys.revoke', {
    permission: 'key.manage',
    whileFrozen: true,
    summary: 'Revoke an API key',
    description: 'Revokes the key and its descendants from the next request on. Repeating the request returns the same answer.',
    params: byId('api_key'),
    response: { 200: ApiKey },
    work: async (tx, { principal, params }) => ok(await revokeApiKey(tx, deps.onGrantsRevoked, principal, params.id)),
    otherAccounts: ({ principal }) => deps.ownersRelyingOn(deps.db, principal.accountId),
  })
}

const WorkspaceGrant = Grant.extend({ account_id: IdOut('account').describe('The account that created the grant.') }).meta({
  id: 'WorkspaceGrant',
})

const FreezeGrant = BodyIn('FreezeGrant', {
  frozen: z.boolean().describe('Whether the grant is frozen. A frozen grant can still read, but cannot move money.'),
})

const FrozenGrants = RecordOut('FrozenGrants', {
  frozen: z
    .number()
    .int()
    .describe('The number of grants that this request froze, including those that a member had frozen and could unfreeze.'),
})

const withAccount = (grant: Grant, accountId: Uuid): z.output<typeof WorkspaceGrant> => ({
  ...grant,
  account_id: formatId('account', accountId),
})

const byManager = { permission: 'workspace.manage', access: 'undelegated' } as const

export const registerWorkspaceGrants = (app: App, deps: Parts): void => {
  const routes = routesOf(app, deps)
  routes.list('/v1/workspaces/current/grants', 'workspace_grants.list', {
    ...byManager,
    refuses: ['forbidden'],
    summary: 'List all grants of the workspace',
    description:
      'Returns the grants of all members in the workspace, or those of one `kind`. Only for owners and administrators of the workspace.',
    querystring: ListGrants,
    response: { 200: pageOf(WorkspaceGrant) },
    read: (page, { principal, query: { kind } }) =>
      afterUses(deps, () => deps.db.run(workspaceGrantList, { workspaceId: principal.workspace.id, kind, ...page })),
    present: async (rows, _request, at) => {
      const views = await viewGrants(deps.db, at, rows)
      return rows.flatMap(({ accountId }, index) => {
        const grant = views[index]
        return grant ? [withAccount(grant, accountId)] : []
      })
    },
  })
  routes.post('/v1/workspaces/current/grants/freeze', 'workspace_grants.freeze_all', {
    ...byManager,
    whileFrozen: true,
    refuses: ['forbidden'],
    summary: 'Freeze all grants of the workspace',
    description:
      'Stops every key and agent of every member in the workspace from moving money until it is unfrozen. They can still read, and payments that were already sent still arrive.',
    response: { 200: FrozenGrants },
    work: async (tx, { principal }) => ok({ frozen: await freezeWorkspaceGrants(tx, principal) }),
  })
  routes.patch('/v1/workspaces/current/grants/:id', 'workspace_grants.freeze', {
    ...byManager,
    freshProof: 'by_content',
    whileFrozen: true,
    refuses: ['forbidden', 'conflict'],
    summary: "Freeze or unfreeze a member's grant",
    description:
      'Stops a key or an agent of any member from moving money, or allows it again. Only for owners and administrators of the workspace.',
    params: byId('grant'),
    body: FreezeGrant,
    response: { 200: WorkspaceGrant },
    work: async (tx, { principal, params, body }) => {
      const grant = await lockGrantToManage(tx, principal, params.id)
      const { view } = await changeGrant(tx, principal, grant, body)
      return ok(withAccount(view, grant.accountId))
    },
  })
  routes.delete('/v1/workspaces/current/grants/:id', 'workspace_grants.revoke', {
    ...byManager,
    whileFrozen: true,
    refuses: ['forbidden'],
    summary: "Revoke a member's grant",
    description:
      'Revokes a grant of another member in this workspace, and its descendants. Only for owners and administrators of the workspace.',
    params: byId('grant'),
    response: { 200: WorkspaceGrant },
    work: async (tx, { principal, params }) => {
      const { id, accountId } = await lockGrantToManage(tx, principal, params.id)
      const revoked = await revokeGrant(tx, deps.onGrantsRevoked, principal, id)
      return ok(withAccount(await viewGrant(tx, tx.at, revoked), accountId))
    },
    otherAccounts: async ({ principal, params }) => {
      const grant = await findGrantOfWorkspace(deps.db, { id: params.id, workspaceId: principal.workspace.id })
      return grant ? [grant.accountId, ...(await deps.ownersRelyingOn(deps.db, grant.accountId))] : []
    },
  })
}
