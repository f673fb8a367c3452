import { and, desc, eq, isNull, lt } from 'drizzle-orm'
import type { Db } from '../../db/client.ts'
import { spendingPolicies } from '../../db/tables/policies.ts'
import type { Uuid } from '../../lib/ids.ts'

export type PolicyRecord = typeof spendingPolicies.$inferSelect

const inWorkspace = (workspaceId: Uuid, id: Uuid) =>
  and(eq(spendingPolicies.workspaceId, workspaceId), eq(spendingPolicies.id, id))

export const findPolicy = async (db: Db, workspaceId: Uuid, id: Uuid): Promise<PolicyRecord | undefined> =>
  (await db.orm.select().from(spendingPolicies).where(inWorkspace(workspaceId, id)))[0]

export const lockPolicy = async (db: Db, workspaceId: Uuid, id: Uuid): Promise<PolicyRecord | undefined> =>
  (await db.orm.select().from(spendingPolicies).where(inWorkspace(workspaceId, id)).for('update'))[0]

export const listPolicies = (
  db: Db,
  workspaceId: Uuid,
  page: { before: Uuid | null; take: number },
  onlyActive: boolean,
): Promise<PolicyRecord[]> =>
  db.orm
    .select()
    .from(spendingPolicies)
    .where(
      and(
        eq(spendingPolicies.workspaceId, workspaceId),
        page.before ? lt(spendingPolicies.id, page.before) : undefined,
        onlyActive ? isNull(spendingPolicies.archivedAt) : undefined,
      ),
    )
    .orderBy(desc(spendingPolicies.id))
    .limit(page.take)
