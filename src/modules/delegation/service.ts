import { isNotNull, isNull } from 'drizzle-orm'
import type { Principal } from '../../auth/principal.ts'
import { inTx, type Tx } from '../../db/client.ts'
import { updateRow } from '../../db/prepare-write.ts'
import { grants } from '../../db/tables/grants.ts'
import type { Actor } from '../../events/audit.ts'
import { notFound } from '../../lib/errors.ts'
import type { Uuid } from '../../lib/ids.ts'
import { type Sweeping, sweepOf } from '../for-each-row.ts'
import type { Parts } from '../parts.ts'
import type { OnGrantsRevoked } from '../ports.ts'
import { findGrant, type GrantRecord, listRootGrantIds, lockGrant, scopeOf } from './queries.ts'
import { revokeGrant } from './revoke.ts'

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

/** Every grant of one kind that the caller's account has given, with its descendants: all agents, or all keys, at once. */
export const revokeAllGrants = async (
  tx: Tx,
  onGrantsRevoked: OnGrantsRevoked,
  principal: Principal,
  kind: GrantRecord['kind'],
): Promise<GrantRecord[]> => {
  const revoked: GrantRecord[] = []
  for (const id of await listRootGrantIds(tx, scopeOf(principal), kind))
    revoked.push(await revokeGrant(tx, onGrantsRevoked, principal, id))
  return revoked
}

/** An OAuth grant ends at the end of the day of its last token. The caller has locked the grant. */
export const moveGrantEnd = (tx: Tx, grant: GrantRecord, expiresAt: Date): void =>
  void updateRow(tx, grants, grant, { expiresAt })

/** Ends every grant of an account, in one workspace or in all. Roots first: their descendants end with them. */
export const revokeGrantsOf = async (
  tx: Tx,
  onGrantsRevoked: OnGrantsRevoked,
  actor: Actor,
  { accountId, workspaceId }: { accountId: Uuid; workspaceId: Uuid | null },
): Promise<void> => {
  const live = await tx.query<{ id: Uuid }>(
    `select id from grants where account_id = $1 and ($2::uuid is null or workspace_id = $2) and revoked_at is null
     order by cardinality(ancestor_ids), id`,
    [accountId, workspaceId],
  )
  for (const { id } of live) await revokeGrant(tx, onGrantsRevoked, actor, id)
}

/** A refresh may have moved the end of an OAuth grant while this waited for its lock. */
const revokeIfDue = async (tx: Tx, onGrantsRevoked: OnGrantsRevoked, id: Uuid): Promise<void> => {
  const { expiresAt } = await lockGrant(tx, id)
  if (!expiresAt || expiresAt > tx.at) return
  await revokeGrant(tx, onGrantsRevoked, { accountId: null, origin: null, way: 'end_of_grant' }, id)
}

/**
 * Grants that have expired: authentication already refuses them; here they and their descendants are revoked, and the events are published. Of grants
 * that end together the oldest comes first: its descendants end with it.
 */
export const revokeDueGrants = sweepOf(
  'grants.end',
  { id: grants.id, due: grants.expiresAt, where: [isNull(grants.revokedAt), isNotNull(grants.expiresAt)] },
  (deps: Sweeping & Pick<Parts, 'onGrantsRevoked'>, { id }) => inTx(deps.db, (tx) => revokeIfDue(tx, deps.onGrantsRevoked, id)),
)
