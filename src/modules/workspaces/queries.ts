import { and, eq, getTableColumns, sql } from 'drizzle-orm'
import type { QueryBuilder } from 'drizzle-orm/pg-core'
import { type Db, first, type Tx } from '../../db/client.ts'
import { newestFirst } from '../../db/list-queries.ts'
import { type Places, prepare } from '../../db/prepare.ts'
import { selectRow } from '../../db/select-rows.ts'
import { accounts } from '../../db/tables/accounts.ts'
import { members, workspaces } from '../../db/tables/workspaces.ts'
import type { PageRequest } from '../../http/pagination.ts'
import type { Uuid } from '../../lib/ids.ts'

/** `ownerStatus`: a workspace is stopped while the account whose money it spends is not active. */
export type WorkspaceRecord = typeof workspaces.$inferSelect & { ownerStatus: typeof accounts.$inferSelect.status }
export type MemberRecord = typeof members.$inferSelect
export type WorkspaceMembership = { workspace: WorkspaceRecord; member: MemberRecord }

const workspaceColumns = { ...getTableColumns(workspaces), ownerStatus: accounts.status }

const selectById = (orm: QueryBuilder, at: Places<{ id: 'uuid' }>) =>
  orm
    .select(workspaceColumns)
    .from(workspaces)
    .innerJoin(accounts, eq(accounts.id, workspaces.owningAccountId))
    .where(eq(workspaces.id, at.id))

const byId = prepare('workspaces.by_id', { id: 'uuid' }, selectById, 'joined')

export const findWorkspace = (db: Db, id: Uuid): Promise<WorkspaceRecord | undefined> => first(db, byId, { id })

const lockById = prepare('workspaces.lock', { id: 'uuid' }, (orm, at) =>
  selectById(orm, at).for('no key update', { of: workspaces }),
)

const shareById = prepare('workspaces.share', { id: 'uuid' }, (orm, at) => selectById(orm, at).for('share', { of: workspaces }))

/**
 * A writer of a workspace, its members or its invitations waits for this row: what it read of them before may be out of date then. Not FOR
 * UPDATE, which would also wait for every insert that only refers to the workspace.
 */
export const lockWorkspace = (tx: Tx, id: Uuid): Promise<WorkspaceRecord | undefined> => first(tx, lockById, { id })

/** Locks a workspace against changes while another change depends on it. */
export const shareWorkspace = (tx: Tx, id: Uuid): Promise<WorkspaceRecord | undefined> => first(tx, shareById, { id })

const membership = selectRow('members.of', members, ['workspaceId', 'accountId'], { lane: 'joined' })

export const findMembership = (db: Db, workspaceId: Uuid, accountId: Uuid): Promise<MemberRecord | undefined> =>
  membership(db, { workspaceId, accountId })

const memberships = prepare(
  'workspaces.memberships',
  { accountId: 'uuid', only: 'uuid?', before: 'uuid?', take: 'rows' },
  (orm, at) =>
    newestFirst(
      orm
        .select({ workspace: workspaceColumns, member: getTableColumns(members) })
        .from(members)
        .innerJoin(workspaces, eq(workspaces.id, members.workspaceId))
        .innerJoin(accounts, eq(accounts.id, workspaces.owningAccountId)),
      { id: workspaces.id },
      at,
      eq(members.accountId, at.accountId),
      at.only && eq(workspaces.id, at.only),
    ),
  'page',
)

/** Newest workspace first; `only`: the workspace of a grant. */
export const listMemberships = (db: Db, accountId: Uuid, only: Uuid | null, page: PageRequest): Promise<WorkspaceMembership[]> =>
  db.run(memberships, { accountId, only, ...page })

const personal = prepare('workspaces.personal', { accountId: 'uuid' }, (orm, at) =>
  orm
    .select({ id: workspaces.id })
    .from(workspaces)
    .where(and(eq(workspaces.owningAccountId, at.accountId), eq(workspaces.kind, 'personal'))),
)

export const findPersonalWorkspaceId = async (db: Db, accountId: Uuid): Promise<Uuid> => {
  const row = await first(db, personal, { accountId })
  if (!row) throw new Error('an account has no personal workspace')
  return row.id
}

/** Where an account's session begins: the workspace that it used last and may still use, else its personal one. */
const home = prepare('workspaces.home', { accountId: 'uuid' }, (orm, at) =>
  orm
    .select({ id: workspaces.id })
    .from(members)
    .innerJoin(workspaces, eq(workspaces.id, members.workspaceId))
    .innerJoin(accounts, eq(accounts.id, workspaces.owningAccountId))
    .where(
      and(
        eq(members.accountId, at.accountId),
        sql`${members.status} = 'active' and ${workspaces.closedAt} is null`,
        sql`(${accounts.status} <> 'closed' or ${accounts.id} = ${at.accountId})`,
      ),
    )
    .orderBy(
      sql`${members.lastUsedAt} desc nulls last`,
      sql`((${workspaces.kind} = 'personal') = (${members.lastUsedAt} is null)) desc`,
      workspaces.id,
    )
    .limit(1),
)

export const findHomeWorkspaceId = async (db: Db, accountId: Uuid): Promise<Uuid> => {
  const row = await first(db, home, { accountId })
  if (!row) throw new Error('an account has no personal workspace')
  return row.id
}
