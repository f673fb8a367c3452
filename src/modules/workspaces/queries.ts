import { and, eq } from 'drizzle-orm'
import type { Db } from '../../db/client.ts'
import { members, workspaces } from '../../db/tables/workspaces.ts'
import type { Uuid } from '../../lib/ids.ts'

export type WorkspaceRecord = typeof workspaces.$inferSelect
export type MemberRecord = typeof members.$inferSelect

export const findWorkspace = async (db: Db, id: Uuid): Promise<WorkspaceRecord | undefined> =>
  (await db.orm.select().from(workspaces).where(eq(workspaces.id, id)))[0]

export const findMembership = async (db: Db, workspaceId: Uuid, accountId: Uuid): Promise<MemberRecord | undefined> =>
  (
    await db.orm
      .select()
      .from(members)
      .where(and(eq(members.workspaceId, workspaceId), eq(members.accountId, accountId)))
  )[0]

export const findPersonalWorkspaceId = async (db: Db, accountId: Uuid): Promise<Uuid> => {
  const [row] = await db.orm
    .select({ id: workspaces.id })
    .from(workspaces)
    .where(and(eq(workspaces.owningAccountId, accountId), eq(workspaces.kind, 'personal')))
  if (!row) throw new Error('an account has no personal workspace')
  return row.id
}
