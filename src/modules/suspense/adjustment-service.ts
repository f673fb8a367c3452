import type { Config } from '../../config.ts'
import type { Tx } from '../../db/client.ts'
import { prepareUpdate } from '../../db/prepare-write.ts'
import { adjustments } from '../../db/tables/adjustments.ts'
import { appendEvents } from '../../events/append.ts'
import { lockBalance, transfer } from '../../ledger/ledger.ts'
import { conflict, found, notFound, Refusal } from '../../lib/errors.ts'
import { formatId, newId, type Uuid } from '../../lib/ids.ts'
import { findAccount } from '../identity/accounts/queries.ts'
import { balanceUpdated } from '../identity/accounts/service.ts'
import { nameOfOperator, type Operator, refuseOwnAccount } from '../operators.ts'
import { auditAdjustment, insertAdjustment, mayDecideAlone } from './cost-service.ts'
import { type AdjustmentRecord, findAdjustment, lockAdjustment } from './queries.ts'
import type { CreateAdjustment } from './schema.ts'

const postRow = prepareUpdate('adjustments.post', adjustments, ['status', 'transferId', 'decidedBy', 'decidedAt'])
const rejectRow = prepareUpdate('adjustments.reject', adjustments, ['status', 'decidedBy', 'decidedAt'])

/** Moves the money. The caller has locked the balance. */
const post = async (tx: Tx, operator: Operator, adjustment: AdjustmentRecord): Promise<AdjustmentRecord> => {
  const { at } = tx
  const { id, accountId, amountMinor, reason } = adjustment
  const { transferId, balance } = await transfer(tx, {
    ownerId: accountId,
    amountMinor,
    against: 'adjustments',
    reference: { type: 'adjustment', id },
    memo: reason,
    at,
  })
  const change = { status: 'posted' as const, transferId, decidedBy: nameOfOperator(operator), decidedAt: at }
  postRow(tx, id, change)
  await appendEvents(tx, await balanceUpdated(tx, accountId, balance))
  const posted = { ...adjustment, ...change }
  auditAdjustment(tx, operator, { action: 'admin.adjustment_post', adjustment: posted })
  return posted
}

/**
 * Corrects a balance: at once, or after a second administrator has confirmed it when the amounts that this administrator moved alone within
 * a day exceed the configured one. So many small adjustments do not avoid the rule.
 */
export const createAdjustment = async (
  tx: Tx,
  config: Config,
  operator: Operator,
  input: CreateAdjustment,
): Promise<AdjustmentRecord> => {
  const { account_id: accountId, amount_minor: amount } = input
  if (!(await findAccount(tx, accountId))) throw notFound('account_id')
  await lockBalance(tx, accountId)
  await refuseOwnAccount(tx, operator, accountId)
  const adjustment = await insertAdjustment(tx, config, operator, {
    id: newId(),
    kind: 'balance',
    accountId,
    paymentId: null,
    amountMinor: input.direction === 'credit' ? amount : -amount,
    reason: input.reason,
  })
  return (await mayDecideAlone(tx, config, operator, amount)) ? post(tx, operator, adjustment) : adjustment
}

const lockPending = async (tx: Tx, id: Uuid, decision: 'posted' | 'rejected'): Promise<AdjustmentRecord> => {
  const unlocked = found(await findAdjustment(tx, { id }))
  await lockBalance(tx, unlocked.accountId)
  const adjustment = found(await lockAdjustment(tx, { id }))
  if (adjustment.status !== 'pending' && adjustment.status !== decision) {
    throw conflict(`The adjustment is ${adjustment.status}.`, 'status', { status: adjustment.status })
  }
  return adjustment
}

/** Posts a waiting adjustment. The administrator who asked for it does not confirm it; confirming again gives the same answer. */
export const confirmAdjustment = async (tx: Tx, operator: Operator, id: Uuid): Promise<AdjustmentRecord> => {
  const adjustment = await lockPending(tx, id, 'posted')
  if (adjustment.status === 'posted') return adjustment
  if (adjustment.paymentId !== null)
    throw conflict('Confirm it by resolving its payment with the same outcome and your own evidence.', 'payment', {
      payment_id: formatId('payment', adjustment.paymentId),
    })
  await refuseOwnAccount(tx, operator, adjustment.accountId)
  if (adjustment.requestedBy === nameOfOperator(operator)) {
    throw new Refusal('separation_of_duties', { message: 'An adjustment of this size needs a second administrator.' })
  }
  return post(tx, operator, adjustment)
}

/** Rejects a waiting adjustment; the administrator who asked for it may do so too. */
export const rejectAdjustment = async (tx: Tx, operator: Operator, id: Uuid, reason?: string): Promise<AdjustmentRecord> => {
  const adjustment = await lockPending(tx, id, 'rejected')
  if (adjustment.status === 'rejected') return adjustment
  const { at } = tx
  const change = { status: 'rejected' as const, decidedBy: nameOfOperator(operator), decidedAt: at }
  rejectRow(tx, id, change)
  const rejected = { ...adjustment, ...change }
  auditAdjustment(tx, operator, { action: 'admin.adjustment_reject', adjustment: rejected, reason })
  return rejected
}
