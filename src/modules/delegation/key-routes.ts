import type { App } from '../../http/app-type.ts'
import { created, ok } from '../../http/idempotency.ts'
import { PageQuery, pageOf } from '../../http/pagination.ts'
import { listsOf, routesOf } from '../../http/routes.ts'
import { byId } from '../../http/wire.ts'
import { found } from '../../lib/errors.ts'
import type { Parts } from '../parts.ts'
import { createApiKey, revokeApiKey, rotateApiKey, updateApiKey } from './key-service.ts'
import { presentApiKey, viewGrant, viewKeys } from './present.ts'
import { findKey, listKeys, scopeOf } from './queries.ts'
import { ApiKey, CreateApiKey, NewApiKey, RotateApiKey, UpdateApiKey } from './schema.ts'

const once = ['key']

export const registerApiKeys = (app: App, deps: Parts): void => {
  const routes = routesOf(app, deps)
  const list = listsOf(app, deps)
  routes.post('/v1/accounts/me/api-keys', {
    config: {
      operation: 'api_keys.create',
      freshProof: 'always',
      permission: 'key.manage',
      idempotent: true,
      refuses: ['forbidden', 'capability_disabled'],
    },
    schema: {
      summary: 'Create an API key',
      description:
        'The key is shown in this answer and never again. Its spending controls apply to everything paid with it. A key that is created with a key is its child: it never has more permissions or higher limits.',
      body: CreateApiKey,
      response: { 201: NewApiKey },
    },
    // Below a key or an agent they are counted.
    work: async (tx, { principal, body }) => created(await createApiKey(tx, principal, body), once),
  })
  list('/v1/accounts/me/api-keys', {
    config: { operation: 'api_keys.list', permission: 'key.manage' },
    schema: {
      summary: 'List API keys',
      description: 'The keys of the account; a key sees itself and its descendants only.',
      querystring: PageQuery,
      response: { 200: pageOf(ApiKey) },
    },
    of: ({ principal }) => scopeOf(principal).within ?? principal.accountId,
    read: async (page, { principal }) => {
      await deps.lastUsed.flush()
      return listKeys(deps.db, scopeOf(principal), page)
    },
    idOf: ({ key }) => key.id,
    present: (rows, _request, at) => viewKeys(deps.db, at, rows),
  })
  routes.get('/v1/accounts/me/api-keys/:id', {
    config: { operation: 'api_keys.get', permission: 'key.manage' },
    schema: {
      summary: 'Read an API key',
      description: 'Its state, grant, controls, usage and headroom. Never the key itself.',
      params: byId('api_key'),
      response: { 200: ApiKey },
    },
    read: async ({ principal, params }) => {
      await deps.lastUsed.flush()
      const { key, grant } = found(await findKey(deps.db, scopeOf(principal), params.id))
      const now = deps.clock.now()
      return presentApiKey(key, await viewGrant(deps.db, now, grant), now)
    },
  })
  routes.patch('/v1/accounts/me/api-keys/:id', {
    config: {
      operation: 'api_keys.update',
      freshProof: 'by_content',
      permission: 'key.manage',
      refuses: ['forbidden', 'conflict'],
    },
    schema: {
      summary: 'Change an API key',
      description:
        'Its name and its spending controls. A field that is left out keeps its value, `null` removes a limit. A key cannot change its own controls.',
      params: byId('api_key'),
      body: UpdateApiKey,
      response: { 200: ApiKey },
    },
    work: async (tx, { principal, params, body }) => ok(await updateApiKey(tx, principal, params.id, body)),
  })
  routes.post('/v1/accounts/me/api-keys/:id/rotate', {
    config: {
      operation: 'api_keys.rotate',
      freshProof: 'always',
      permission: 'key.manage',
      idempotent: true,
      refuses: ['forbidden', 'capability_disabled'],
    },
    schema: {
      summary: 'Replace an API key',
      description:
        'A new key on the same grant: limits and usage stay. With `overlap_seconds` the old key works until the new one is deployed everywhere.',
      params: byId('api_key'),
      body: RotateApiKey,
      response: { 201: NewApiKey },
    },
    work: async (tx, { principal, params, body }) =>
      created(await rotateApiKey(tx, principal, params.id, body?.overlap_seconds ?? 0), once),
  })
  routes.delete('/v1/accounts/me/api-keys/:id', {
    config: { operation: 'api_keys.revoke', permission: 'key.manage', whileFrozen: true },
    schema: {
      summary: 'Revoke an API key',
      description: 'Takes effect with the next request, for its descendants too. Doing it again gives the same answer.',
      params: byId('api_key'),
      response: { 200: ApiKey },
    },
    work: async (tx, { principal, params }) => ok(await revokeApiKey(tx, deps.onGrantsRevoked, principal, params.id)),
    concerned: ({ principal }) => deps.ownersRelyingOn(deps.db, principal.accountId),
  })
}
