import { defaultKeyPermissions } from '../../auth/permissions.ts'
import type { Principal } from '../../auth/principal.ts'
import { digestOfSecret, newApiKey } from '../../auth/secrets.ts'
import type { Tx } from '../../db/client.ts'
import { keyLife } from '../../db/credential-life.ts'
import { insertRow, updateRow } from '../../db/prepare-write.ts'
import { apiKeys } from '../../db/tables/grants.ts'
import { appendEvents } from '../../events/append.ts'
import { type Actor, audit } from '../../events/audit.ts'
import { isoTime, secondsAfter } from '../../lib/clock.ts'
import { conflict, found, Refusal } from '../../lib/errors.ts'
import { formatId, newId, type Uuid } from '../../lib/ids.ts'
import { quoted } from '../../lib/text.ts'
import { queueMail } from '../mail/service.ts'
import type { Operator } from '../operators.ts'
import type { Parts } from '../parts.ts'
import type { OnGrantsRevoked } from '../ports.ts'
import { requireMembership } from '../workspaces/membership.ts'
import { noControls } from './control-rules.ts'
import {
  type ChangedGrant,
  changeVisibleGrant,
  createGrant,
  requireDescendant,
  requireOpenWorkspace,
  requireRoomForOverlap,
} from './grant-service.ts'
import { apiKeyStatus, presentApiKey } from './present.ts'
import { type ApiKeyRecord, findAnyKey, type KeyWithGrant, lastKeyEnd, lockKey, scopeOf } from './queries.ts'
import { inTxEndingGrants, limitGrantEnd, revokeGrant } from './revoke-service.ts'
import type { ApiKey, CreateApiKey, UpdateApiKey } from './schema.ts'
import { viewGrant, viewKey } from './view-service.ts'

const requireCapability = (principal: Principal): void => {
  if (!principal.capabilities.apiKeys) throw new Refusal('capability_disabled', { details: { capability: 'api_keys' } })
}

const issueKey = async (
  tx: Tx,
  principal: Principal,
  { grant, view: grantView }: ChangedGrant,
  key: { name: string; expiresAt: Date | null },
) => {
  const { at } = tx
  const { plaintext, ...stored } = newApiKey()
  const row: ApiKeyRecord = {
    id: newId(),
    accountId: grant.accountId,
    workspaceId: grant.workspaceId,
    grantId: grant.id,
    originSessionId: principal.originSessionId,
    ...key,
    ...stored,
    createdAt: at,
    lastUsedAt: null,
    revokedAt: null,
  }
  insertRow(tx, apiKeys, row)
  const view = presentApiKey(row, grantView, at)
  await appendEvents(tx, [{ type: 'api_key.created', accountId: row.accountId, workspaceId: null, data: view }])
  audit(tx, principal, 'api_key.create', {
    workspaceId: row.workspaceId,
    subject: row.id,
    after: { name: row.name, grant_id: grant.id, expires_at: row.expiresAt, secret_digest: digestOfSecret(row.hash) },
  })
  queueMail(tx, {
    kind: 'new_key',
    cause: `api_key/${row.id}`,
    to: [row.accountId],
    workspaceId: row.workspaceId,
    values: { name: quoted(row.name) },
    times: { at: isoTime(at) },
    path: `/agents/${formatId('grant', grant.id)}`,
  })
  return { ...view, key: plaintext }
}

/** Without a list, a key gets `defaultKeyPermissions`. Only a person can grant it more. */
export const createApiKey = async (tx: Tx, principal: Principal, input: CreateApiKey) => {
  requireCapability(principal)
  const created = await createGrant(tx, principal, {
    kind: 'api_key',
    label: input.name,
    permissions: input.permissions ?? defaultKeyPermissions(principal.permissions),
    controls: input.spending_controls ?? noControls,
    expiresAt: input.expires_at ?? null,
  })
  return issueKey(tx, principal, created, { name: input.name, expiresAt: created.grant.expiresAt })
}

