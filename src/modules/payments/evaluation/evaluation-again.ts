import { statement, type Tx } from '../../../db/client.ts'
import { countedPaymentsSql } from '../../../db/transitions.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { assertPresent } from '../../../lib/lists.ts'
import type { Minor } from '../../../lib/money.ts'
import { effectiveTimeZone, periodsAt } from '../../../policy/calendar.ts'
import { countsInTotal } from '../../../policy/evaluate.ts'
import { policyApplies } from '../../../policy/scope-sql.ts'
import type { Evaluation, Periods, PolicyRules, Usage } from '../../../policy/types.ts'
import type { PaymentMandate } from '../../mandates/for-payments.ts'
import type { PaymentRecord } from '../queries.ts'
import { contextOf, evaluationOf, type PaymentContext } from './context.ts'
import type { LockedState } from './state.ts'

// Builds the inputs to decide a stored payment again. State and counters already include the payment, which must not count
// against itself.

const atLeastZero = (minor: Minor): Minor => (minor < 0n ? 0n : minor)

export const monthOf = (day: string): string => `${day.slice(0, 7)}-01`

/** The creation time, or the due time of a scheduled payment. */
export const madeAt = ({ executeAt, createdAt }: Pick<PaymentRecord, 'executeAt' | 'createdAt'>): Date => executeAt ?? createdAt

/** A scheduled payment counts against no limit and no mandate until it is due. */
export const isCounted = ({ status }: Pick<PaymentRecord, 'status'>): boolean => status !== 'scheduled'

/**
 * Whether a policy's counters may include the payment. They follow the stored payee: an account at a paybill may have become a
 * payee of its own since, and a policy that names only the account does not count the payment yet.
 */
export const countsPayee = (
  { beneficiaryIds }: Pick<PolicyRules, 'beneficiaryIds'>,
  { payeeId }: PaymentRecord,
  { beneficiary }: PaymentContext,
): boolean =>
  payeeId === beneficiary.payeeId ||
  beneficiaryIds.length === 0 ||
  beneficiary.paybillBeneficiaryIds.some((id) => beneficiaryIds.includes(id))

/** Usage without the payment itself, if the counters include it. A counter that started after the payment does not. */
const withoutOwn = <Rules extends { usage: Usage; totalCountedSince: Date | null }>(
  payment: PaymentRecord,
  { usage, ...rules }: Rules,
  periods: Periods,
): Usage => {
  const { amountMinor, countedDay } = payment
  const without = (used: Minor, counts: boolean): Minor => (counts && isCounted(payment) ? atLeastZero(used - amountMinor) : used)
  return {
    totalMinor: without(usage.totalMinor, countsInTotal(rules, madeAt(payment))),
    dayMinor: without(usage.dayMinor, countedDay === periods.day),
    monthMinor: without(usage.monthMinor, monthOf(countedDay) === periods.month),
  }
}

/** `lineage`: the grants behind a payment, root first. `required`: the number of approvals requested. */
export type RequestedApprovals = { lineage: readonly Uuid[]; required: number }

/** If the day's rows already count this payment under its requested approvals, adds a negative row, so that it counts once. */
const withoutOwnUnapproved = (
  payment: PaymentRecord,
  { unapproved }: PaymentContext,
  { lineage: grantLineage, required }: RequestedApprovals,
  { day }: Periods,
) => {
  const { amountMinor, approvalId, mandateId, countedDay, paymentType, rail } = payment
  const approvals = approvalId === null && mandateId !== null ? 1 : required
  return isCounted(payment) && countedDay === day
    ? [...unapproved, { paymentType, rail, grantLineage, approvals, amountMinor: -amountMinor }]
    : unapproved
}

/**
 * Totals of batches by rule, as `batchTotalsByRule` computes them for a request. Reads stored items, because some may already be
 * sent. Items that ended unpaid do not count. A grant's threshold applies to all payments of the grant.
 */
const readListTotals = statement('payments.list_totals')`
  select p.batch_id as "batchId", s.id, sum(p.amount_minor)::bigint as minor
   from payments p join (
     select id, workspace_id, payment_types, beneficiary_ids, binds_grant_id from spending_policies where id = any($2::uuid[])
     union all
     select id, workspace_id, '{}'::text[], '{}'::uuid[], id from grants where id = any($2::uuid[])) as s
     on s.workspace_id = p.workspace_id and ${policyApplies('s', 'p')}
   where p.batch_id = any($1::uuid[]) and p.status in ${countedPaymentsSql} group by 1, 2`

/** By batch and rule. */
export type ListTotals = ReadonlyMap<Uuid, NonNullable<Evaluation['listTotals']>>

export const listTotalsOf = async (
  tx: Tx,
  payments: readonly PaymentRecord[],
  { grants, policies }: LockedState,
): Promise<ListTotals> => {
  const batchIds = [...new Set(payments.flatMap(({ batchId }) => batchId ?? []))]
  const rules = [...grants.values(), ...[...policies.values()].flat()]
  const ids = rules.flatMap(({ id, approvalThresholdMinor }) => (approvalThresholdMinor === null ? [] : id))
  if (batchIds.length === 0 || ids.length === 0) return new Map()
  const rows = await tx.query<{ batchId: Uuid; id: Uuid; minor: Minor }>(readListTotals, [batchIds, ids])
  const byBatch = Map.groupBy(rows, ({ batchId }) => batchId)
  return new Map([...byBatch].map(([id, own]) => [id, Object.fromEntries(own.map(({ id, minor }) => [id, minor]))]))
}

/** Duplicates are looked for only when a payment is requested. */
const withoutDuplicateCheck = { earlier: null, duplicateIsIntended: true, onDuplicate: null, duplicateWindowSeconds: 0 }

/** Inputs to decide the payment again at `at`, without its own charges. `day`: the day in which the payment will count. */
export const evaluationAgain = (
  payment: PaymentRecord,
  { day, at, totals }: { day: string; at: Date; totals?: ListTotals },
  state: LockedState,
  approvals: RequestedApprovals,
  mandate: PaymentMandate | null | undefined,
): { context: PaymentContext; evaluation: Evaluation } => {
  const { initiatorAccountId, amountMinor, paymentType, createdAt } = payment
  const workspace = assertPresent(state.workspaces.get(payment.workspaceId), 'a payment has no workspace')
  const periods = { ...periodsAt(at, effectiveTimeZone(workspace, at)), day, month: monthOf(day) }
  const context = assertPresent(
    contextOf(state, payment, { lineage: approvals.lineage, periods }),
    'a payment has no beneficiary',
  )
  const contextWithoutPayment: PaymentContext = {
    ...context,
    unapproved: withoutOwnUnapproved(payment, context, approvals, periods),
    grants: context.grants.map((grant) => ({ ...grant, usage: withoutOwn(payment, grant, periods) })),
    policies: context.policies.map((policy) =>
      countsPayee(policy, payment, context) ? { ...policy, usage: withoutOwn(payment, policy, periods) } : policy,
    ),
  }
  if (mandate === undefined) throw new Error('a payment names a mandate that is not there')
  const listTotals = payment.batchId === null ? undefined : totals?.get(payment.batchId)
  const requested = {
    initiatorAccountId,
    amountMinor,
    paymentType,
    // A mandate's window is checked at the payment's creation time.
    at: createdAt,
    typicalAmountMinor: null,
    ...withoutDuplicateCheck,
    ...(listTotals && { listTotals }),
  }
  return { context, evaluation: evaluationOf(contextWithoutPayment, requested, mandate?.rules ?? null) }
}
