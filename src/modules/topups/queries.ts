import { eq, sql } from 'drizzle-orm'
import { lockAccounts } from '../../db/account-lock.ts'
import type { Db, Tx } from '../../db/client.ts'
import { prepare } from '../../db/prepare.ts'
import { selectAmong, selectRow } from '../../db/select-rows.ts'
import { topups } from '../../db/tables/topups.ts'
import { balanceAccountSql, workspaces } from '../../db/tables/workspaces.ts'
import type { Uuid } from '../../lib/ids.ts'
import { only } from '../../lib/lists.ts'
import { getHolderOf } from '../identity/accounts/queries.ts'

export type TopupRecord = typeof topups.$inferSelect

export const findTopup = selectRow('topups.of_workspace', topups, ['workspaceId', 'id'], { connection: 'coalesced' })

export const findTopupById = selectRow('topups.by_id', topups, ['id'])

const readTopups = selectAmong('topups.by_ids', topups, 'id', 'pool')

const readHolders = prepare('topups.holders', { ids: 'uuid[]' }, (orm, param) =>
  orm
    .select({ accountId: topups.accountId, balanceAccountId: sql<Uuid>`${sql.raw(balanceAccountSql('workspaces'))}` })
    .from(topups)
    .innerJoin(workspaces, eq(workspaces.id, topups.workspaceId))
    .where(sql`${topups.id} = any(${param.ids})`),
)

export const isCreditable = async (db: Db, { workspaceId }: TopupRecord): Promise<boolean> =>
  (await getHolderOf(db, workspaceId)).status !== 'closed'

/** The only way to lock top-ups. Locks each one's account and, if its workspace was separated since, the account it credits. */
export const lockTopupsWithAccounts = async (tx: Tx, ids: readonly Uuid[]): Promise<TopupRecord[]> => {
  const holders = await tx.run(readHolders, { ids })
  if (holders.length !== ids.length) throw new Error('a top-up that must exist is missing')
  const exclusive = holders.flatMap(({ accountId, balanceAccountId }) => [accountId, balanceAccountId])
  const [, locked] = await Promise.all([lockAccounts(tx, { exclusive }), readTopups(tx, ids)])
  return locked
}

export const lockTopupWithAccount = async (tx: Tx, id: Uuid): Promise<TopupRecord> => only(await lockTopupsWithAccounts(tx, [id]))
