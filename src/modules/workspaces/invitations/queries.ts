import { and, desc, eq, inArray, lt, or, sql } from 'drizzle-orm'
import type { Db, Tx } from '../../../db/client.ts'
import { emailKeyOf } from '../../../db/email-key.ts'
import { accounts, identities } from '../../../db/tables/accounts.ts'
import { invitations, members } from '../../../db/tables/workspaces.ts'
import type { PageRequest } from '../../../http/pagination.ts'
import { emailKey } from '../../../lib/email-key.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { parseWalletName, walletKeySql, walletKeys } from '../../../lib/wallet-name.ts'

export type InvitationRecord = typeof invitations.$inferSelect

export const listInvitations = (db: Db, workspaceId: Uuid, page: PageRequest): Promise<InvitationRecord[]> =>
  db.orm
    .select()
    .from(invitations)
    .where(and(eq(invitations.workspaceId, workspaceId), page.before === null ? undefined : lt(invitations.id, page.before)))
    .orderBy(desc(invitations.id))
    .limit(page.take)

export const findInvitation = async (db: Db, workspaceId: Uuid, id: Uuid): Promise<InvitationRecord | undefined> =>
  (
    await db.orm
      .select()
      .from(invitations)
      .where(and(eq(invitations.workspaceId, workspaceId), eq(invitations.id, id)))
  )[0]

export const findInvitationByToken = async (db: Db, tokenHash: Buffer): Promise<InvitationRecord | undefined> =>
  (await db.orm.select().from(invitations).where(eq(invitations.tokenHash, tokenHash)))[0]

/** The addressee of an invitation: a verified e-mail or a wallet. An account proves either by an identity that is attached now. */
export type Addressee = { email: string | null; walletAddress: string | null }

const keysOf = (walletAddress: string): string[] => {
  const name = parseWalletName(walletAddress)
  return name ? walletKeys(name) : []
}

const provenBy = ({ email, walletAddress }: Addressee) =>
  or(
    email === null ? undefined : and(eq(identities.emailVerified, true), eq(emailKeyOf(identities.email), emailKey(email))),
    walletAddress === null
      ? undefined
      : and(eq(identities.provider, 'wallet'), inArray(sql.raw(walletKeySql('identities')), keysOf(walletAddress))),
  )

export const isAddressee = async (db: Db, accountId: Uuid, addressee: Addressee): Promise<boolean> => {
  const [proof] = await db.orm
    .select({ id: identities.id })
    .from(identities)
    .where(and(eq(identities.accountId, accountId), provenBy(addressee)))
    .limit(1)
  return proof !== undefined
}

export const isMember = async (tx: Tx, workspaceId: Uuid, addressee: Addressee): Promise<boolean> => {
  const [member] = await tx.orm
    .select({ id: members.id })
    .from(members)
    .innerJoin(accounts, eq(accounts.id, members.accountId))
    .innerJoin(identities, eq(identities.accountId, accounts.id))
    .where(and(eq(members.workspaceId, workspaceId), provenBy(addressee)))
    .limit(1)
  return member !== undefined
}

export const findInviterName = async (db: Db, accountId: Uuid): Promise<string | null> => {
  const [inviter] = await db.orm.select({ name: accounts.displayName }).from(accounts).where(eq(accounts.id, accountId))
  return inviter?.name ?? null
}
