import { isNotNull, isNull, sql } from 'drizzle-orm'
import { defaultKeyPermissions } from '../../auth/permissions.ts'
import type { Principal } from '../../auth/principal.ts'
import { digestOfSecret, newApiKey } from '../../auth/secrets.ts'
import { lockAccounts } from '../../db/account-lock.ts'
import { inTx, type Tx } from '../../db/client.ts'
import { keyLife } from '../../db/credential-life.ts'
import { prepare } from '../../db/prepare.ts'
import { insertRow, updateRow, updateRows } from '../../db/prepare-write.ts'
import { apiKeys, grants } from '../../db/tables/grants.ts'
import { appendEvents } from '../../events/append.ts'
import { type Actor, audit } from '../../events/audit.ts'
import { isoTime, secondsAfter } from '../../lib/clock.ts'
import { conflict, found, notFound, Refusal } from '../../lib/errors.ts'
import { formatId, newId, type Uuid } from '../../lib/ids.ts'
import { assertPresent } from '../../lib/lists.ts'
import { quoted } from '../../lib/text.ts'
import { type SweepDeps, sweepOf } from '../for-each-row.ts'
import { queueMail } from '../mail/service.ts'
import type { Operator } from '../operators.ts'
import type { Parts } from '../parts.ts'
import type { OnGrantsRevoked } from '../ports.ts'
import { heldMembership } from '../workspaces/membership.ts'
import { noControls } from './control-rules.ts'
import {
  type ChangedGrant,
  changeVisibleGrant,
  createGrant,
  requireDescendant,
  requireRoomForOverlap,
  requireUnfrozen,
} from './grant-service.ts'
import { apiKeyStatus, presentApiKey, viewGrant, viewGrants, viewKey, viewsOf } from './present.ts'
import {
  type ApiKeyRecord,
  activeGrants,
  findAnyKey,
  findGrant,
  type GrantRecord,
  type KeyWithGrant,
  lastKeyEnd,
  lockDependents,
  lockDescendants,
  lockGrant,
  lockKey,
  lockThese,
  scopeOf,
} from './queries.ts'
import type { ApiKey, CreateApiKey, UpdateApiKey } from './schema.ts'

const lockKeys = prepare('api_keys.lock_of_grants', { grantIds: 'uuid[]' }, (orm, param) =>
  orm.select().from(apiKeys).where(sql`${apiKeys.grantId} = any(${param.grantIds})`).orderBy(apiKeys.id).for('update'),
)

/**
 * Revokes grants of one account and everything that derives from them, and returns these grants. The grants are locked before
 * their descendants are read, so that a child created meanwhile is included. The caller has checked the permission.
 */
export const revokeGrants = async (tx: Tx, onGrantsRevoked: OnGrantsRevoked, actor: Actor, grantIds: readonly Uuid[]) => {
  const found = await lockThese(tx, grantIds)
  const { at } = tx
  const roots = found.filter(({ revokedAt }) => !revokedAt)
  const [root] = roots
  if (!root) return found
  const ended = [...roots, ...(await lockDependents(tx, roots))].map((grant) => ({ ...grant, revokedAt: at }))
  const ids = ended.map(({ id }) => id)
  tx.defer(updateRows(tx, grants, ['revokedAt'], ended))
  // Expired keys stay expired. All others end now.
  const living = (await tx.run(lockKeys, { grantIds: ids })).filter((key) => keyLife(key, at) === 'active')
  const keys = living.map((key) => ({ ...key, revokedAt: at }))
  tx.defer(updateRows(tx, apiKeys, ['revokedAt'], keys))
  const views = await viewsOf(tx, at, ended)
  const { accountId } = root
  await appendEvents(tx, [
    ...[...views.values()].map((data) => ({ type: 'grant.revoked' as const, accountId, workspaceId: null, data })),
    ...keys.flatMap((key) => {
      const grant = views.get(key.grantId)
      const data = grant && presentApiKey(key, grant, at)
      return data ? [{ type: 'api_key.revoked' as const, accountId, workspaceId: null, data }] : []
    }),
  ])
  for (const { id, workspaceId, label, ancestorIds } of ended) {
    const above = grantIds.find((one) => ancestorIds.includes(one)) ?? root.id
    const because = grantIds.includes(id) ? {} : { with: formatId('grant', above) }
    audit(tx, actor, 'grant.revoke', { workspaceId, subject: id, after: { label, ...because } })
  }
  for (const { id, workspaceId, name } of keys) audit(tx, actor, 'api_key.revoke', { workspaceId, subject: id, after: { name } })
  const workspaceIds = [...new Set(ended.map(({ workspaceId }) => workspaceId))]
  await onGrantsRevoked(tx, actor, { accountId, grantIds: ids, workspaceIds })
  return found.map((grant) => ({ ...grant, revokedAt: grant.revokedAt ?? at }))
}

