import { and, eq, or, sql } from 'drizzle-orm'
import { type Db, first, type Tx } from '../../../db/client.ts'
import { newestFirst, ownedBy } from '../../../db/list-queries.ts'
import { type Places, prepare } from '../../../db/prepare.ts'
import { accounts, identities } from '../../../db/tables/accounts.ts'
import { emailKeyOf } from '../../../db/tables/columns.ts'
import { invitations, members } from '../../../db/tables/workspaces.ts'
import type { PageRequest } from '../../../http/pagination.ts'
import { emailKey } from '../../../lib/email-key.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { parseWalletName, walletKeySql, walletKeys } from '../../../lib/wallet-name.ts'

export type InvitationRecord = typeof invitations.$inferSelect

const list = prepare(
  'invitations.list',
  { workspaceId: 'uuid', before: 'uuid?', take: 'rows' },
  (orm, at) =>
    newestFirst(
      orm.select().from(invitations),
      { owner: invitations.workspaceId, id: invitations.id },
      at,
      ownedBy(invitations.workspaceId, at.workspaceId),
    ),
  'page',
)

export const listInvitations = (db: Db, workspaceId: Uuid, page: PageRequest): Promise<InvitationRecord[]> =>
  db.run(list, { workspaceId, ...page })

const byId = prepare('invitations.by_id', { workspaceId: 'uuid', id: 'uuid' }, (orm, at) =>
  orm
    .select()
    .from(invitations)
    .where(and(eq(invitations.workspaceId, at.workspaceId), eq(invitations.id, at.id))),
)

export const findInvitation = (db: Db, workspaceId: Uuid, id: Uuid): Promise<InvitationRecord | undefined> =>
  first(db, byId, { workspaceId, id })

const byIds = prepare('invitations.by_ids', { ids: 'uuid[]' }, (orm, at) =>
  orm.select().from(invitations).where(sql`${invitations.id} = any(${at.ids})`),
)

export const listInvitationsWith = async (db: Db, ids: readonly Uuid[]): Promise<InvitationRecord[]> =>
  ids.length === 0 ? [] : db.run(byIds, { ids })

const byToken = prepare('invitations.by_token', { tokenHash: 'bytea' }, (orm, at) =>
  orm.select().from(invitations).where(eq(invitations.tokenHash, at.tokenHash)),
)

export const findInvitationByToken = (db: Db, tokenHash: Buffer): Promise<InvitationRecord | undefined> =>
  first(db, byToken, { tokenHash })

/** The addressee of an invitation: a verified e-mail or a wallet. An account proves either by an identity that is attached now. */
export type Addressee = { email: string | null; walletAddress: string | null }

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
