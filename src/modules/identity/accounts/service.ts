import type { z } from 'zod'
import type { Principal } from '../../../auth/principal.ts'
import type { Config } from '../../../config.ts'
import type { Db, Tx } from '../../../db/client.ts'
import { insertRow, updateRow } from '../../../db/prepare-write.ts'
import { accounts } from '../../../db/tables/accounts.ts'
import type { NewEvent } from '../../../events/append.ts'
import { audit } from '../../../events/audit.ts'
import { type Balance, getBalance, openCustomerAccount } from '../../../ledger/ledger.ts'
import { readFlow } from '../../../ledger/reports.ts'
import { dateAfter, lastDays } from '../../../lib/clock.ts'
import { newId, type Uuid } from '../../../lib/ids.ts'
import { formatMinor } from '../../../lib/money.ts'
import { effectiveTimeZone, periodsAt, startOfDate } from '../../../policy/calendar.ts'
import type { Parts } from '../../parts.ts'
import { createPersonalWorkspace } from '../../workspaces/service.ts'
import type { Account, HistorySummary } from '../schema.ts'
import { presentAccount } from './present.ts'
import { type AccountRecord, getAccount, getAccounts } from './queries.ts'

/** Nothing is waited for. */
export const createAccount = (tx: Tx, config: Config, profile: { email: string | null; displayName: string | null }) => {
  const { at } = tx
  const accountId = newId()
  insertRow(tx, accounts, { id: accountId, email: profile.email, displayName: profile.displayName, createdAt: at, updatedAt: at })
  openCustomerAccount(tx, accountId, config.CURRENCY, at)
  return { accountId, workspaceId: createPersonalWorkspace(tx, accountId) }
}

export const readAccount = async (db: Db, accountId: Uuid): Promise<Account> => {
  const [record, balance] = await Promise.all([getAccount(db, accountId), getBalance(db, accountId)])
  return presentAccount(record, balance)
}

export const updateAccount = async (tx: Tx, principal: Principal, change: { display_name?: string | null | undefined }) => {
  if (change.display_name === undefined) return
  const { at } = tx
  const before = await getAccount(tx, principal.accountId)
  updateRow(tx, accounts, before, { displayName: change.display_name, updatedAt: at })
  audit(tx, principal, 'account.update', {
    subject: principal.accountId,
    before: { display_name: before.displayName },
    after: change,
  })
}

export const balanceEvents = (accounts: readonly AccountRecord[], balances: ReadonlyMap<Uuid, Balance>): NewEvent[] => {
  if (accounts.length !== balances.size) throw new Error('an account that must exist is missing')
  return accounts.flatMap((account): NewEvent[] => {
    const balance = balances.get(account.id)
    const data = balance && presentAccount(account, balance)
    return data ? [{ type: 'balance.updated', accountId: account.id, workspaceId: null, data }] : []
  })
}

export const balanceUpdated = async (tx: Tx, accountId: Uuid, balance: Balance): Promise<NewEvent[]> =>
  balanceEvents(await getAccounts(tx, [accountId]), new Map([[accountId, balance]]))

export const summarizeHistory = async (
  deps: Pick<Parts, 'clock' | 'config' | 'db'>,
  { accountId, workspace }: Pick<Principal, 'accountId' | 'workspace'>,
  count: number,
): Promise<z.output<typeof HistorySummary>> => {
  const at = deps.clock.now()
  const zone = effectiveTimeZone(workspace, at)
  const today = periodsAt(at, zone).day
  const period = { zone, begins: startOfDate(dateAfter(today, 1 - count), zone), ends: startOfDate(dateAfter(today, 1), zone) }
  const flow = new Map((await readFlow(deps.db, accountId, period)).map((day) => [day.date, day]))
  return {
    currency: deps.config.CURRENCY,
    days: lastDays(today, count).map((date) => ({
      date,
      in_minor: formatMinor(flow.get(date)?.inMinor ?? 0n),
      out_minor: formatMinor(flow.get(date)?.outMinor ?? 0n),
    })),
  }
}
