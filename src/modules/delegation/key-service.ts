import { sessionBehind } from '../../auth/credential.ts'
import { defaultKeyPermissions } from '../../auth/permissions.ts'
import type { Principal } from '../../auth/principal.ts'
import { digestOfSecret, newApiKey } from '../../auth/secrets.ts'
import { lockAccount } from '../../db/account-lock.ts'
import type { Tx } from '../../db/client.ts'
import { keyLife } from '../../db/credential-life.ts'
import { insertRow, updateRow } from '../../db/prepare-write.ts'
import { apiKeys } from '../../db/tables/grants.ts'
import { appendEvents } from '../../events/append.ts'
import { type Actor, audit } from '../../events/audit.ts'
import { secondsAfter } from '../../lib/clock.ts'
import { conflict, found, Refusal } from '../../lib/errors.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import type { Operator } from '../operators.ts'
import type { OnGrantsRevoked } from '../ports.ts'
import { heldMembership } from '../workspaces/membership.ts'
import { noControls } from './control-rules.ts'
import { type ChangedGrant, changeVisibleGrant, createGrant, requireDescendant } from './grant-service.ts'
import { apiKeyStatus, presentApiKey, viewGrant, viewKey } from './present.ts'
import { type ApiKeyRecord, findAnyKey, type KeyWithGrant, lastKeyEnd, lockKey, scopeOf } from './queries.ts'
import type { ApiKey, CreateApiKey, UpdateApiKey } from './schema.ts'
import { limitGrantEnd, revokeGrant } from './service.ts'

type IssuedKey = ApiKey & { key: string }

const requireCapability = (principal: Principal): void => {
  if (!principal.capabilities.apiKeys) throw new Refusal('capability_disabled', { details: { capability: 'api_keys' } })
}

/** The plaintext leaves this function once and is not stored. */
const issueKey = async (
  tx: Tx,
  principal: Principal,
  { grant, view: grantView }: ChangedGrant,
  key: { name: string; expiresAt: Date | null },
) => {
  const { at } = tx
  const { plaintext, ...stored } = newApiKey()
  const originSessionId = await sessionBehind(tx, principal.credential)
  const row: ApiKeyRecord = {
    id: newId(),
    accountId: grant.accountId,
    workspaceId: grant.workspaceId,
    grantId: grant.id,
    originSessionId,
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
  return { ...view, key: plaintext }
}

/** A key and its grant. Permissions that are missing in the list are left for a person to decide: see `defaultKeyPermissions`. */
export const createApiKey = async (tx: Tx, principal: Principal, input: CreateApiKey): Promise<IssuedKey> => {
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
  if (name === undefined) return presentApiKey(key, view, tx.at)
  return presentApiKey(updateRow(tx, apiKeys, key, { name }), view, tx.at)
}

const requireRotatable = ({ key, grant }: KeyWithGrant, at: Date): void => {
  const status = apiKeyStatus(key, grant, at)
  if (status !== 'active') throw conflict(`This key is ${status}: only an active key can be rotated.`, status)
  // The key has a successor already; a third key would come from a repeated request.
  if (key.revokedAt) throw conflict('This key has been rotated already and ends when its overlap does.', 'rotated')
}

/** A new key on the same grant; the old one ends with the overlap. */
export const rotateApiKey = async (tx: Tx, principal: Principal, id: Uuid, overlapSeconds: number): Promise<IssuedKey> => {
  requireCapability(principal)
  const { key, grant } = found(await lockKey(tx, scopeOf(principal), id))
  const { at } = tx
  const [view] = await Promise.all([viewGrant(tx, at, grant), heldMembership(tx, principal, grant.workspaceId)])
  requireDescendant(principal, grant.id)
  requireRotatable({ key, grant }, at)
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
 * A grant ends with its last active key, and its descendants end too. Every key's end is known when the key is written, so the latest end
 * also becomes the `expires_at` of the grant and its descendants: authentication reads nothing above a grant. The caller has locked the
 * key's grant.
 */
const endKey = async (
  tx: Tx,
  onGrantsRevoked: OnGrantsRevoked,
  actor: Actor,
  record: KeyWithGrant,
  reason?: string,
): Promise<ApiKey> => {
  const { at } = tx
  if (keyLife(record.key, at) === 'revoked') return viewKey(tx, at, record)
  const key = updateRow(tx, apiKeys, record.key, { revokedAt: at })
  const end = await lastKeyEnd(tx, key.grantId)
  let { grant } = record
  if (end && end > at) grant = await limitGrantEnd(tx, actor, grant, end)
  else if (end) grant = await revokeGrant(tx, onGrantsRevoked, actor, grant.id)
  const view = await viewKey(tx, at, { key, grant })
  await appendEvents(tx, [{ type: 'api_key.revoked', accountId: key.accountId, workspaceId: null, data: view }])
  audit(tx, actor, 'api_key.revoke', {
    workspaceId: key.workspaceId,
    subject: key.id,
    after: { name: key.name, ...(reason !== undefined && { reason }) },
  })
  return view
}

/** Ends a key from the next request on; with the last key its grant and all descendants end too. A second call gives the same answer. */
export const revokeApiKey = async (tx: Tx, onGrantsRevoked: OnGrantsRevoked, principal: Principal, id: Uuid): Promise<ApiKey> =>
  endKey(tx, onGrantsRevoked, principal, found(await lockKey(tx, scopeOf(principal), id)))

/** The same by an operator, for a key of any account. */
export const revokeAnyKey = async (
  tx: Tx,
  onGrantsRevoked: OnGrantsRevoked,
  operator: Operator,
  id: Uuid,
  reason: string | undefined,
): Promise<ApiKey> => {
  const { accountId } = found(await findAnyKey(tx, { id }))
  await lockAccount(tx, accountId)
  const record = found(await lockKey(tx, { accountId, within: null }, id))
  return endKey(tx, onGrantsRevoked, operator, record, reason)
}
