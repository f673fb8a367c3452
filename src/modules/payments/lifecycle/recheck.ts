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

/** The payment stands in the counters already: it must not be held against itself. */
const withoutOwn = (payment: PaymentRecord, subjectId: Uuid, usage: Usage, periods: Periods): Usage => {
  const own = (period: 'day' | 'month'): Minor =>
    payment.charges.some((charge) => charge.id === subjectId && charge.period === period && charge.start === periods[period])
      ? payment.amountMinor
      : 0n
  return { dayMinor: usage.dayMinor - own('day'), monthMinor: usage.monthMinor - own('month') }
}

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

/**
 * Everything is looked at again before money leaves: beneficiary, freezes, policies, those that are new included. What the approvals
 * given do not cover is a failure. The owning ledger account and the payment are locked.
 */
export const recheckPayment = async (tx: Tx, deps: Deps, payment: PaymentRecord): Promise<Failure | undefined> => {
  const at = deps.clock.now()
  const workspace = await findWorkspace(tx, payment.workspaceId)
  if (!workspace) throw new Error('a payment has no workspace')
  const zone = effectiveTimeZone(
    { timeZone: workspace.timeZone, nextTimeZone: workspace.nextTimeZone, nextFrom: workspace.nextTimeZoneFrom },
    at,
  )
  const periods = periodsAt(at, zone)
  const lineage = await lineageOf(tx, payment.grantId)
  const context = await loadContext(
    tx,
    { workspaceId: payment.workspaceId, lineage, beneficiaryId: payment.beneficiaryId, periods },
    true,
  )
  if (!context) throw new Error('a payment has no beneficiary')
  const stop = stopped(context)
  if (stop) return stop
  const approvers = await approversOf(tx, payment)
  const own: PaymentContext = {
    ...context,
    grants: context.grants.map((grant) => ({ ...grant, usage: withoutOwn(payment, grant.id, grant.usage, periods) })),
    policies: context.policies.map((policy) => ({ ...policy, usage: withoutOwn(payment, policy.id, policy.usage, periods) })),
    // Whoever has approved already counts as able to.
    approverAccountIds: [...new Set([...context.approverAccountIds, ...approvers])],
  }
  const mandate = payment.mandateId ? await loadMandate(tx, payment.workspaceId, payment.mandateId, payment) : null
  const { workspaceId, initiatorAccountId, amountMinor, paymentType, createdAt } = payment
  // A mandate's window is held against the moment the payment was made.
  const request = { workspaceId, initiatorAccountId, lineage, amountMinor, paymentType, at: createdAt }
  const decision = evaluate(evaluationOf(own, request, periods, mandate?.rules ?? null))
  if (stillCovered(decision, { approverAccountIds: approvers, initiatorAccountId })) return undefined
  return changed(`Not covered by the approvals given any more: ${explain(decision, deps.config.CURRENCY)}`)
}
