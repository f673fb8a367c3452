import type { Db, Tx } from '../db/client.ts'
import { prepareInsert } from '../db/prepare-write.ts'
import { ledgerAccounts } from '../db/tables/ledger.ts'
import { newId, type Uuid } from '../lib/ids.ts'
import type { SystemAccount } from './ledger.ts'

const systemAccounts: readonly SystemAccount[] = ['rail_clearing', 'topup_clearing', 'adjustments', 'suspense']

/** At start: the accounts of the service itself, of which there is one each. */
export const openSystemAccounts = async (db: Db, currency: string, at: Date): Promise<void> => {
  for (const kind of systemAccounts) {
    await db.query(
      'insert into ledger_accounts (id, kind, code, currency, created_at) values ($1, $2, $2, $3, $4) on conflict (code) do nothing',
      [newId(), kind, currency, at],
    )
  }
}

const insertAccount = prepareInsert('ledger.open_customer', ledgerAccounts)

export const openCustomerAccount = (tx: Tx, ownerId: Uuid, currency: string, at: Date): void =>
  insertAccount(tx, { id: ownerId, kind: 'customer', ownerId, code: `customer:${ownerId}`, currency, createdAt: at })
