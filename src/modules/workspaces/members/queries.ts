import { and, asc, count, desc, eq, getTableColumns, lt, sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { accounts, identities } from '../../../db/tables/accounts.ts'
import { members } from '../../../db/tables/workspaces.ts'
import type { PageRequest } from '../../../http/pagination.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { MemberRecord } from '../queries.ts'

export type NamedMember = MemberRecord & { email: string | null; displayName: string | null; walletAddress: string | null }

const firstWallet = sql<string | null>`(
  select ${identities.subject} from ${identities}
  where ${identities.accountId} = ${accounts.id} and ${identities.provider} = 'wallet' order by ${asc(identities.id)} limit 1)`

const named = (db: Db) =>
  db.orm
    .select({ ...getTableColumns(members), email: accounts.email, displayName: accounts.displayName, walletAddress: firstWallet })
    .from(members)
    .innerJoin(accounts, eq(accounts.id, members.accountId))

export const listMembers = (db: Db, workspaceId: Uuid, page: PageRequest): Promise<NamedMember[]> =>
  named(db)
    .where(and(eq(members.workspaceId, workspaceId), page.before === null ? undefined : lt(members.id, page.before)))
    .orderBy(desc(members.id))
    .limit(page.take)

export const findMember = async (db: Db, workspaceId: Uuid, id: Uuid): Promise<NamedMember | undefined> =>
  (await named(db).where(and(eq(members.workspaceId, workspaceId), eq(members.id, id))))[0]

/** The account of a membership: read before the locks, because that account's lock is one of them. */
export const accountOfMember = async (db: Db, workspaceId: Uuid, id: Uuid): Promise<Uuid[]> =>
  (await findMember(db, workspaceId, id).then((member) => member && [member.accountId])) ?? []

export const countOwners = async (db: Db, workspaceId: Uuid): Promise<number> => {
  const [row] = await db.orm
    .select({ owners: count() })
    .from(members)
    .where(and(eq(members.workspaceId, workspaceId), eq(members.role, 'owner'), eq(members.status, 'active')))
  return row?.owners ?? 0
}
