import { eq } from 'drizzle-orm'
import { type Db, statement } from '../../../db/client.ts'
import { plainList } from '../../../db/lists.ts'
import { accounts } from '../../../db/tables/accounts.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { only } from '../../../lib/only.ts'

export type AccountRecord = typeof accounts.$inferSelect

export const findAccount = async (db: Db, id: Uuid): Promise<AccountRecord | undefined> =>
  (await db.orm.select().from(accounts).where(eq(accounts.id, id)))[0]

/** For events inside a transaction that moves money: the account as REST would show it. */
const readAccounts = statement('accounts.read', 'select * from accounts where id = any($1::uuid[])')

type Row = {
  id: Uuid
  status: AccountRecord['status']
  email: string | null
  display_name: string | null
  topups_enabled: boolean
  payments_enabled: boolean
  api_keys_enabled: boolean
  oauth_enabled: boolean
  is_admin: boolean
  created_at: Date
  updated_at: Date
}

const accountOf = (row: Row): AccountRecord => ({
  id: row.id,
  status: row.status,
  email: row.email,
  displayName: row.display_name,
  topupsEnabled: row.topups_enabled,
  paymentsEnabled: row.payments_enabled,
  apiKeysEnabled: row.api_keys_enabled,
  oauthEnabled: row.oauth_enabled,
  isAdmin: row.is_admin,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})

export const getAccounts = async (db: Db, ids: readonly Uuid[]): Promise<AccountRecord[]> =>
  (await db.query<Row>(readAccounts, [plainList(ids)])).map(accountOf)

export const getAccount = async (db: Db, id: Uuid): Promise<AccountRecord> => only(await getAccounts(db, [id]))
