import { and, eq, sql } from 'drizzle-orm'
import type { Config } from '../../config.ts'
import { first, type Tx } from '../../db/client.ts'
import { prepare } from '../../db/prepare.ts'
import { prepareInsert, prepareUpdate, prepareWrite } from '../../db/prepare-write.ts'
import { adjustments } from '../../db/tables/adjustments.ts'
import { type Actor, audit } from '../../events/audit.ts'
import type { AuditAction } from '../../events/audit-actions.ts'
import { daysAfter } from '../../lib/clock.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import type { Minor } from '../../lib/money.ts'
import { nameOfOperator, type Operator, refuseOwnAccount } from '../operators.ts'
import { presentAdjustment } from './present.ts'
import { type AdjustmentRecord, movedAloneSince } from './queries.ts'

const insertRow = prepareInsert('adjustments.insert', adjustments)

type AdjustmentStep = { action: AuditAction; adjustment: AdjustmentRecord; reason?: string | undefined }

export const auditAdjustment = (tx: Tx, actor: Actor, { action, adjustment, reason }: AdjustmentStep): void =>
  audit(tx, actor, action, {
    workspaceId: null,
    subject: adjustment.id,
    after: { ...presentAdjustment(adjustment), ...(reason !== undefined && { rejected_because: reason }) },
  })

type NewAdjustment = Pick<AdjustmentRecord, 'id' | 'kind' | 'accountId' | 'paymentId' | 'amountMinor' | 'reason'>

/** Records what an administrator asks for; nothing is decided. */
export const insertAdjustment = async (
  tx: Tx,
  config: Config,
  operator: Operator,
  asked: NewAdjustment,
): Promise<AdjustmentRecord> => {
  const adjustment: AdjustmentRecord = {
    ...asked,
    status: 'pending',
    currency: config.CURRENCY,
    requestedBy: nameOfOperator(operator),
    decidedBy: null,
    transferId: null,
    createdAt: tx.at,
    decidedAt: null,
  }
  insertRow(tx, adjustment)
  auditAdjustment(tx, operator, { action: 'admin.adjustment_request', adjustment })
  return adjustment
}

/** The amounts that one administrator decides alone are added up: of several requests at once, each counts the one before it. */
const lockOperator = (tx: Tx, operator: Operator): Promise<unknown> =>
  tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`adjustments:${nameOfOperator(operator)}`])

/** Whether this amount, with all value that this administrator moved alone within a day, stays within what one may move alone. */
export const mayDecideAlone = async (tx: Tx, config: Config, operator: Operator, amountMinor: Minor) => {
  await lockOperator(tx, operator)
  const before = await movedAloneSince(tx, nameOfOperator(operator), daysAfter(tx.at, -1))
  return before + amountMinor <= config.ADJUSTMENT_CONFIRM_MINOR
}

/** An outcome of a payment that the organisation pays for. */
export type Cost = {
  kind: Exclude<AdjustmentRecord['kind'], 'balance'>
  payment: { id: Uuid; accountId: Uuid }
  amountMinor: Minor
  evidence: string
}

const lockOfPayment = prepare('adjustments.lock_of_payment', { paymentId: 'uuid', kind: 'text' }, (orm, at) =>
  orm
    .select()
    .from(adjustments)
    .where(and(eq(adjustments.paymentId, at.paymentId), eq(adjustments.kind, at.kind), sql`${adjustments.status} = 'pending'`))
    .for('update'),
)
const postRow = prepareUpdate('adjustments.post_cost', adjustments, ['status', 'decidedBy', 'decidedAt'])
const cancelRows = prepareWrite('adjustments.cancel', { paymentIds: 'uuid[]', at: 'timestamptz' }, (orm, at) =>
  orm
    .update(adjustments)
    .set({ status: 'cancelled', decidedAt: at.at })
    .where(and(sql`${adjustments.paymentId} = any(${at.paymentIds})`, sql`${adjustments.status} = 'pending'`))
    .returning(),
)

const lockWaiting = (tx: Tx, { kind, payment }: Cost): Promise<AdjustmentRecord | undefined> =>
  first(tx, lockOfPayment, { paymentId: payment.id, kind })

/**
 * Whether the outcome may be applied: at once, or when a second administrator decides the same, if the amounts that the first one decided
 * alone within a day exceed the configured one. The caller has locked the account. The same request again changes nothing.
 */
export const agreeToCost = async (tx: Tx, config: Config, operator: Operator, cost: Cost): Promise<AdjustmentRecord> => {
  await refuseOwnAccount(tx, operator, cost.payment.accountId)
  const by = nameOfOperator(operator)
  const waiting = await lockWaiting(tx, cost)
  if (waiting?.requestedBy === by) return waiting
  const adjustment =
    waiting ??
    (await insertAdjustment(tx, config, operator, {
      id: newId(),
      kind: cost.kind,
      accountId: cost.payment.accountId,
      paymentId: cost.payment.id,
      amountMinor: cost.amountMinor,
      reason: cost.evidence,
    }))
  if (!waiting && !(await mayDecideAlone(tx, config, operator, cost.amountMinor))) return adjustment
  const change = { status: 'posted' as const, decidedBy: by, decidedAt: tx.at }
  postRow(tx, adjustment.id, change)
  const posted = { ...adjustment, ...change }
  auditAdjustment(tx, operator, { action: 'admin.adjustment_post', adjustment: posted })
  return posted
}

/** A payment, and who ends it or decides who pays for it. */
type Ended = { paymentId: Uuid; actor: Actor }

/** Ends what waits for a second administrator about payments that ended otherwise meanwhile. The caller has locked their accounts. */
export const cancelWaitingCosts = async (tx: Tx, ended: readonly Ended[]): Promise<void> => {
  const actors = new Map(ended.map(({ paymentId, actor }) => [paymentId, actor]))
  if (actors.size === 0) return
  const cancelled = await tx.run(cancelRows, { paymentIds: [...actors.keys()], at: tx.at })
  for (const adjustment of cancelled) {
    const actor = adjustment.paymentId === null ? undefined : actors.get(adjustment.paymentId)
    if (actor) auditAdjustment(tx, actor, { action: 'admin.adjustment_cancel', adjustment })
  }
}