export const revokeGrant = async (tx: Tx, onGrantsRevoked: OnGrantsRevoked, actor: Actor, grantId: Uuid): Promise<GrantRecord> =>
  assertPresent((await revokeGrants(tx, onGrantsRevoked, actor, [grantId]))[0], 'a grant that must exist is missing')

/**
 * Runs a transaction that revokes grants of the account. It locks the accounts that hold the money which they can request before
 * any row, so that their unsent payments end with them.
 */
export const inTxEndingGrants = async <Result>(
  { db, ownersRelyingOn }: Pick<Parts, 'db' | 'ownersRelyingOn'>,
  accountId: Uuid,
  work: (tx: Tx) => Promise<Result>,
): Promise<Result> => {
  const owners = await ownersRelyingOn(db, accountId)
  return inTx(db, async (tx) => {
    await lockAccounts(tx, { exclusive: [accountId, ...owners] })
    return work(tx)
  })
}

/** Ends the grant and its descendants at `end` at the latest. The caller has locked the grant. */
const limitGrantEnd = async (tx: Tx, actor: Actor, grant: GrantRecord, end: Date): Promise<GrantRecord> => {
  const later = [grant, ...(await lockDescendants(tx, grant))].filter(({ expiresAt }) => !expiresAt || expiresAt > end)
  if (later.length === 0) return grant
  const limited = later.map((one) => ({ ...one, expiresAt: end }))
  tx.defer(updateRows(tx, grants, ['expiresAt'], limited))
  const views = await viewGrants(tx, tx.at, limited)
  await appendEvents(
    tx,
    views.map((data) => ({ type: 'grant.updated' as const, accountId: grant.accountId, workspaceId: null, data })),
  )
  for (const { id, workspaceId, label } of limited)
    audit(tx, actor, 'grant.update', { workspaceId, subject: id, after: { label, expires_at: isoTime(end) } })
  return limited.find(({ id }) => id === grant.id) ?? grant
}

/** Moves the end of an OAuth grant with that of its last token. The caller has locked the grant. */
export const moveGrantEnd = (tx: Tx, grant: GrantRecord, expiresAt: Date): void =>
  void updateRow(tx, grants, grant, { expiresAt })

export const revokeOwnGrant = async (tx: Tx, onGrantsRevoked: OnGrantsRevoked, principal: Principal, grantId: Uuid) => {
  if (!(await findGrant(tx, scopeOf(principal), grantId))) throw notFound()
  return revokeGrant(tx, onGrantsRevoked, principal, grantId)
}

type GrantsOf = { accountId: Uuid; within?: Uuid | null; kind?: GrantRecord['kind']; workspaceId?: Uuid | null }

export const revokeGrantsOf = async (tx: Tx, onGrantsRevoked: OnGrantsRevoked, actor: Actor, given: GrantsOf) => {
  const active = await tx.run(activeGrants, given)
  return revokeGrants(
    tx,
    onGrantsRevoked,
    actor,
    active.map(({ id }) => id),
  )
}

/**
 * Revokes expired grants and their descendants and publishes events; authentication already refuses them. The oldest end comes
 * first, because descendants end with it. A refresh may have moved an end while the sweep waited for the lock.
 */
export const revokeDueGrants = sweepOf(
  'grants.end',
  {
    id: grants.id,
    due: grants.expiresAt,
    where: [isNull(grants.revokedAt), isNotNull(grants.expiresAt)],
    fields: { accountId: grants.accountId },
  },
  (deps: SweepDeps & Pick<Parts, 'onGrantsRevoked' | 'ownersRelyingOn'>, { id, accountId }) =>
    inTxEndingGrants(deps, accountId, async (tx) => {
      const { expiresAt } = await lockGrant(tx, id)
      if (expiresAt && expiresAt <= tx.at)
        await revokeGrant(tx, deps.onGrantsRevoked, { accountId: null, origin: null, way: 'end_of_grant' }, id)
    }),
)

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
    ...{ kind: 'new_key', cause: `api_key/${row.id}`, to: [row.accountId], workspaceId: row.workspaceId },
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
  const [view] = await Promise.all([viewGrant(tx, at, grant), heldMembership(tx, principal, grant.workspaceId)])
  await requireUnfrozen(tx, principal, grant.workspaceId)
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
  audit(tx, actor, 'api_key.revoke', {
    workspaceId: key.workspaceId,
    subject: key.id,
    after: { name: key.name, ...(reason !== undefined && { reason }) },
  })
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
