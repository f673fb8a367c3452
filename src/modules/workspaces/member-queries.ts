import { and, asc, count, eq, getTableColumns, sql } from 'drizzle-orm'
import type { QueryBuilder } from 'drizzle-orm/pg-core'
import { type Db, first } from '../../db/client.ts'
import { newestFirst, ownedBy } from '../../db/list-queries.ts'
import { prepare } from '../../db/prepare.ts'
import { accounts, identities } from '../../db/tables/accounts.ts'
import { members } from '../../db/tables/workspaces.ts'
import type { PageRequest } from '../../http/pagination.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { MemberRecord } from './queries.ts'

export type NamedMember = MemberRecord & { email: string | null; displayName: string | null; walletAddress: string | null }

const firstWallet = sql<string | null>`(
  select ${identities.subject} from ${identities}
  where ${identities.accountId} = ${accounts.id} and ${identities.provider} = 'wallet' order by ${asc(identities.id)} limit 1)`

const named = (orm: QueryBuilder) =>
  orm
    .select({ ...getTableColumns(members), email: accounts.email, displayName: accounts.displayName, walletAddress: firstWallet })
    .from(members)
    .innerJoin(accounts, eq(accounts.id, members.accountId))

const list = prepare(
  'members.list',
  { workspaceId: 'uuid', before: 'uuid?', take: 'rows' },
  (orm, at) =>
    newestFirst(named(orm), { owner: members.workspaceId, id: members.id }, at, ownedBy(members.workspaceId, at.workspaceId)),
  'page',
)

export const listMembers = (db: Db, workspaceId: Uuid, page: PageRequest): Promise<NamedMember[]> =>
  db.run(list, { workspaceId, ...page })

const byId = prepare('members.by_id', { workspaceId: 'uuid', id: 'uuid' }, (orm, at) =>
  named(orm).where(and(eq(members.workspaceId, at.workspaceId), eq(members.id, at.id))),
)

export const findMember = (db: Db, workspaceId: Uuid, id: Uuid): Promise<NamedMember | undefined> =>
  first(db, byId, { workspaceId, id })

/** The account of a membership: read before the locks, because that account's lock is one of them. */
export const accountOfMember = async (db: Db, workspaceId: Uuid, id: Uuid): Promise<Uuid[]> =>
  (await findMember(db, workspaceId, id).then((member) => member && [member.accountId])) ?? []

const owners = prepare('members.count_owners', { workspaceId: 'uuid' }, (orm, at) =>
  orm
    .select({ owners: count() })
    .from(members)
    .where(and(eq(members.workspaceId, at.workspaceId), eq(members.role, 'owner'), eq(members.status, 'active'))),
)

export const countOwners = async (db: Db, workspaceId: Uuid): Promise<number> =>
  (await first(db, owners, { workspaceId }))?.owners ?? 0
