import { isNotNull, isNull, sql } from 'drizzle-orm'
import type { Principal } from '../../auth/principal.ts'
import { inTx, type Tx } from '../../db/client.ts'
import { keyLife } from '../../db/credential-life.ts'
import { prepare } from '../../db/prepare.ts'
import { prepareUpdateAll, updateRow } from '../../db/prepare-write.ts'
import { apiKeys, grants } from '../../db/tables/grants.ts'
import { appendEvents } from '../../events/append.ts'
import { type Actor, audit } from '../../events/audit.ts'
import { isoTime } from '../../lib/clock.ts'
import { notFound } from '../../lib/errors.ts'
import { formatId, type Uuid } from '../../lib/ids.ts'
import { type Sweeping, sweepOf } from '../for-each-row.ts'
import type { Parts } from '../parts.ts'
import type { OnGrantsRevoked } from '../ports.ts'
import { presentApiKey, viewGrants, viewsOf } from './present.ts'
import {
  findGrant,
  type GrantRecord,
  type GrantsOf,
  listRoots,
  lockDependents,
  lockDescendants,
  lockGrant,
  scopeOf,
} from './queries.ts'

const revokeGrants = prepareUpdateAll('grants.revoke', grants, ['revokedAt'])
const revokeKeys = prepareUpdateAll('api_keys.revoke', apiKeys, ['revokedAt'])
const limitEnds = prepareUpdateAll('grants.limit_ends', grants, ['expiresAt'])

const lockKeys = prepare('api_keys.lock_of_grants', { grantIds: 'uuid[]' }, (orm, at) =>
  orm.select().from(apiKeys).where(sql`${apiKeys.grantId} = any(${at.grantIds})`).orderBy(apiKeys.id).for('update'),
)

/** Keys that have expired stay expired; all others end now. */
const revokeKeysOf = async (tx: Tx, grantIds: readonly Uuid[], at: Date) => {
  const keys = await tx.run(lockKeys, { grantIds })
  const ended = keys.filter((key) => keyLife(key, at) === 'active').map((key) => ({ ...key, revokedAt: at }))
  if (ended.length > 0) tx.defer(revokeKeys(tx.query, ended))
  return ended
}

/**
 * Ends a grant, its descendants, all their keys, and the sign-in methods and sessions that came from them, permanently and from the next
 * request on. The caller has checked whether the actor may. The grant is locked first and its descendants are read afterwards, so that a
 * child created meanwhile is found.
 */
export const revokeGrant = async (
  tx: Tx,
  onGrantsRevoked: OnGrantsRevoked,
  actor: Actor,
  grantId: Uuid,
): Promise<GrantRecord> => {
  const root = await lockGrant(tx, grantId)
  const { at } = tx
  if (root.revokedAt) return root
  const ended = [root, ...(await lockDependents(tx, root))].map((grant) => ({ ...grant, revokedAt: at }))
  const ids = ended.map(({ id }) => id)
  tx.defer(revokeGrants(tx.query, ended))
  const keys = await revokeKeysOf(tx, ids, at)
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
  for (const { id, workspaceId, label } of ended) {
    const because = id === grantId ? {} : { with: formatId('grant', grantId) }
    audit(tx, actor, 'grant.revoke', { workspaceId, subject: id, after: { label, ...because } })
  }
  for (const { id, workspaceId, name } of keys) audit(tx, actor, 'api_key.revoke', { workspaceId, subject: id, after: { name } })
  const workspaceIds = [...new Set(ended.map(({ workspaceId }) => workspaceId))]
  await onGrantsRevoked(tx, actor, { accountId, grantIds: ids, workspaceIds })
  return { ...root, revokedAt: at }
}

/** Neither the grant nor a descendant stays active after `end`. The caller has locked the grant. */
export const limitGrantEnd = async (tx: Tx, actor: Actor, grant: GrantRecord, end: Date): Promise<GrantRecord> => {
  const later = [grant, ...(await lockDescendants(tx, grant))].filter(({ expiresAt }) => !expiresAt || expiresAt > end)
  if (later.length === 0) return grant
  const limited = later.map((one) => ({ ...one, expiresAt: end }))
  tx.defer(limitEnds(tx.query, limited))
  const views = await viewGrants(tx, tx.at, limited)
  await appendEvents(
    tx,
    views.map((data) => ({ type: 'grant.updated' as const, accountId: grant.accountId, workspaceId: null, data })),
  )
  for (const { id, workspaceId, label } of limited)
    audit(tx, actor, 'grant.update', { workspaceId, subject: id, after: { label, expires_at: isoTime(end) } })
  return limited.find(({ id }) => id === grant.id) ?? grant
}

/** An OAuth grant ends at the end of the day of its last token. The caller has locked the grant. */
export const moveGrantEnd = (tx: Tx, grant: GrantRecord, expiresAt: Date): void =>
  void updateRow(tx, grants, grant, { expiresAt })

/** Revokes one of the caller's grants: its account's, or at or below the grant that it acts with. */
export const revokeOwnGrant = async (
  tx: Tx,
  onGrantsRevoked: OnGrantsRevoked,
  principal: Principal,
  grantId: Uuid,
): Promise<GrantRecord> => {
  if (!(await findGrant(tx, scopeOf(principal), grantId))) throw notFound()
  return revokeGrant(tx, onGrantsRevoked, principal, grantId)
}

/** Every grant that an account has given, in one workspace or of one kind, with its descendants. */
export const revokeGrantsOf = async (
  tx: Tx,
  onGrantsRevoked: OnGrantsRevoked,
  actor: Actor,
  given: GrantsOf,
): Promise<GrantRecord[]> => {
  const revoked: GrantRecord[] = []
  for (const { id } of await listRoots(tx, given)) revoked.push(await revokeGrant(tx, onGrantsRevoked, actor, id))
  return revoked
}

/**
 * Grants that have expired: authentication already refuses them; here they and their descendants are revoked, and the events are published. Of grants
 * that end together the oldest comes first: its descendants end with it. A refresh may have moved the end of an OAuth grant while this waited for
 * its lock.
 */
export const revokeDueGrants = sweepOf(
  'grants.end',
  { id: grants.id, due: grants.expiresAt, where: [isNull(grants.revokedAt), isNotNull(grants.expiresAt)] },
  ({ db, onGrantsRevoked }: Sweeping & Pick<Parts, 'onGrantsRevoked'>, { id }) =>
    inTx(db, async (tx) => {
      const { expiresAt } = await lockGrant(tx, id)
      if (expiresAt && expiresAt <= tx.at)
        await revokeGrant(tx, onGrantsRevoked, { accountId: null, origin: null, way: 'end_of_grant' }, id)
    }),
)
