import { and, desc, eq, inArray, lt, or, type SQL, sql } from 'drizzle-orm'
import { isAdministratorSql } from '../../../auth/administrators.ts'
import type { Db, Tx } from '../../../db/client.ts'
import { emailKeyOf } from '../../../db/email-key.ts'
import { accounts, identities } from '../../../db/tables/accounts.ts'
import { members, workspaces } from '../../../db/tables/workspaces.ts'
import type { PageRequest } from '../../../http/pagination.ts'
import { emailKey } from '../../../lib/email-key.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { type WalletName, walletKeySql, walletKeys } from '../../../lib/wallet-name.ts'
import type { AccountRecord } from './queries.ts'

/** `wallet`: exactly the one of this name; `walletAddress`: whoever has linked the address, on any chain. */
export type AccountFilter = {
  id?: Uuid
  email?: string
  walletAddress?: string
  wallet?: WalletName
  status?: AccountRecord['status']
}

const hasIdentity = (condition: SQL | undefined) =>
  sql`exists (select from ${identities} where ${identities.accountId} = ${accounts.id} and ${condition})`

const byEmail = (email: string) =>
  or(
    eq(emailKeyOf(accounts.email), emailKey(email)),
    hasIdentity(and(eq(identities.emailVerified, true), eq(emailKeyOf(identities.email), emailKey(email)))),
  )

const byName = (wallet: WalletName) =>
  hasIdentity(and(eq(identities.provider, 'wallet'), inArray(sql.raw(walletKeySql('identities')), walletKeys(wallet))))

const byWallet = (address: string) =>
  hasIdentity(and(eq(identities.provider, 'wallet'), sql`right(${identities.subjectKey}, 42) = ${address.toLowerCase()}`))

export const listAccounts = (db: Db, filter: AccountFilter, page: PageRequest): Promise<AccountRecord[]> =>
  db.orm
    .select()
    .from(accounts)
    .where(
      and(
        filter.id === undefined ? undefined : eq(accounts.id, filter.id),
        filter.email === undefined ? undefined : byEmail(filter.email),
        filter.walletAddress === undefined ? undefined : byWallet(filter.walletAddress),
        filter.wallet === undefined ? undefined : byName(filter.wallet),
        filter.status === undefined ? undefined : eq(accounts.status, filter.status),
        page.before === null ? undefined : lt(accounts.id, page.before),
      ),
    )
    .orderBy(desc(accounts.id))
    .limit(page.take)

export const lockAccountRow = async (tx: Tx, id: Uuid): Promise<AccountRecord> => {
  const [account] = await tx.orm.select().from(accounts).where(eq(accounts.id, id)).for('no key update')
  if (!account) throw new Error('an account that must exist is missing')
  return account
}

/** Where it may ask for payments now. */
export const memberWorkspaceIds = async (db: Db, accountId: Uuid): Promise<Uuid[]> =>
  (await db.orm.select({ id: members.workspaceId }).from(members).where(eq(members.accountId, accountId))).map(({ id }) => id)

export const ownedWorkspaceIds = async (db: Db, accountId: Uuid): Promise<Uuid[]> =>
  (await db.orm.select({ id: workspaces.id }).from(workspaces).where(eq(workspaces.owningAccountId, accountId))).map(
    ({ id }) => id,
  )

/** The administrators among these accounts: marked, or named by ADMIN_ACCOUNTS; `names` comes from `administratorNames`. */
export const namedAdministrators = async (db: Db, ids: readonly Uuid[], names: readonly string[]): Promise<Set<Uuid>> => {
  if (ids.length === 0 || names.length === 0) return new Set()
  const rows = await db.query<{ id: Uuid }>(
    `select a.id from accounts a where a.id = any($1::uuid[]) and (${isAdministratorSql('$2')})`,
    [ids, names],
  )
  return new Set(rows.map(({ id }) => id))
}
