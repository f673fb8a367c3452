import { eq, type SQL, sql } from 'drizzle-orm'
import { isAdministratorSql } from '../../../auth/administrators.ts'
import { type Db, first, type Tx } from '../../../db/client.ts'
import { newestFirst } from '../../../db/list-queries.ts'
import { prepare } from '../../../db/prepare.ts'
import { accounts, identities } from '../../../db/tables/accounts.ts'
import { members, workspaces } from '../../../db/tables/workspaces.ts'
import type { PageRequest } from '../../../http/pagination.ts'
import { emailKey, emailKeySql } from '../../../lib/email-key.ts'
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

const ofIdentity = (condition: SQL | undefined) =>
  sql`${accounts.id} in (select ${identities.accountId} from ${identities} where ${condition})`

/** As two lookups: an `or` of both would read every account. */
const byEmail = (key: SQL) =>
  sql`${accounts.id} in (select a.id from accounts a where ${sql.raw(emailKeySql('a.email'))} = ${key}
    union all select v.account_id from identities v where ${sql.raw(emailKeySql('v.email'))} = ${key} and v.email_verified)`

const byName = (keys: SQL) =>
  ofIdentity(sql`${identities.provider} = 'wallet' and ${sql.raw(walletKeySql('identities'))} = any(${keys})`)

const byWallet = (address: SQL) =>
  ofIdentity(sql`${identities.provider} = 'wallet' and right(${identities.subjectKey}, 42) = ${address}`)

const list = prepare(
  'accounts.list',
  { id: 'uuid?', email: 'text?', walletAddress: 'text?', wallet: 'text[]?', status: 'text?', before: 'uuid?', take: 'rows' },
  (orm, at) =>
    newestFirst(
      orm.select().from(accounts),
      { id: accounts.id },
      at,
      at.id && eq(accounts.id, at.id),
      at.email && byEmail(at.email),
      at.walletAddress && byWallet(at.walletAddress),
      at.wallet && byName(at.wallet),
      at.status && eq(accounts.status, at.status),
    ),
  'pool',
)

export const listAccounts = (
  db: Db,
  { id, email, walletAddress, wallet, status }: AccountFilter,
  page: PageRequest,
): Promise<AccountRecord[]> =>
  db.run(list, {
    id,
    email: email === undefined ? null : emailKey(email),
    walletAddress: walletAddress?.toLowerCase(),
    wallet: wallet && walletKeys(wallet),
    status,
    ...page,
  })

const lockById = prepare('accounts.lock', { id: 'uuid' }, (orm, at) =>
  orm.select().from(accounts).where(eq(accounts.id, at.id)).for('no key update'),
)

export const lockAccountRow = async (tx: Tx, id: Uuid): Promise<AccountRecord> => {
  const account = await first(tx, lockById, { id })
  if (!account) throw new Error('an account that must exist is missing')
  return account
}

const workspacesOf = prepare('members.workspaces_of', { accountId: 'uuid' }, (orm, at) =>
  orm.select({ id: members.workspaceId }).from(members).where(eq(members.accountId, at.accountId)),
)

const owned = prepare('workspaces.owned', { accountId: 'uuid' }, (orm, at) =>
  orm.select({ id: workspaces.id }).from(workspaces).where(eq(workspaces.owningAccountId, at.accountId)),
)

/** Where it may ask for payments now. */
export const memberWorkspaceIds = async (db: Db, accountId: Uuid): Promise<Uuid[]> =>
  (await db.run(workspacesOf, { accountId })).map(({ id }) => id)

export const ownedWorkspaceIds = async (db: Db, accountId: Uuid): Promise<Uuid[]> =>
  (await db.run(owned, { accountId })).map(({ id }) => id)

/** The administrators among these accounts: marked, or named by ADMIN_ACCOUNTS; `names` comes from `administratorNames`. */
export const namedAdministrators = async (db: Db, ids: readonly Uuid[], names: readonly string[]): Promise<Set<Uuid>> => {
  if (ids.length === 0 || names.length === 0) return new Set()
  const rows = await db.query<{ id: Uuid }>(
    `select a.id from accounts a where a.id = any($1::uuid[]) and (${isAdministratorSql('$2')})`,
    [ids, names],
  )
  return new Set(rows.map(({ id }) => id))
}
