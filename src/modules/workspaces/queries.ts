import { and, asc, eq, getTableColumns, isNull, ne, or, sql } from 'drizzle-orm'
import type { QueryBuilder } from 'drizzle-orm/pg-core'
import type { Principal } from '../../auth/principal.ts'
import { type Db, first, type Tx } from '../../db/client.ts'
import { newestFirst, ownedBy } from '../../db/list-queries.ts'
import { type Placeholders, prepare } from '../../db/prepare.ts'
import { selectAmong, selectByIds, selectPage, selectRow } from '../../db/select-rows.ts'
import { accounts, identities } from '../../db/tables/accounts.ts'
import { emailKeyOf } from '../../db/tables/columns.ts'
import { balanceAccountSql, invitations, members, workspaces, workspaceTimeZones } from '../../db/tables/workspaces.ts'
import { emailKey } from '../../lib/email-key.ts'
import type { Uuid } from '../../lib/ids.ts'
import { assertPresent } from '../../lib/lists.ts'
import { parseWalletName, walletKeySql, walletKeys } from '../../lib/wallet-name.ts'
import { type ZoneSchedule, type Zones, zonesOf } from '../../policy/calendar.ts'

/** `holderStatus`: the status of the account that holds the balance. The workspace is stopped unless it is active. */
export type WorkspaceRecord = Omit<typeof workspaces.$inferSelect, 'balanceAccountId'> & {
  balanceAccountId: Uuid
  holderStatus: typeof accounts.$inferSelect.status
}
export type MemberRecord = typeof members.$inferSelect
export type WorkspaceMembership = { workspace: WorkspaceRecord; member: MemberRecord }

/** Requires a join with `accounts` as the holder of the balance. */
const workspaceColumns = {
  ...getTableColumns(workspaces),
  balanceAccountId: sql<Uuid>`${accounts.id}`,
  holderStatus: accounts.status,
}
const isHolder = sql`${accounts.id} = ${sql.raw(balanceAccountSql('workspaces'))}`

const selectWorkspaces = (orm: QueryBuilder) => orm.select(workspaceColumns).from(workspaces).innerJoin(accounts, isHolder)

const selectById = (orm: QueryBuilder, param: Placeholders<{ id: 'uuid' }>) =>
  selectWorkspaces(orm).where(eq(workspaces.id, param.id))

export const listWorkspacesByIds = selectByIds('workspaces.by_ids', (orm, ids) =>
  selectWorkspaces(orm).where(sql`${workspaces.id} = any(${ids})`).orderBy(asc(workspaces.id)),
)

const byId = prepare('workspaces.by_id', { id: 'uuid' }, 'coalesced', selectById)

export const findWorkspace = (db: Db, id: Uuid): Promise<WorkspaceRecord | undefined> => first(db, byId, { id })

const keptZones = prepare('workspaces.kept_zones', { id: 'uuid' }, 'coalesced', (orm, param) =>
  orm
    .select({ timeZone: workspaceTimeZones.timeZone, fromAt: workspaceTimeZones.fromAt })
    .from(workspaceTimeZones)
    .where(eq(workspaceTimeZones.workspaceId, param.id))
    .orderBy(asc(workspaceTimeZones.fromAt)),
)

/** Reads all time zones of the workspace, for past days. The workspace's own columns are enough for today. */
export const readZones = async (db: Db, workspace: ZoneSchedule & { id: Uuid }): Promise<Zones> =>
  zonesOf(workspace, await db.run(keptZones, { id: workspace.id }))

/**
 * Writers of a workspace, its members or its invitations wait for this row, because their earlier reads may be outdated. The lock
 * is not FOR UPDATE, which would also delay every insert that refers to the workspace.
 */
export const lockWorkspace = prepare('workspaces.lock', { id: 'uuid' }, (orm, param) =>
  selectById(orm, param).for('no key update', { of: workspaces }),
)

/** Locks workspaces in the order of their ids. */
export const lockWorkspaces = selectByIds('workspaces.lock_these', (orm, ids) =>
  orm
    .select({ id: workspaces.id, owningAccountId: workspaces.owningAccountId })
    .from(workspaces)
    .where(sql`${workspaces.id} = any(${ids})`)
    .orderBy(asc(workspaces.id))
    .for('no key update'),
)

