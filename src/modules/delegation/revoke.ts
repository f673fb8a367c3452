import { sql } from 'drizzle-orm'
import type { Tx } from '../../db/client.ts'
import { keyLife } from '../../db/credential-life.ts'
import { prepare } from '../../db/prepare.ts'
import { prepareUpdateAll } from '../../db/prepare-write.ts'
import { apiKeys, grants } from '../../db/tables/grants.ts'
import { appendEvents, type NewEvent } from '../../events/append.ts'
import { type Actor, audit } from '../../events/audit.ts'
import { isoTime } from '../../lib/clock.ts'
import { formatId, type Uuid } from '../../lib/ids.ts'
import type { OnGrantsRevoked } from '../ports.ts'
import { presentApiKey, presentGrant, viewGrants } from './present.ts'
import { type GrantRecord, lockDependents, lockDescendants, lockGrant } from './queries.ts'
import { loadGrantUsage } from './usage.ts'

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
  const usages = await loadGrantUsage(tx, at, ended)
  const views = new Map(ended.map((grant) => [grant.id, presentGrant(grant, usages.get(grant.id))]))
  const eventOf = (type: NewEvent['type'], data: unknown): NewEvent => ({
    type,
    accountId: root.accountId,
    workspaceId: null,
    data,
  })
  await appendEvents(tx, [
    ...ended.map(({ id }) => eventOf('grant.revoked', views.get(id))),
    ...keys.flatMap((key) => {
      const grant = views.get(key.grantId)
      return grant ? [eventOf('api_key.revoked', presentApiKey(key, grant, at))] : []
    }),
  ])
  for (const { id, workspaceId, label } of ended) {
    const because = id === grantId ? {} : { with: formatId('grant', grantId) }
    audit(tx, actor, 'grant.revoke', { workspaceId, subject: id, after: { label, ...because } })
  }
  for (const { id, workspaceId, name } of keys) audit(tx, actor, 'api_key.revoke', { workspaceId, subject: id, after: { name } })
  await onGrantsRevoked(tx, actor, {
    accountId: root.accountId,
    grantIds: ids,
    workspaceIds: [...new Set(ended.map(({ workspaceId }) => workspaceId))],
  })
  return { ...root, revokedAt: at }
}

/** Neither the grant nor a descendant stays active after `end`. The caller has locked the grant. */
export const limitGrantEnd = async (tx: Tx, actor: Actor, grant: GrantRecord, end: Date): Promise<GrantRecord> => {
  const { at } = tx
  const later = [grant, ...(await lockDescendants(tx, grant))].filter(({ expiresAt }) => !expiresAt || expiresAt > end)
  if (later.length === 0) return grant
  const limited = later.map((one) => ({ ...one, expiresAt: end }))
  tx.defer(limitEnds(tx.query, limited))
  const views = await viewGrants(tx, at, limited)
  await appendEvents(
    tx,
    views.map((data) => ({ type: 'grant.updated' as const, accountId: grant.accountId, workspaceId: null, data })),
  )
  for (const { id, workspaceId, label } of limited)
    audit(tx, actor, 'grant.update', { workspaceId, subject: id, after: { label, expires_at: isoTime(end) } })
  return limited.find(({ id }) => id === grant.id) ?? grant
}
