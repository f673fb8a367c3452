import { and, eq, lte, sql } from 'drizzle-orm'
import { lockAccounts } from '../../db/account-lock.ts'
import { type Db, first, type Tx } from '../../db/client.ts'
import { prepare } from '../../db/prepare.ts'
import { topups } from '../../db/tables/topups.ts'
import type { Uuid } from '../../lib/ids.ts'
import { only } from '../../lib/lists.ts'
import type { Earlier } from '../attempts/attempt.ts'
import { earlierSql } from '../attempts/queries.ts'

export type TopupRecord = typeof topups.$inferSelect

const inWorkspace = prepare(
  'topups.of_workspace',
  { workspaceId: 'uuid', id: 'uuid' },
  (orm, at) =>
    orm
      .select()
      .from(topups)
      .where(and(eq(topups.id, at.id), eq(topups.workspaceId, at.workspaceId))),
  'joined',
)

export const findTopup = (db: Db, workspaceId: Uuid, id: Uuid): Promise<TopupRecord | undefined> =>
  first(db, inWorkspace, { workspaceId, id })

const byId = prepare('topups.by_id', { id: 'uuid' }, (orm, at) => orm.select().from(topups).where(eq(topups.id, at.id)))

/** In any workspace: for a provider's word, and for administrators. */
export const findTopupById = (db: Db, id: Uuid): Promise<TopupRecord | undefined> => first(db, byId, { id })

const byIds = prepare(
  'topups.by_ids',
  { ids: 'uuid[]' },
  (orm, at) => orm.select().from(topups).where(sql`${topups.id} = any(${at.ids})`),
  'pool',
)

const readTopups = (db: Db, ids: readonly Uuid[]): Promise<TopupRecord[]> => db.run(byIds, { ids })

/** The only way to lock top-ups: by the accounts that they credit, which guard them. */
export const lockTopupsWithAccounts = async (tx: Tx, ids: readonly Uuid[]): Promise<TopupRecord[]> => {
  const unlocked = await readTopups(tx, ids)
  if (unlocked.length !== ids.length) throw new Error('a top-up that must exist is missing')
  const [, locked] = await Promise.all([
    lockAccounts(tx, { exclusive: unlocked.map(({ accountId }) => accountId) }),
    readTopups(tx, ids),
  ])
  return locked
}

export const lockTopupWithAccount = async (tx: Tx, id: Uuid): Promise<TopupRecord> => only(await lockTopupsWithAccounts(tx, [id]))

const due = prepare(
  'topups.due',
  { ids: 'uuid[]', at: 'timestamptz' },
  (orm, at) =>
    orm
      .select({ topup: topups, earlier: sql<Earlier>`${sql.raw(earlierSql('topups.id'))}` })
      .from(topups)
      .where(
        and(
          sql`${topups.id} = any(${at.ids})`,
          eq(topups.status, 'pending'),
          lte(topups.dispatchDueAt, at.at),
          sql`not exists (select from rail_attempts a where a.subject_id = ${topups.id} and a.state <> 'not_sent')`,
        ),
      )
      .orderBy(topups.dispatchDueAt, topups.id),
  'pool',
)

/** Due, and without an attempt that may have been sent. Their accounts are locked. */
export const readDueTopups = (tx: Tx, ids: readonly Uuid[], at: Date): Promise<{ topup: TopupRecord; earlier: Earlier }[]> =>
  tx.run(due, { ids, at })
