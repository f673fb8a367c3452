import { type Db, statement, type Tx } from '../../db/client.ts'
import { countedPaymentsSql } from '../../db/transitions.ts'
import type { ErrorCode } from '../../errors/catalogue.ts'
import { type Failure, failure } from '../../errors/failures.ts'
import { Refusal } from '../../lib/errors.ts'
import type { Uuid } from '../../lib/ids.ts'
import { assertPresent, mapInChunks } from '../../lib/lists.ts'
import type { Minor } from '../../lib/money.ts'
import { effectiveTimeZone, periodsAt, type ZoneSchedule } from '../../policy/calendar.ts'
import { chargesFor, countsInTotal, evaluate, stillCovered } from '../../policy/evaluate.ts'
import { explain } from '../../policy/explain.ts'
import { policyApplies } from '../../policy/scope-sql.ts'
import type { Decision, Evaluation, Periods, PolicyRules, Usage } from '../../policy/types.ts'
import { loadMandate, type PaymentMandate, readMandate } from '../mandates/for-payments.ts'
import {
  type Authority,
  type ChainAnswers,
  confirmedBy,
  holdsApprovals,
  type RequesterStop,
  readAuthority,
} from './evaluation/authority.ts'
import { contextOf, evaluationOf, type PaymentContext } from './evaluation/context.ts'
import { type Counted, moveCharges } from './evaluation/counters.ts'
import { addUsage, type LockedState, readState } from './evaluation/state.ts'
import type { PaymentRecord } from './queries.ts'

export const changed = (message: string): Failure => failure('policy_changed', null, message)

/**
 * Why a payment may not be sent now. `stopped`: a freeze or suspension that can be lifted. `unapproved`: a required approval is
 * missing. `unconfirmed`: the chain of an approving contract wallet did not answer. `changed`: a permanent reason.
 */
export type Obstacle =
  | { kind: 'stopped'; refusal: Refusal; failure: Failure }
  | { kind: 'unapproved' | 'unconfirmed'; failure: Failure }
  | { kind: 'changed'; failure: Failure }

const hasChanged = (message: string): Obstacle => ({ kind: 'changed', failure: changed(message) })

const isStopped = (code: ErrorCode, message: string, capability?: string): Obstacle => ({
  kind: 'stopped',
  refusal: new Refusal(code, { message, ...(capability && { details: { capability } }) }),
  failure: changed(message),
})

export const requesterStops: Readonly<Record<RequesterStop, Obstacle>> = {
  account: isStopped('account_frozen', 'The account that asked for the payment is frozen.'),
  payments: isStopped('capability_disabled', 'The account that asked for the payment may no longer pay.', 'payments'),
  api_keys: isStopped('capability_disabled', 'The API keys of the account that asked for the payment are disabled.', 'api_keys'),
  oauth: isStopped('capability_disabled', 'The agents of the account that asked for the payment are disabled.', 'oauth'),
  grant: isStopped('grant_frozen', 'The grant that initiated the payment is frozen.'),
}

/** A freeze of the workspace does not stop a payment under way; a stop of its beneficiary, grant or account does. */
const stopped = ({ holder, grants, beneficiary }: PaymentContext, { stop }: Authority): Obstacle | undefined => {
  if (grants.some((grant) => grant.revoked)) return hasChanged('The grant that initiated the payment was revoked.')
  if (beneficiary.archived) return hasChanged('The beneficiary was archived.')
  if (holder.status !== 'active') return isStopped('workspace_frozen', 'The account that pays is frozen.')
  if (!holder.paymentsEnabled) return isStopped('capability_disabled', 'The account may no longer pay.', 'payments')
  if (stop) return requesterStops[stop]
  if (beneficiary.frozen) return isStopped('beneficiary_frozen', 'The beneficiary is frozen.')
  return undefined
}

const least = (minor: Minor): Minor => (minor < 0n ? 0n : minor)

const monthOf = (day: string): string => `${day.slice(0, 7)}-01`

/** The creation time, or the due time of a scheduled payment. */
const madeAt = ({ executeAt, createdAt }: Pick<PaymentRecord, 'executeAt' | 'createdAt'>): Date => executeAt ?? createdAt

/** A scheduled payment counts against no limit and no mandate until it is due. */
const isCounted = ({ status }: Pick<PaymentRecord, 'status'>): boolean => status !== 'scheduled'

/**
 * Whether a policy's counters may include the payment. They follow the stored payee: an account at a paybill may have become a
 * payee of its own since, and a policy that names only the account does not count the payment yet.
 */
const countsPayee = (
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
  const without = (used: Minor, counts: boolean): Minor => (counts && isCounted(payment) ? least(used - amountMinor) : used)
  return {
    totalMinor: without(usage.totalMinor, countsInTotal(rules, madeAt(payment))),
    dayMinor: without(usage.dayMinor, countedDay === periods.day),
    monthMinor: without(usage.monthMinor, monthOf(countedDay) === periods.month),
  }
}

