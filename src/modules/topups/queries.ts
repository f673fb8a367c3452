import { lockAccounts } from '../../db/account-lock.ts'
import type { Tx } from '../../db/client.ts'
import { selectAmong, selectRow } from '../../db/select-rows.ts'
import { topups } from '../../db/tables/topups.ts'
import type { Uuid } from '../../lib/ids.ts'
import { only } from '../../lib/lists.ts'

export type TopupRecord = typeof topups.$inferSelect

export const findTopup = selectRow('topups.of_workspace', topups, ['workspaceId', 'id'], { lane: 'joined' })

export const findTopupById = selectRow('topups.by_id', topups, ['id'])

const readTopups = selectAmong('topups.by_ids', topups, 'id', 'pool')

/** The only way to lock top-ups: by the accounts that they credit. */
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