export const updateApiKey = async (
  tx: Tx,
  principal: Principal,
  id: Uuid,
  { name, spending_controls: controls }: UpdateApiKey,
): Promise<ApiKey> => {
  const { key, grant } = found(await lockKey(tx, scopeOf(principal), id))
  const { view } = await changeVisibleGrant(tx, principal, grant, { label: name, controls })
  return presentApiKey(name === undefined ? key : updateRow(tx, apiKeys, key, { name }), view, tx.at)
}

export const rotateApiKey = async (tx: Tx, principal: Principal, id: Uuid, overlapSeconds: number) => {
  requireCapability(principal)
  const { key, grant } = found(await lockKey(tx, scopeOf(principal), id))
  const { at } = tx
  const [view] = await Promise.all([viewGrant(tx, at, grant), requireMembership(tx, principal, grant.workspaceId)])
  await requireOpenWorkspace(tx, principal, grant.workspaceId)
  await requireDescendant(tx, principal, grant)
  const status = apiKeyStatus(key, grant, at)
  if (status !== 'active') throw conflict(`This key is ${status}: only an active key can be rotated.`, status)
  // Without this check, a repeated request would issue a third key.
  if (key.revokedAt) throw conflict('This key has been rotated already and ends when its overlap does.', 'rotated')
  if (overlapSeconds > 0) await requireRoomForOverlap(tx, grant)
  const old = updateRow(tx, apiKeys, key, { revokedAt: secondsAfter(at, overlapSeconds) })
  const issued = await issueKey(tx, principal, { grant, view }, { name: key.name, expiresAt: key.expiresAt })
  const data = presentApiKey(old, view, at)
  await appendEvents(tx, [{ type: 'api_key.rotated', accountId: old.accountId, workspaceId: null, data }])
  audit(tx, principal, 'api_key.rotate', {
    workspaceId: old.workspaceId,
    subject: old.id,
    after: { name: old.name, successor: issued.id, revoked_at: old.revokedAt },
  })
  return issued
}

/**
 * A grant ends with its last active key. A key's end is known when it is written, so the latest end becomes the `expires_at` of
 * the grant and its descendants, and authentication reads no ancestors. The caller has locked the grant.
 */
const endKey = async (tx: Tx, onGrantsRevoked: OnGrantsRevoked, actor: Actor, record: KeyWithGrant, reason?: string) => {
  const { at } = tx
  if (keyLife(record.key, at) === 'revoked') return viewKey(tx, at, record)
  const key = updateRow(tx, apiKeys, record.key, { revokedAt: at })
  const end = await lastKeyEnd(tx, key.grantId)
  let { grant } = record
  if (end && end > at) grant = await limitGrantEnd(tx, actor, grant, end)
  else if (end) grant = await revokeGrant(tx, onGrantsRevoked, actor, grant.id)
  const view = await viewKey(tx, at, { key, grant })
  await appendEvents(tx, [{ type: 'api_key.revoked', accountId: key.accountId, workspaceId: null, data: view }])
  const { workspaceId, name } = key
  audit(tx, actor, 'api_key.revoke', { workspaceId, subject: key.id, after: { name, reason } })
  return view
}

export const revokeApiKey = async (tx: Tx, onGrantsRevoked: OnGrantsRevoked, principal: Principal, id: Uuid): Promise<ApiKey> =>
  endKey(tx, onGrantsRevoked, principal, found(await lockKey(tx, scopeOf(principal), id)))

export const revokeAnyKey = async (
  deps: Pick<Parts, 'db' | 'onGrantsRevoked' | 'ownersRelyingOn'>,
  operator: Operator,
  id: Uuid,
  reason: string | undefined,
): Promise<ApiKey> => {
  const { accountId } = found(await findAnyKey(deps.db, { id }))
  return inTxEndingGrants(deps, accountId, async (tx) => {
    const record = found(await lockKey(tx, { accountId, within: null }, id))
    return endKey(tx, deps.onGrantsRevoked, operator, record, reason)
  })
}
