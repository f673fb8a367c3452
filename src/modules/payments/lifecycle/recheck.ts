import { eq } from 'drizzle-orm'
import type { Tx } from '../../../db/client.ts'
import { approvalDecisions } from '../../../db/tables/approvals.ts'
import { type Failure, failure } from '../../../lib/failure-codes.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { Minor } from '../../../lib/money.ts'
import { periodsAt } from '../../../policy/calendar.ts'
import { evaluate, stillCovered } from '../../../policy/evaluate.ts'
import { explain } from '../../../policy/explain.ts'
import { effectiveTimeZone } from '../../../policy/time-zone.ts'
import type { Periods, Usage } from '../../../policy/types.ts'
import type { Deps } from '../../deps.ts'
import { findWorkspace } from '../../workspaces/queries.ts'
import { loadContext, type PaymentContext } from '../create/context.ts'
import { moveCharges } from '../create/counters.ts'
import { evaluationOf } from '../create/evaluation.ts'
import { loadMandate } from '../create/mandate.ts'
import type { PaymentRecord } from '../queries.ts'

const changed = (message: string): Failure => failure('policy_changed', null, message)

/** A frozen workspace lets its payments under way finish; a stopped beneficiary, grant or account does not. */
const stopped = ({ owner, grants, beneficiary }: PaymentContext): Failure | undefined => {
  if (owner.status !== 'active' || !owner.paymentsEnabled) return changed('The account may not pay any more.')
  if (grants.some((grant) => grant.revoked || grant.frozen))
    return changed('The grant that initiated the payment was revoked or frozen.')
  if (beneficiary.archived || beneficiary.frozen) return changed('The beneficiary was archived or frozen.')
  return undefined
}

const least = (minor: Minor): Minor => (minor < 0n ? 0n : minor)

const monthOf = (day: string): string => `${day.slice(0, 7)}-01`

/** The payment stands in the counters of its day already: it must not be held against itself. A counter may be younger than it. */
const withoutOwn = ({ amountMinor, countedDay }: PaymentRecord, usage: Usage, periods: Periods): Usage => ({
  dayMinor: countedDay === periods.day ? least(usage.dayMinor - amountMinor) : usage.dayMinor,
  monthMinor: monthOf(countedDay) === periods.month ? least(usage.monthMinor - amountMinor) : usage.monthMinor,
})

const lineageOf = async (tx: Tx, grantId: Uuid | null): Promise<Uuid[]> => {
  if (!grantId) return []
  const [row] = await tx.query<{ lineage: Uuid[] }>('select ancestor_ids || id as lineage from grants where id = $1', [grantId])
  return row?.lineage ?? []
}

const approversOf = async (tx: Tx, payment: PaymentRecord): Promise<Uuid[]> => {
  if (!payment.approvalId) return []
  const rows = await tx.orm.select().from(approvalDecisions).where(eq(approvalDecisions.approvalId, payment.approvalId))
  return rows.filter((row) => row.decision === 'approve').map((row) => row.accountId)
}

/** Decides a payment anew as of these periods, itself left out. What the approvals given do not cover is a failure. */
const decideAgain = async (tx: Tx, deps: Deps, payment: PaymentRecord, periods: Periods): Promise<Failure | undefined> => {
  const lineage = await lineageOf(tx, payment.grantId)
  const { workspaceId, beneficiaryId, initiatorAccountId, amountMinor, paymentType, createdAt } = payment
  const context = await loadContext(tx, { workspaceId, lineage, beneficiaryId, periods })
  if (!context) throw new Error('a payment has no beneficiary')
  const stop = stopped(context)
  if (stop) return stop
  const approvers = await approversOf(tx, payment)
  const own: PaymentContext = {
    ...context,
    grants: context.grants.map((grant) => ({ ...grant, usage: withoutOwn(payment, grant.usage, periods) })),
    policies: context.policies.map((policy) => ({ ...policy, usage: withoutOwn(payment, policy.usage, periods) })),
    // Whoever has approved already counts as able to.
    approverAccountIds: [...new Set([...context.approverAccountIds, ...approvers])],
  }
  const mandate = payment.mandateId ? await loadMandate(tx, workspaceId, payment.mandateId, payment) : null
  // A mandate's window is held against the moment the payment was made, and so was what looked like it.
  const request = { workspaceId, initiatorAccountId, lineage, amountMinor, paymentType, at: createdAt }
  const guard = { earlier: null, duplicateWindowSeconds: 0 }
  const decision = evaluate(evaluationOf(own, { ...request, ...guard }, periods, mandate?.rules ?? null))
  if (stillCovered(decision, { approverAccountIds: approvers, initiatorAccountId })) return undefined
  return changed(`Not covered by the approvals given any more: ${explain(decision, deps.config.CURRENCY)}`)
}

const currentPeriods = async (tx: Tx, { workspaceId }: PaymentRecord, at: Date): Promise<Periods> => {
  const workspace = await findWorkspace(tx, workspaceId)
  if (!workspace) throw new Error('a payment has no workspace')
  const { timeZone, nextTimeZone, nextTimeZoneFrom: nextFrom } = workspace
  return periodsAt(at, effectiveTimeZone({ timeZone, nextTimeZone, nextFrom }, at))
}

/**
 * Everything is looked at again before money leaves: beneficiary, freezes, policies, those that are new included. The limits are those
 * of the day in which the payment counts, whenever it is sent. The owning ledger account and the payment are locked.
 */
export const recheckPayment = async (tx: Tx, deps: Deps, payment: PaymentRecord): Promise<Failure | undefined> => {
  const now = await currentPeriods(tx, payment, tx.at)
  return decideAgain(tx, deps, payment, { ...now, day: payment.countedDay, month: monthOf(payment.countedDay) })
}

/**
 * A payment counts in the day in which it is let go: one that is approved later than it was made is decided anew for the day of its
 * last approval, and counts there. Answers a failure when it no longer fits. The owning ledger account and the payment are locked.
 */
export const countOnApproval = async (tx: Tx, deps: Deps, payment: PaymentRecord): Promise<PaymentRecord | Failure> => {
  const now = await currentPeriods(tx, payment, tx.at)
  if (now.day === payment.countedDay) return payment
  return (await decideAgain(tx, deps, payment, now)) ?? moveCharges(tx, payment, now.day)
}
