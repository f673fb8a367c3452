import { and, eq, isNull, or } from 'drizzle-orm'
import { type Db, first, type Tx } from '../../db/client.ts'
import { newestFirst, ownedBy } from '../../db/list-queries.ts'
import { prepare } from '../../db/prepare.ts'
import { spendingPolicies } from '../../db/tables/policies.ts'
import type { PageRequest } from '../../http/pagination.ts'
import type { Uuid } from '../../lib/ids.ts'

export type PolicyRecord = typeof spendingPolicies.$inferSelect

const byId = prepare(
  'policies.by_id',
  { workspaceId: 'uuid', id: 'uuid' },
  (orm, at) =>
    orm
      .select()
      .from(spendingPolicies)
      .where(and(eq(spendingPolicies.workspaceId, at.workspaceId), eq(spendingPolicies.id, at.id))),
  'joined',
)

export const findPolicy = (db: Db, workspaceId: Uuid, id: Uuid): Promise<PolicyRecord | undefined> =>
  first(db, byId, { workspaceId, id })

const lockById = prepare('policies.lock', { workspaceId: 'uuid', id: 'uuid' }, (orm, at) =>
  orm
    .select()
    .from(spendingPolicies)
    .where(and(eq(spendingPolicies.workspaceId, at.workspaceId), eq(spendingPolicies.id, at.id)))
    .for('update'),
)

export const lockPolicy = (tx: Tx, workspaceId: Uuid, id: Uuid): Promise<PolicyRecord | undefined> =>
  first(tx, lockById, { workspaceId, id })

const list = prepare(
  'policies.list',
  { workspaceId: 'uuid', active: 'flag?', madeBy: 'uuid?', before: 'uuid?', take: 'rows' },
  (orm, at) =>
    newestFirst(
      orm.select().from(spendingPolicies),
      { owner: spendingPolicies.workspaceId, id: spendingPolicies.id },
      at,
      ownedBy(spendingPolicies.workspaceId, at.workspaceId),
      at.active && isNull(spendingPolicies.archivedAt),
      at.madeBy && or(eq(spendingPolicies.createdByGrantId, at.madeBy), eq(spendingPolicies.changedByGrantId, at.madeBy)),
    ),
  'page',
)

/** `madeBy`: the grant that created or changed them. */
export type PolicyFilter = { active: boolean; madeBy: Uuid | undefined }

export const listPolicies = (db: Db, workspaceId: Uuid, page: PageRequest, filter: PolicyFilter): Promise<PolicyRecord[]> =>
  db.run(list, { workspaceId, ...filter, ...page })