/** `lineage`: the grants behind a payment, root first. `required`: the number of approvals requested. */
type Asked = { lineage: readonly Uuid[]; required: number }

/** Adds a negative row that cancels out the payment itself, if the day's rows include it with its requested approvals. */
const withoutOwnUnapproved = (
  payment: PaymentRecord,
  { unapproved }: PaymentContext,
  { lineage: grantLineage, required }: Asked,
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

/** By batch. */
type ListTotals = ReadonlyMap<Uuid, NonNullable<Evaluation['listTotals']>>

const listTotalsOf = async (
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

/** Inputs to decide the payment again at `at`, without its own charges. `day`: the day in which the payment will count. */
const evaluationAgain = (
  payment: PaymentRecord,
  { day, at, totals }: { day: string; at: Date; totals?: ListTotals },
  state: LockedState,
  asked: Asked,
  mandate: PaymentMandate | null | undefined,
): { context: PaymentContext; evaluation: Evaluation } => {
  const { initiatorAccountId, amountMinor, paymentType, createdAt } = payment
  const workspace = assertPresent(state.workspaces.get(payment.workspaceId), 'a payment has no workspace')
  const periods = { ...periodsAt(at, effectiveTimeZone(workspace, at)), day, month: monthOf(day) }
  const context = assertPresent(contextOf(state, payment, { lineage: asked.lineage, periods }), 'a payment has no beneficiary')
  const own: PaymentContext = {
    ...context,
    unapproved: withoutOwnUnapproved(payment, context, asked, periods),
    grants: context.grants.map((grant) => ({ ...grant, usage: withoutOwn(payment, grant, periods) })),
    policies: context.policies.map((policy) =>
      countsPayee(policy, payment, context) ? { ...policy, usage: withoutOwn(payment, policy, periods) } : policy,
    ),
  }
  if (mandate === undefined) throw new Error('a payment names a mandate that is not there')
  const listTotals = payment.batchId === null ? undefined : totals?.get(payment.batchId)
  const once = { earlier: null, duplicateIsIntended: true, onDuplicate: null, duplicateWindowSeconds: 0 }
  const whole = { ...once, ...(listTotals && { listTotals }) }
  // A mandate's window is checked at the payment's creation time.
  const requested = { initiatorAccountId, amountMinor, paymentType, at: createdAt, typicalAmountMinor: null, ...whole }
  return { context, evaluation: evaluationOf(own, requested, mandate?.rules ?? null) }
}

export const covers = (decision: Decision, payment: PaymentRecord, { approvers, signers }: Authority): boolean =>
  stillCovered(decision, {
    approverAccountIds: approvers,
    signedAccountIds: signers,
    initiatorAccountId: payment.initiatorAccountId,
  })

const unconfirmed: Obstacle = {
  kind: 'unconfirmed',
  failure: changed('The chain of the wallet that approved it did not say whether the approval still counts.'),
}

const periodsOf = (day: string) => ({ day, month: monthOf(day) })

/** `day`: the day in which all payments will count; null: each payment stays counted as it is, so none is `moved`. */
type Resting = {
  day: string | null
  authorityOf: (paymentId: Uuid) => Authority
  totals: ListTotals
  answers: ChainAnswers | null
  moved: Counted[]
}

/**
 * Rechecks everything that allows a payment: requester, grants, approvals with their accounts and wallets, mandate, beneficiary,
 * capabilities, freezes and policies. Decides the payment again without its own charges; undefined if it still passes. `moved`:
 * collects payments whose day or payee changes. `answers`: from the chains before the transaction; null if no chain has to confirm yet.
 */
const obstacleOf = async (
  tx: Tx,
  payment: PaymentRecord,
  state: LockedState,
  { authorityOf, answers, moved, totals, ...resting }: Resting,
): Promise<Obstacle | undefined> => {
  const day = resting.day ?? payment.countedDay
  const authority = authorityOf(payment.id)
  if (!authority.requested) return hasChanged('The requester may no longer request this payment.')
  if (!holdsApprovals(authority)) return { kind: 'unapproved', failure: changed('An approval that was given no longer counts.') }
  const { workspaceId, mandateId, amountMinor } = payment
  const paying = { requester: authority.origin, counted: amountMinor }
  const mandate = mandateId ? await loadMandate(tx, workspaceId, mandateId, paying) : null
  const { context, evaluation } = evaluationAgain(payment, { day, at: tx.at, totals }, state, authority, mandate)
  const stop = stopped(context, authority)
  if (stop) return stop
  const decision = evaluate(evaluation)
  if (!covers(decision, payment, authority))
    return hasChanged(`The approvals given no longer cover it: ${explain(decision, payment.currency)}`)
  const confirmed = answers === null ? authority : confirmedBy(authority, answers)
  if (!holdsApprovals(confirmed) || !covers(decision, payment, confirmed)) return unconfirmed
  const { payeeId } = context.beneficiary
  if (resting.day !== null && (payment.countedDay !== day || payment.payeeId !== payeeId)) {
    const charges = chargesFor(evaluation, madeAt(payment))
    const newPolicies = context.policies.flatMap((policy) => (countsPayee(policy, payment, context) ? [] : policy.id))
    const counted = { day: payment.countedDay, month: monthOf(payment.countedDay), total: null }
    // The next payment is decided with the remaining limits, from which this payment is missing in its new counters only.
    addUsage(
      state,
      charges.filter(({ subjectId, period, periodStart }) => newPolicies.includes(subjectId) || periodStart !== counted[period]),
      amountMinor,
    )
    // Charges go to the account that holds the workspace's balance now.
    moved.push({ payment: { ...payment, accountId: context.workspace.balanceAccountId, countedDay: day, payeeId }, charges })
  }
  return undefined
}

/** Checks payments in order, because each counts what the earlier ones add to a new day. */
const obstaclesOf = async (tx: Tx, payments: readonly PaymentRecord[], state: LockedState, resting: Omit<Resting, 'totals'>) => {
  const totals = await listTotalsOf(tx, payments, state)
  return mapInChunks(payments, (payment) => obstacleOf(tx, payment, state, { ...resting, totals }))
}

/** The recheck before money leaves. The caller has locked the owning accounts and the payments. Results are in the same order. */
export const recheckPayments = async (
  tx: Tx,
  payments: readonly PaymentRecord[],
  answers: ChainAnswers,
): Promise<(Obstacle | undefined)[]> => {
  const authorityOf = await readAuthority(tx, payments)
  const grantIds = payments.flatMap(({ id }) => authorityOf(id).lineage)
  const periods = payments.map(({ countedDay }) => periodsOf(countedDay))
  const state = await readState(tx, { payments, grantIds, periods, at: tx.at })
  return obstaclesOf(tx, payments, state, { day: null, authorityOf, answers, moved: [] })
}

/**
 * The same recheck when an approval is given. The payments count in the day of the last approval from then on. The caller has
 * locked the owning account and the payments, which one grant requested. `lineage`: that grant and its ancestors. `zone`: the
 * time zone of the workspace. Chains are queried later, before the money leaves.
 */
export const countOnApproval = async (
  tx: Tx,
  payments: readonly PaymentRecord[],
  { lineage, zone }: { lineage: readonly Uuid[]; zone: ZoneSchedule },
): Promise<(Obstacle | undefined)[]> => {
  const { day } = periodsAt(tx.at, effectiveTimeZone(zone, tx.at))
  const [state, authorityOf] = await Promise.all([
    readState(tx, { payments, grantIds: lineage, periods: [periodsOf(day)], at: tx.at }),
    readAuthority(tx, payments),
  ])
  const moved: Counted[] = []
  const obstacles = await obstaclesOf(tx, payments, state, { day, authorityOf, answers: null, moved })
  await moveCharges(tx, moved)
  return obstacles
}

/** `zone`: the time zone of the payment's workspace. */
export type Reread = Asked & { payment: PaymentRecord; zone: ZoneSchedule }

/**
 * For readers: the decision on a waiting payment at `at`, and the error that its approval would return. Changes nothing. Omits
 * stops for a scheduled payment until it is due, and stops of a batch item's beneficiary, which do not stop the batch.
 */
export const decideAt = async (
  db: Db,
  { payment, lineage, required, zone }: Reread,
  at: Date,
): Promise<{ decision: Decision; refusal: Refusal | undefined }> => {
  const { day } = periodsAt(at, effectiveTimeZone(zone, at))
  const { workspaceId, mandateId, amountMinor } = payment
  const [state, authorityOf] = await Promise.all([
    readState(db, { payments: [payment], grantIds: lineage, periods: [periodsOf(day)], at }),
    readAuthority(db, [payment]),
  ])
  const authority = authorityOf(payment.id)
  const paying = { requester: authority.origin, counted: isCounted(payment) ? amountMinor : undefined }
  const mandate = mandateId ? await readMandate(db, workspaceId, mandateId, paying) : null
  const { context, evaluation } = evaluationAgain(payment, { day, at }, state, { lineage, required }, mandate)
  const { beneficiary } = context
  const payee = payment.batchId === null ? beneficiary : { ...beneficiary, archived: false, frozen: false }
  const stop = payment.status === 'scheduled' ? undefined : stopped({ ...context, beneficiary: payee }, authority)
  return { decision: evaluate(evaluation), refusal: stop?.kind === 'stopped' ? stop.refusal : undefined }
}
