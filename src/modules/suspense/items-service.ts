import type { Tx } from '../../db/client.ts'
import { updateRow } from '../../db/prepare-write.ts'
import { selectRow } from '../../db/select-rows.ts'
import { suspenseItems } from '../../db/tables/rails.ts'
import { audit } from '../../events/audit.ts'
import { type SystemTransfer, transferWithin } from '../../ledger/ledger.ts'
import { formatId, newId, type Uuid } from '../../lib/ids.ts'
import type { Minor } from '../../lib/money.ts'
import { nameBalances, nameOfOperator, type Operator } from '../operators.ts'

export type SuspenseRecord = typeof suspenseItems.$inferSelect

type Item = Pick<SuspenseRecord, 'id' | 'direction' | 'amountMinor'>

/** The transfer of an item's money into suspense, or back to its source. `other`: the account to use instead of the source. */
export const transferOf = (
  { id, direction, amountMinor }: Item,
  { transferId, leaves = false, memo, other }: { transferId: Uuid; leaves?: boolean; memo: string; other?: 'adjustments' },
): SystemTransfer => {
  const clearing = other ?? (direction === 'in' ? 'topup_clearing' : 'rail_clearing')
  const [debit, credit] = (direction === 'in') === leaves ? (['suspense', clearing] as const) : ([clearing, 'suspense'] as const)
  return { id: transferId, debit, credit, amountMinor: amountMinor ?? 0n, reference: { type: 'suspense', id }, memo }
}

/** Books an item whose amount became known later. The caller has locked the item and claimed its receipt. */
export const bookItem = async (
  tx: Tx,
  item: Item & Pick<SuspenseRecord, 'providerReceipt' | 'reason'> & { transferId: Uuid; amountMinor: Minor },
): Promise<void> => {
  const { id, amountMinor, providerReceipt, transferId, reason } = item
  await transferWithin(tx, [transferOf(item, { transferId, memo: reason })])
  updateRow(tx, suspenseItems, { id }, { amountMinor, providerReceipt, transferId })
}

/** Moves a resolved item's money to its adjustment, or back to its source. */
export const leaveSuspense = async (
  tx: Tx,
  item: Item & Pick<SuspenseRecord, 'transferId'>,
  outcome: NonNullable<SuspenseRecord['outcome']>,
): Promise<void> => {
  if (item.transferId === null || item.amountMinor === null) return
  const other = outcome === 'adjusted' ? { other: 'adjustments' as const } : {}
  await transferWithin(tx, [transferOf(item, { transferId: newId(), leaves: true, memo: outcome, ...other })])
}

/** Clears a proposal unless two people decided: a decision by one person counts toward that person's daily limit. */
export const noProposal = { proposedOutcome: null, proposedBy: null }

/** Ends an item whose money the caller has moved to an account. */
export const endAssigned = async (
  tx: Tx,
  operator: Operator,
  { id }: Pick<SuspenseRecord, 'id'>,
  { accountId, topupId, note }: { accountId: Uuid; topupId: Uuid | null; note: string },
): Promise<void> => {
  const resolved = { resolvedBy: nameOfOperator(operator), resolvedAt: tx.at, ...noProposal }
  updateRow(tx, suspenseItems, { id }, { outcome: 'assigned', note, ...resolved })
  const name = (await nameBalances(tx, [accountId]))(accountId)
  const after = {
    account_id: formatId('account', name.accountId),
    workspace_id: name.workspaceId && formatId('workspace', name.workspaceId),
    topup_id: topupId && formatId('topup', topupId),
    note,
  }
  audit(tx, operator, 'admin.assign_suspense', { subject: id, after })
}

export const lockItem = selectRow('suspense.lock', suspenseItems, ['id'], { lock: 'update' })
