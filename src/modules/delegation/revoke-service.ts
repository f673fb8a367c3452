import { isNotNull, isNull, sql } from 'drizzle-orm'
import type { Principal } from '../../auth/principal.ts'
import { lockAccounts } from '../../db/account-lock.ts'
import { inTx, type Tx } from '../../db/client.ts'
import { keyLife } from '../../db/credential-life.ts'
import { prepare } from '../../db/prepare.ts'
import { updateRow, updateRows } from '../../db/prepare-write.ts'
import { apiKeys, grants } from '../../db/tables/grants.ts'
import { appendEvents } from '../../events/append.ts'
import { type Actor, audit } from '../../events/audit.ts'
import { isoTime } from '../../lib/clock.ts'
import { notFound } from '../../lib/errors.ts'
import { formatId, type Uuid } from '../../lib/ids.ts'
import { assertPresent } from '../../lib/lists.ts'
import { type SweepDeps, sweepOf } from '../for-each-row.ts'
import type { Parts } from '../parts.ts'
import type { OnGrantsRevoked } from '../ports.ts'
import { presentApiKey } from './present.ts'
import {
  activeGrants,
  findGrant,
  type GrantRecord,
  lockDependents,
  lockDescendants,
  lockGrant,
  lockGrants,
  scopeOf,
} from './queries.ts'
import { viewGrants, viewGrantsById } from './view-service.ts'

const lockKeys = prepare('api_keys.lock_of_grants', { grantIds: 'uuid[]' }, (orm, param) =>
  orm.select().from(apiKeys).where(sql`${apiKeys.grantId} = any(${param.grantIds})`).orderBy(apiKeys.id).for('update'),
)

/**
 * Revokes grants of one account and everything that derives from them, and returns these grants. The grants are locked before
 * their descendants are read, so that a child created meanwhile is included. The caller has checked the permission.
 */
export const revokeGrants = async (tx: Tx, onGrantsRevoked: OnGrantsRevoked, actor: Actor, grantIds: readonly Uuid[]) => {
  const locked = await lockGrants(tx, grantIds)
  const { at } = tx
  const roots = locked.filter(({ revokedAt }) => !revokedAt)
  const [root] = roots
  if (!root) return locked
  const ended = [...roots, ...(await lockDependents(tx, roots))].map((grant) => ({ ...grant, revokedAt: at }))
  const ids = ended.map(({ id }) => id)
  tx.defer(updateRows(tx, grants, ['revokedAt'], ended))
  // Expired keys stay expired. All others end now.
  const activeKeys = (await tx.run(lockKeys, { grantIds: ids })).filter((key) => keyLife(key, at) === 'active')
  const keys = activeKeys.map((key) => ({ ...key, revokedAt: at }))
  tx.defer(updateRows(tx, apiKeys, ['revokedAt'], keys))
  const views = await viewGrantsById(tx, at, ended)
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
  return locked.map((grant) => ({ ...grant, revokedAt: grant.revokedAt ?? at }))
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
export const limitGrantEnd = async (tx: Tx, actor: Actor, grant: GrantRecord, end: Date): Promise<GrantRecord> => {
  const endingLater = [grant, ...(await lockDescendants(tx, grant))].filter(({ expiresAt }) => !expiresAt || expiresAt > end)
  if (endingLater.length === 0) return grant
  const limited = endingLater.map((one) => ({ ...one, expiresAt: end }))
  tx.defer(updateRows(tx, grants, ['expiresAt'], limited))
  const { accountId } = grant
  const views = await viewGrants(tx, tx.at, limited)
  const events = views.map((data) => ({ type: 'grant.updated' as const, accountId, workspaceId: null, data }))
  await appendEvents(tx, events)
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

type GrantFilter = { accountId: Uuid; within?: Uuid | null; kind?: GrantRecord['kind']; workspaceId?: Uuid | null }

export const revokeGrantsOf = async (tx: Tx, onGrantsRevoked: OnGrantsRevoked, actor: Actor, filter: GrantFilter) => {
  const ids = (await tx.run(activeGrants, filter)).map(({ id }) => id)
  return revokeGrants(tx, onGrantsRevoked, actor, ids)
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
