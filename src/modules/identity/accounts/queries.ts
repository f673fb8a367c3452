import { eq, sql } from 'drizzle-orm'
import { type Db, first } from '../../../db/client.ts'
import { prepare } from '../../../db/prepare.ts'
import { accounts } from '../../../db/tables/accounts.ts'
import { together } from '../../../db/together.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { only } from '../../../lib/lists.ts'

export type AccountRecord = typeof accounts.$inferSelect

const byIds = prepare('accounts.by_ids', { ids: 'uuid[]' }, (orm, at) =>
  orm.select().from(accounts).where(sql`${accounts.id} = any(${at.ids})`),
)

export const getAccounts = together<readonly Uuid[], AccountRecord[]>(async (db, lists) => {
  const rows = await db.run(byIds, { ids: [...new Set(lists.flat())] })
  return lists.map((ids) => rows.filter(({ id }) => ids.includes(id)))
})

const byId = prepare(
  'accounts.by_id',
  { id: 'uuid' },
  (orm, at) => orm.select().from(accounts).where(eq(accounts.id, at.id)),
  'joined',
)

export const findAccount = (db: Db, id: Uuid): Promise<AccountRecord | undefined> => first(db, byId, { id })

export const getAccount = async (db: Db, id: Uuid): Promise<AccountRecord> => only(await db.run(byId, { id }))