export const lockWorkspaceShared = prepare('workspaces.share', { id: 'uuid' }, (orm, param) =>
  selectById(orm, param).for('share', { of: workspaces }),
)

const membership = selectRow('members.of', members, ['workspaceId', 'accountId'], { connection: 'coalesced' })

export const findMembership = (db: Db, workspaceId: Uuid, accountId: Uuid): Promise<MemberRecord | undefined> =>
  membership(db, { workspaceId, accountId })

/** Newest workspace first. `workspaceId`: only this one, of a grant. */
export const membershipList = prepare(
  'workspaces.memberships',
  { accountId: 'uuid', workspaceId: 'uuid?', before: 'uuid?', take: 'rows' },
  'page',
  (orm, param) =>
    newestFirst(
      orm
        .select({ workspace: workspaceColumns, member: getTableColumns(members) })
        .from(members)
        .innerJoin(workspaces, eq(workspaces.id, members.workspaceId))
        .innerJoin(accounts, isHolder),
      { id: workspaces.id },
      param,
      eq(members.accountId, param.accountId),
      param.workspaceId && eq(workspaces.id, param.workspaceId),
    ),
)

/** The workspaces that draw on an account's balance: its personal one, and teams that share it. */
export const workspacesOnBalance = prepare('workspaces.on_balance', { holderId: 'uuid' }, (orm, param) =>
  selectWorkspaces(orm).where(and(eq(workspaces.owningAccountId, param.holderId), isNull(workspaces.balanceAccountId))),
)

const personal = selectRow('workspaces.personal', workspaces, ['owningAccountId', 'kind'])

export const findPersonalWorkspace = async (db: Db, accountId: Uuid): Promise<typeof workspaces.$inferSelect> =>
  assertPresent(await personal(db, { owningAccountId: accountId, kind: 'personal' }), 'an account has no personal workspace')

export const findPersonalWorkspaceId = async (db: Db, accountId: Uuid): Promise<Uuid> =>
  (await findPersonalWorkspace(db, accountId)).id

/** The zones of the account's personal workspace, for dates of its own balance. */
export const readOwnZones = async (
  db: Db,
  { accountId, workspace }: Pick<Principal, 'accountId' | 'workspace'>,
): Promise<Zones> => {
  return readZones(db, workspace.kind === 'personal' ? workspace : await findPersonalWorkspace(db, accountId))
}

/** The workspace in which a session begins: the last used one that the account may still use, otherwise its personal one. */
const homeWorkspace = prepare('workspaces.home', { accountId: 'uuid' }, (orm, param) =>
  orm
    .select({ id: workspaces.id })
    .from(members)
    .innerJoin(workspaces, eq(workspaces.id, members.workspaceId))
    .innerJoin(accounts, isHolder)
    .where(
      and(
        eq(members.accountId, param.accountId),
        sql`${members.status} = 'active' and ${workspaces.closedAt} is null`,
        sql`(${accounts.status} <> 'closed' or ${accounts.id} = ${param.accountId})`,
      ),
    )
    .orderBy(
      sql`${members.lastUsedAt} desc nulls last`,
      sql`((${workspaces.kind} = 'personal') = (${members.lastUsedAt} is null)) desc`,
      workspaces.id,
    )
    .limit(1),
)

export const findHomeWorkspaceId = async (db: Db, accountId: Uuid): Promise<Uuid> =>
  assertPresent(await first(db, homeWorkspace, { accountId }), 'an account has no personal workspace').id

export type NamedMember = MemberRecord & { email: string | null; displayName: string | null; walletAddress: string | null }

const firstWallet = sql<string | null>`(
  select ${identities.subject} from ${identities}
  where ${identities.accountId} = ${accounts.id} and ${identities.provider} = 'wallet' order by ${asc(identities.id)} limit 1)`

const named = (orm: QueryBuilder) =>
  orm
    .select({ ...getTableColumns(members), email: accounts.email, displayName: accounts.displayName, walletAddress: firstWallet })
    .from(members)
    .innerJoin(accounts, eq(accounts.id, members.accountId))

