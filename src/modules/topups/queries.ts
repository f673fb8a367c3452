import { and, eq, lte, sql } from 'drizzle-orm'
import { lockAccounts } from '../../db/account-lock.ts'
import type { Tx } from '../../db/client.ts'
import { prepare } from '../../db/prepare.ts'
import { selectAmong, selectRow } from '../../db/select-rows.ts'
import { topups } from '../../db/tables/topups.ts'
import type { Uuid } from '../../lib/ids.ts'
import { only } from '../../lib/lists.ts'
import type { Earlier } from '../attempts/attempt.ts'
import { earlierSql } from '../attempts/queries.ts'

export type TopupRecord = typeof topups.$inferSelect

export const findTopup = selectRow('topups.of_workspace', topups, ['workspaceId', 'id'], { lane: 'joined' })

/** In any workspace: for a provider's word, and for administrators. */
export const findTopupById = selectRow('topups.by_id', topups, ['id'])

const readTopups = selectAmong('topups.by_ids', topups, 'id', 'pool')

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
