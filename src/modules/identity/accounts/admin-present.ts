import { administratorNames } from '../../../auth/administrators.ts'
import type { Config } from '../../../config.ts'
import type { Db } from '../../../db/client.ts'
import { balanceIn, getBalances } from '../../../ledger/ledger.ts'
import { isoTime } from '../../../lib/clock.ts'
import { namedAdministrators } from './admin-queries.ts'
import type { AdminAccount } from './admin-schema.ts'
import { presentAccount } from './present.ts'
import type { AccountRecord } from './queries.ts'

/** The accounts as an administrator sees them, in the order given. Two queries, however many accounts. */
export const viewAccounts = async (db: Db, config: Config, records: readonly AccountRecord[]): Promise<AdminAccount[]> => {
  const ids = records.map(({ id }) => id)
  const named = await namedAdministrators(db, ids, administratorNames(config.ADMIN_ACCOUNTS))
  const balances = await getBalances(db, ids)
  return records.map((record) => ({
    ...presentAccount(record, balanceIn(balances, record.id)),
    is_admin: record.isAdmin || named.has(record.id),
    updated_at: isoTime(record.updatedAt),
  }))
}