export const memberList = prepare('members.list', { workspaceId: 'uuid', before: 'uuid?', take: 'rows' }, 'page', (orm, param) =>
  newestFirst(named(orm), { owner: members.workspaceId, id: members.id }, param, ownedBy(members.workspaceId, param.workspaceId)),
)

export const findMember = prepare('members.by_id', { workspaceId: 'uuid', id: 'uuid' }, (orm, param) =>
  named(orm).where(and(eq(members.workspaceId, param.workspaceId), eq(members.id, param.id))),
)

export const membershipsIn = prepare('members.of_account_in', { accountId: 'uuid', ids: 'uuid[]' }, (orm, param) =>
  orm
    .select()
    .from(members)
    .where(and(eq(members.accountId, param.accountId), sql`${members.workspaceId} = any(${param.ids})`)),
)

export const listMembersByIds = selectByIds('members.by_ids', (orm, ids) =>
  named(orm).where(sql`${members.id} = any(${ids})`).orderBy(asc(members.id)),
)

/** The account of a membership. It is read before the locks, because that account's lock is one of them. */
export const accountOfMember = async (db: Db, workspaceId: Uuid, id: Uuid): Promise<Uuid[]> =>
  (await db.run(findMember, { workspaceId, id })).map(({ accountId }) => accountId)

/** Active owners. A closed account no longer counts as an owner. */
export const activeOwners = prepare('members.active_owners', { workspaceId: 'uuid' }, (orm, param) =>
  orm
    .select({ accountId: members.accountId })
    .from(members)
    .innerJoin(accounts, and(eq(accounts.id, members.accountId), ne(accounts.status, 'closed')))
    .where(and(eq(members.workspaceId, param.workspaceId), eq(members.role, 'owner'), eq(members.status, 'active'))),
)

export type InvitationRecord = typeof invitations.$inferSelect

export const listInvitations = selectPage('invitations.list', invitations, invitations.workspaceId)

export const findInvitation = selectRow('invitations.by_id', invitations, ['workspaceId', 'id'])

export const listInvitationsByIds = selectAmong('invitations.by_ids', invitations, 'id')

export const findInvitationByToken = selectRow('invitations.by_token', invitations, ['tokenHash'])

/** An invitation's addressee: a verified e-mail or a wallet. An account proves it by an identity that is attached now. */
type Addressee = { email: string | null; walletAddress: string | null }

const keysOf = (walletAddress: string): string[] => {
  const name = parseWalletName(walletAddress)
  return name ? walletKeys(name) : []
}

const proof = { email: 'text?', wallets: 'text[]?' } as const

const provenBy = ({ email, wallets }: Placeholders<typeof proof>) =>
  or(
    email && and(eq(identities.emailVerified, true), eq(emailKeyOf(identities.email), email)),
    wallets && and(eq(identities.provider, 'wallet'), sql`${sql.raw(walletKeySql('identities'))} = any(${wallets})`),
  )

const proofOf = ({ email, walletAddress }: Addressee) => ({
  email: email === null ? null : emailKey(email),
  wallets: walletAddress === null ? null : keysOf(walletAddress),
})

const addresseesIdentity = prepare('invitations.addressee', { accountId: 'uuid', ...proof }, (orm, param) =>
  orm
    .select({ id: identities.id })
    .from(identities)
    .where(and(eq(identities.accountId, param.accountId), provenBy(param)))
    .limit(1),
)

export const isAddressee = async (db: Db, accountId: Uuid, addressee: Addressee): Promise<boolean> =>
  (await db.run(addresseesIdentity, { accountId, ...proofOf(addressee) })).length > 0

const addresseesMembership = prepare('invitations.member', { workspaceId: 'uuid', ...proof }, (orm, param) =>
  orm
    .select({ id: members.id })
    .from(members)
    .innerJoin(accounts, eq(accounts.id, members.accountId))
    .innerJoin(identities, eq(identities.accountId, accounts.id))
    .where(and(eq(members.workspaceId, param.workspaceId), provenBy(param)))
    .limit(1),
)

export const isMember = async (tx: Tx, workspaceId: Uuid, addressee: Addressee): Promise<boolean> =>
  (await tx.run(addresseesMembership, { workspaceId, ...proofOf(addressee) })).length > 0

export const findInviter = selectRow('invitations.inviter', accounts, ['id'])
