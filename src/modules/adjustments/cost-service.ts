import { and, eq, sql } from 'drizzle-orm'
import { first, type Tx } from '../../db/client.ts'
import { prepare } from '../../db/prepare.ts'
import { prepareUpdate, prepareWrite } from '../../db/prepare-write.ts'
import { adjustments } from '../../db/tables/adjustments.ts'
import { members, workspaces } from '../../db/tables/workspaces.ts'
import type { Actor } from '../../events/audit.ts'
import { daysAfter } from '../../lib/clock.ts'
import { Refusal } from '../../lib/errors.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import type { Minor } from '../../lib/money.ts'
import { nameOfOperator, type Operator } from '../operators.ts'
import type { Deps } from './deps.ts'
import { type AdjustmentRecord, postedAloneSince } from './queries.ts'
import { auditAdjustment, insertAdjustment } from './write.ts'

const memberships = prepare('adjustments.operator_belongs', { operatorId: 'uuid', owningAccountId: 'uuid' }, (orm, at) =>
  orm
    .select({ id: members.id })
    .from(members)
    .innerJoin(workspaces, eq(workspaces.id, members.workspaceId))
    .where(and(eq(members.accountId, at.operatorId), eq(workspaces.owningAccountId, at.owningAccountId)))
    .limit(1),
)

/** Administrators decide nothing at the organisation's cost for themselves, or for an account whose workspace they belong to. */
export const refuseOwnGain = async (tx: Tx, operator: Operator, accountId: Uuid): Promise<void> => {
  if (operator.accountId === null) return
  const belongs = async (operatorId: Uuid) =>
    (await first(tx, memberships, { operatorId, owningAccountId: accountId })) !== undefined
  if (operator.accountId !== accountId && !(await belongs(operator.accountId))) return
  throw new Refusal('separation_of_duties', {
    message:
      'An administrator decides nothing that costs the organisation for their own account, or for a workspace that they belong to.',
  })
}

/** The amounts that one administrator decides alone are added up: of several requests at once, each counts the one before it. */
const lockOperator = (tx: Tx, operator: Operator): Promise<unknown> =>
  tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`adjustments:${nameOfOperator(operator)}`])

/** Whether this amount, with what this administrator decided alone within a day, stays within what one may decide alone. */
export const mayDecideAlone = async (tx: Tx, { config }: Pick<Deps, 'config'>, operator: Operator, amountMinor: Minor) => {
  await lockOperator(tx, operator)
  const before = await postedAloneSince(tx, nameOfOperator(operator), daysAfter(tx.at, -1))
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
export const agreeToCost = async (
  tx: Tx,
  deps: Pick<Deps, 'config'>,
  operator: Operator,
  cost: Cost,
): Promise<AdjustmentRecord> => {
  await refuseOwnGain(tx, operator, cost.payment.accountId)
  const by = nameOfOperator(operator)
  const waiting = await lockWaiting(tx, cost)
  if (waiting?.requestedBy === by) return waiting
  const adjustment =
    waiting ??
    (await insertAdjustment(tx, deps, operator, {
      id: newId(),
      kind: cost.kind,
      accountId: cost.payment.accountId,
      paymentId: cost.payment.id,
      amountMinor: cost.amountMinor,
      reason: cost.evidence,
    }))
  if (!waiting && !(await mayDecideAlone(tx, deps, operator, cost.amountMinor))) return adjustment
  const change = { status: 'posted' as const, decidedBy: by, decidedAt: tx.at }
  postRow(tx, adjustment.id, change)
  const posted = { ...adjustment, ...change }
  await auditAdjustment(tx, operator, { action: 'admin.adjustment_post', adjustment: posted })
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
    if (actor) await auditAdjustment(tx, actor, { action: 'admin.adjustment_cancel', adjustment })
  }
}
