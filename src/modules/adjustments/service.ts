import { eq } from 'drizzle-orm'
import type { Tx } from '../../db/client.ts'
import { adjustments } from '../../db/tables/adjustments.ts'
import { audit } from '../../events/audit.ts'
import type { AuditAction } from '../../events/audit-actions.ts'
import { lockBalance, transfer } from '../../ledger/ledger.ts'
import { daysAfter } from '../../lib/clock.ts'
import { conflict, notFound, Refusal } from '../../lib/errors.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import { findAccount } from '../identity/accounts/queries.ts'
import { balanceUpdated } from '../identity/accounts/service.ts'
import { nameOfOperator, type Operator } from '../operators.ts'
import type { Deps } from './deps.ts'
import { presentAdjustment } from './present.ts'
import { type AdjustmentRecord, findAdjustment, lockAdjustment, postedAloneSince } from './queries.ts'
import type { CreateAdjustment } from './schema.ts'

type AdjustmentStep = { action: AuditAction; adjustment: AdjustmentRecord; reason?: string | undefined }

const auditStep = (tx: Tx, operator: Operator, { action, adjustment, reason }: AdjustmentStep): Promise<void> =>
  audit(tx, operator, tx.at, {
    action,
    workspaceId: null,
    subject: { type: 'ledger', id: adjustment.id },
    after: { ...presentAdjustment(adjustment), ...(reason !== undefined && { rejected_because: reason }) },
  })

/** Moves the money. The caller has locked the balance. */
const post = async (
  tx: Tx,
  deps: Pick<Deps, 'appendEvents' | 'config'>,
  operator: Operator,
  adjustment: AdjustmentRecord,
): Promise<AdjustmentRecord> => {
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
  await tx.orm.update(adjustments).set(change).where(eq(adjustments.id, id))
  await deps.appendEvents(tx, at, await balanceUpdated(tx, deps, accountId, balance))
  const posted = { ...adjustment, ...change }
  await auditStep(tx, operator, { action: 'admin.adjustment_post', adjustment: posted })
  return posted
}

/** Administrators never decide about their own money, neither alone nor as the second one. */
const refuseOwnAccount = (operator: Operator, accountId: Uuid): void => {
  if (operator.accountId === accountId)
    throw new Refusal('separation_of_duties', { message: 'Administrators cannot adjust their own account.' })
}

/** The amounts that one administrator moves alone are added up: of several requests at once, each counts the one before it. */
const lockOperator = (tx: Tx, operator: Operator): Promise<unknown> =>
  tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`adjustments:${nameOfOperator(operator)}`])

/**
 * Corrects a balance: at once, or after a second administrator has confirmed it when the amounts that this administrator moved alone within
 * a day exceed the configured one. So many small adjustments do not avoid the rule.
 */
export const createAdjustment = async (
  tx: Tx,
  deps: Pick<Deps, 'appendEvents' | 'config'>,
  operator: Operator,
  input: CreateAdjustment,
): Promise<AdjustmentRecord> => {
  const { account_id: accountId, amount_minor: amount } = input
  if (!(await findAccount(tx, accountId))) throw notFound('account_id')
  refuseOwnAccount(operator, accountId)
  await lockBalance(tx, accountId)
  await lockOperator(tx, operator)
  const { at } = tx
  const adjustment: AdjustmentRecord = {
    id: newId(),
    status: 'pending',
    accountId,
    amountMinor: input.direction === 'credit' ? amount : -amount,
    currency: deps.config.CURRENCY,
    reason: input.reason,
    requestedBy: nameOfOperator(operator),
    decidedBy: null,
    transferId: null,
    createdAt: at,
    decidedAt: null,
  }
  await tx.orm.insert(adjustments).values(adjustment)
  await auditStep(tx, operator, { action: 'admin.adjustment_request', adjustment })
  const alone = amount + (await postedAloneSince(tx, nameOfOperator(operator), daysAfter(at, -1)))
  return alone > deps.config.ADJUSTMENT_CONFIRM_MINOR ? adjustment : post(tx, deps, operator, adjustment)
}

const lockPending = async (tx: Tx, id: Uuid, decision: 'posted' | 'rejected'): Promise<AdjustmentRecord> => {
  const unlocked = await findAdjustment(tx, id)
  if (!unlocked) throw notFound()
  await lockBalance(tx, unlocked.accountId)
  const adjustment = await lockAdjustment(tx, id)
  if (adjustment.status !== 'pending' && adjustment.status !== decision) {
    throw conflict(`The adjustment is ${adjustment.status}.`, 'status', { status: adjustment.status })
  }
  return adjustment
}

/** Posts a waiting adjustment. The administrator who asked for it does not confirm it; confirming again gives the same answer. */
export const confirmAdjustment = async (
  tx: Tx,
  deps: Pick<Deps, 'appendEvents' | 'config'>,
  operator: Operator,
  id: Uuid,
): Promise<AdjustmentRecord> => {
  const adjustment = await lockPending(tx, id, 'posted')
  if (adjustment.status === 'posted') return adjustment
  refuseOwnAccount(operator, adjustment.accountId)
  if (adjustment.requestedBy === nameOfOperator(operator)) {
    throw new Refusal('separation_of_duties', { message: 'An adjustment of this size needs a second administrator.' })
  }
  return post(tx, deps, operator, adjustment)
}

/** Rejects a waiting adjustment; the administrator who asked for it may do so too. */
export const rejectAdjustment = async (
  tx: Tx,

  operator: Operator,
  id: Uuid,
  reason?: string,
): Promise<AdjustmentRecord> => {
  const adjustment = await lockPending(tx, id, 'rejected')
  if (adjustment.status === 'rejected') return adjustment
  const { at } = tx
  const change = { status: 'rejected' as const, decidedBy: nameOfOperator(operator), decidedAt: at }
  await tx.orm.update(adjustments).set(change).where(eq(adjustments.id, id))
  const rejected = { ...adjustment, ...change }
  await auditStep(tx, operator, { action: 'admin.adjustment_reject', adjustment: rejected, reason })
  return rejected
}
