import { and, eq, or, sql } from 'drizzle-orm'
import { type Db, first, type Tx } from '../../db/client.ts'
import { type Places, prepare } from '../../db/prepare.ts'
import { selectPage, selectRow } from '../../db/select-rows.ts'
import { accounts, identities } from '../../db/tables/accounts.ts'
import { emailKeyOf } from '../../db/tables/columns.ts'
import { invitations, members } from '../../db/tables/workspaces.ts'
import { emailKey } from '../../lib/email-key.ts'
import type { Uuid } from '../../lib/ids.ts'
import { parseWalletName, walletKeySql, walletKeys } from '../../lib/wallet-name.ts'

export type InvitationRecord = typeof invitations.$inferSelect

export const listInvitations = selectPage('invitations.list', invitations, invitations.workspaceId)

export const findInvitation = selectRow('invitations.by_id', invitations, ['workspaceId', 'id'])

const byIds = prepare('invitations.by_ids', { ids: 'uuid[]' }, (orm, at) =>
  orm.select().from(invitations).where(sql`${invitations.id} = any(${at.ids})`),
)

export const listInvitationsWith = async (db: Db, ids: readonly Uuid[]): Promise<InvitationRecord[]> =>
  ids.length === 0 ? [] : db.run(byIds, { ids })

export const findInvitationByToken = selectRow('invitations.by_token', invitations, ['tokenHash'])

/** The addressee of an invitation: a verified e-mail or a wallet. An account proves either by an identity that is attached now. */
type Addressee = { email: string | null; walletAddress: string | null }

const keysOf = (walletAddress: string): string[] => {
  const name = parseWalletName(walletAddress)
  return name ? walletKeys(name) : []
}

const proof = { email: 'text?', wallets: 'text[]?' } as const

const provenBy = ({ email, wallets }: Places<typeof proof>) =>
  or(
    email && and(eq(identities.emailVerified, true), eq(emailKeyOf(identities.email), email)),
    wallets && and(eq(identities.provider, 'wallet'), sql`${sql.raw(walletKeySql('identities'))} = any(${wallets})`),
  )

const proofOf = ({ email, walletAddress }: Addressee) => ({
  email: email === null ? null : emailKey(email),
  wallets: walletAddress === null ? null : keysOf(walletAddress),
})

const identityOf = prepare('invitations.addressee', { accountId: 'uuid', ...proof }, (orm, at) =>
  orm
    .select({ id: identities.id })
    .from(identities)
    .where(and(eq(identities.accountId, at.accountId), provenBy(at)))
    .limit(1),
)

export const isAddressee = async (db: Db, accountId: Uuid, addressee: Addressee): Promise<boolean> =>
  (await db.run(identityOf, { accountId, ...proofOf(addressee) })).length > 0

const memberWith = prepare('invitations.member', { workspaceId: 'uuid', ...proof }, (orm, at) =>
  orm
    .select({ id: members.id })
    .from(members)
    .innerJoin(accounts, eq(accounts.id, members.accountId))
    .innerJoin(identities, eq(identities.accountId, accounts.id))
    .where(and(eq(members.workspaceId, at.workspaceId), provenBy(at)))
    .limit(1),
)

export const isMember = async (tx: Tx, workspaceId: Uuid, addressee: Addressee): Promise<boolean> =>
  (await tx.run(memberWith, { workspaceId, ...proofOf(addressee) })).length > 0

const nameOf = prepare('invitations.inviter', { accountId: 'uuid' }, (orm, at) =>
  orm.select({ name: accounts.displayName }).from(accounts).where(eq(accounts.id, at.accountId)),
)

export const findInviterName = async (db: Db, accountId: Uuid): Promise<string | null> =>
  (await first(db, nameOf, { accountId }))?.name ?? null
