import { and, desc, eq, lt, or, type SQL, sql } from 'drizzle-orm'
import type { Db, Tx } from '../../../db/client.ts'
import { emailKeyOf, emailKeySql } from '../../../db/email-key.ts'
import { accounts, identities } from '../../../db/tables/accounts.ts'
import { workspaces } from '../../../db/tables/workspaces.ts'
import type { PageRequest } from '../../../http/pagination.ts'
import { emailKey } from '../../../lib/email-key.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { AccountRecord } from './queries.ts'

export type AccountFilter = { id?: Uuid; email?: string; walletAddress?: string; status?: AccountRecord['status'] }

const hasIdentity = (condition: SQL | undefined) =>
  sql`exists (select from ${identities} where ${identities.accountId} = ${accounts.id} and ${condition})`

const byEmail = (email: string) =>
  or(
    eq(emailKeyOf(accounts.email), emailKey(email)),
    hasIdentity(and(eq(identities.emailVerified, true), eq(emailKeyOf(identities.email), emailKey(email)))),
  )

const byWallet = (address: string) =>
  hasIdentity(and(eq(identities.provider, 'wallet'), eq(identities.subjectKey, address.toLowerCase())))

export const listAccounts = (db: Db, filter: AccountFilter, page: PageRequest): Promise<AccountRecord[]> =>
  db.orm
    .select()
    .from(accounts)
    .where(
      and(
        filter.id === undefined ? undefined : eq(accounts.id, filter.id),
        filter.email === undefined ? undefined : byEmail(filter.email),
        filter.walletAddress === undefined ? undefined : byWallet(filter.walletAddress),
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

export const ownedWorkspaceIds = async (db: Db, accountId: Uuid): Promise<Uuid[]> =>
  (await db.orm.select({ id: workspaces.id }).from(workspaces).where(eq(workspaces.owningAccountId, accountId))).map(
    ({ id }) => id,
  )

/** The accounts among these that ADMIN_ACCOUNTS names, by e-mail or wallet; `names` comes from `administratorNames`. */
export const namedAdministrators = async (db: Db, ids: readonly Uuid[], names: readonly string[]): Promise<Set<Uuid>> => {
  if (ids.length === 0 || names.length === 0) return new Set()
  const rows = await db.query<{ id: Uuid }>(
    `select a.id from accounts a where a.id = any($1::uuid[]) and (${emailKeySql('a.email')} = any($2::text[]) or exists (
       select from identities i where i.account_id = a.id and i.provider = 'wallet' and i.subject_key = any($2::text[])))`,
    [ids, names],
  )
  return new Set(rows.map(({ id }) => id))
}
