import type { z } from 'zod'
import { administratorsAmong } from '../../../auth/administrators.ts'
import type { Principal } from '../../../auth/principal.ts'
import type { Config } from '../../../config.ts'
import type { Db, Tx } from '../../../db/client.ts'
import { insertRow, updateRow } from '../../../db/prepare-write.ts'
import { accounts } from '../../../db/tables/accounts.ts'
import type { NewEvent } from '../../../events/append.ts'
import { audit } from '../../../events/audit.ts'
import { type Balance, getBalance, openCustomerAccount } from '../../../ledger/ledger.ts'
import { readFlow } from '../../../ledger/reports.ts'
import { Refusal } from '../../../lib/errors.ts'
import { newId, type Uuid } from '../../../lib/ids.ts'
import { formatMinor, formatMinorOrNull } from '../../../lib/money.ts'
import { effectiveTimeZone, lastDaysInZones, periodsAt } from '../../../policy/calendar.ts'
import type { Parts } from '../../parts.ts'
import type { OpenHolder } from '../../ports.ts'
import { presentWorkspace, withState } from '../../workspaces/present.ts'
import { readZones, type WorkspaceRecord } from '../../workspaces/queries.ts'
import { createPersonalWorkspace } from '../../workspaces/service.ts'
import type { Account, HistorySummary } from '../schema.ts'
import { presentAccount } from './present.ts'
import { type AccountRecord, getAccount, getHolders } from './queries.ts'

/** Does not wait for its queries. */
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

export const updateAccount = async (
  tx: Tx,
  config: Config,
  principal: Principal,
  change: { display_name?: string | null | undefined },
) => {
  if (change.display_name === undefined) return
  if (principal.grant !== null && (await administratorsAmong(tx, [principal.accountId], config.ADMIN_ACCOUNTS)).size > 0)
    throw new Refusal('forbidden', { message: "A key cannot change an administrator's account." })
  const before = await getAccount(tx, principal.accountId)
  updateRow(tx, accounts, before, { displayName: change.display_name, updatedAt: tx.at })
  audit(tx, principal, 'account.update', {
    subject: principal.accountId,
    before: { display_name: before.displayName },
    after: change,
  })
}

/** Creates the account that holds a team's balance, with a ledger account like a person's. */
export const openHolder: OpenHolder = (tx, config, workspaceId) => {
  const { at } = tx
  const id = newId()
  insertRow(tx, accounts, { id, holderOfWorkspaceId: workspaceId, createdAt: at, updatedAt: at })
  openCustomerAccount(tx, id, config.CURRENCY, at)
  return id
}

type Holder = { account: AccountRecord; team: Parameters<typeof presentWorkspace>[0] | null }

/** A personal balance is published as the account, a team's as the workspace, to everyone who may read its payments. */
export const balanceEvent = ({ account, team }: Holder, balance: Balance): NewEvent => {
  const type = 'balance.updated'
  if (!team) return { type, accountId: account.id, workspaceId: null, data: presentAccount(account, balance) }
  return { type, accountId: account.id, workspaceId: team.id, data: presentWorkspace(team, balance.currency, balance) }
}

export const balanceEvents = (
  holders: Awaited<ReturnType<typeof getHolders>>,
  balances: ReadonlyMap<Uuid, Balance>,
): NewEvent[] => {
  if (holders.length !== balances.size) throw new Error('an account that must exist is missing')
  return holders.flatMap(({ account, team }): NewEvent[] => {
    const balance = balances.get(account.id)
    if (!balance) return []
    const workspace = account.holderOfWorkspaceId ? { ...team, balanceAccountId: account.id, holderStatus: account.status } : null
    return [balanceEvent({ account, team: workspace && withState(workspace as WorkspaceRecord) }, balance)]
  })
}

export const balanceUpdated = async (tx: Tx, accountId: Uuid, balance: Balance): Promise<NewEvent[]> =>
  balanceEvents(await getHolders(tx, [accountId]), new Map([[accountId, balance]]))

export const summarizeHistory = async (
  deps: Pick<Parts, 'clock' | 'config' | 'db'>,
  { holderId, workspaceId }: { holderId: Uuid; workspaceId: Uuid | null },
  workspace: Principal['workspace'],
  count: number,
): Promise<z.output<typeof HistorySummary>> => {
  const at = deps.clock.now()
  const { dates, starts } = lastDaysInZones(await readZones(deps.db, workspace), at, count)
  const ends = periodsAt(at, effectiveTimeZone(workspace, at)).dayResetsAt
  const flow = await readFlow(deps.db, holderId, { starts, ends, workspaceId })
  return {
    currency: deps.config.CURRENCY,
    days: dates.map((date, index) => ({
      date,
      in_minor: formatMinor(flow[index]?.inMinor ?? 0n),
      out_minor: formatMinor(flow[index]?.outMinor ?? 0n),
      available_minor: formatMinorOrNull(flow[index]?.availableMinor ?? null),
    })),
  }
}
