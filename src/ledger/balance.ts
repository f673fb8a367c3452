import type { Db } from '../db/client.ts'
import { together } from '../db/together.ts'
import type { Uuid } from '../lib/ids.ts'
import { type Balance, balanceIn, getBalances } from './ledger.ts'

const readTogether = together(async (db, ownerIds: readonly Uuid[]) => {
  const balances = await getBalances(db, [...new Set(ownerIds)])
  return ownerIds.map(() => balances)
})

/** For readers, which lock nothing: the balances that several ask for in one turn are read together. */
export const getBalance = async (db: Db, ownerId: Uuid): Promise<Balance> => balanceIn(await readTogether(db, ownerId), ownerId)
