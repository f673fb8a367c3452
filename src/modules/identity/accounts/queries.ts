import { sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { prepare } from '../../../db/prepare.ts'
import { accounts } from '../../../db/tables/accounts.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { only } from '../../../lib/only.ts'

export type AccountRecord = typeof accounts.$inferSelect

const byIds = prepare('accounts.by_ids', { ids: 'uuid[]' }, (orm, at) =>
  orm.select().from(accounts).where(sql`${accounts.id} = any(${at.ids})`),
)

export const getAccounts = (db: Db, ids: readonly Uuid[]): Promise<AccountRecord[]> => db.run(byIds, { ids })

export const findAccount = async (db: Db, id: Uuid): Promise<AccountRecord | undefined> => (await getAccounts(db, [id]))[0]

export const getAccount = async (db: Db, id: Uuid): Promise<AccountRecord> => only(await getAccounts(db, [id]))
