import { statement, type Tx } from '../../../db/client.ts'
import { type Failure, failure } from '../../../lib/failure-codes.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { Minor } from '../../../lib/money.ts'
import { periodsAt } from '../../../policy/calendar.ts'
import { evaluate, stillCovered } from '../../../policy/evaluate.ts'
import { explain } from '../../../policy/explain.ts'
import { effectiveTimeZone } from '../../../policy/time-zone.ts'
import type { Periods, Usage } from '../../../policy/types.ts'
import { loadMandate } from '../../mandates/for-payments.ts'
import { findWorkspace } from '../../workspaces/queries.ts'
import type { Deps } from '../deps.ts'
import { type GivenAuthority, readGivenAuthority } from '../evaluation/authority.ts'
import { contextOf, type PaymentContext } from '../evaluation/context.ts'
import { moveCharges } from '../evaluation/counters.ts'
import { evaluationOf } from '../evaluation/evaluation.ts'
import { type LockedState, readState } from '../evaluation/state.ts'
import type { PaymentRecord } from '../queries.ts'

const changed = (message: string): Failure => failure('policy_changed', null, message)

/** A payment under way continues in a frozen workspace, but not with a stopped beneficiary, grant or account. */
const stopped = ({ owner, grants, beneficiary }: PaymentContext): Failure | undefined => {
  if (owner.status !== 'active' || !owner.paymentsEnabled) return changed('The account may not pay any more.')
  if (grants.some((grant) => grant.revoked || grant.frozen))
    return changed('The grant that initiated the payment was revoked or frozen.')
  if (beneficiary.archived || beneficiary.frozen) return changed('The beneficiary was archived or frozen.')
  return undefined
}

const least = (minor: Minor): Minor => (minor < 0n ? 0n : minor)

const monthOf = (day: string): string => `${day.slice(0, 7)}-01`

/** The counters of its day already include the payment, so it is subtracted here. A counter may be younger than the payment. */
const withoutOwn = ({ amountMinor, countedDay }: PaymentRecord, usage: Usage, periods: Periods): Usage => ({
  dayMinor: countedDay === periods.day ? least(usage.dayMinor - amountMinor) : usage.dayMinor,
  monthMinor: monthOf(countedDay) === periods.month ? least(usage.monthMinor - amountMinor) : usage.monthMinor,
})

const unique = (ids: readonly (Uuid | null)[]): Uuid[] => [...new Set(ids.filter((id) => id !== null))]

const readLineages = statement(
  'recheck.lineages',
  'select id, ancestor_ids || id as lineage from grants where id = any($1::uuid[])',
)
const unasked: GivenAuthority = { required: 0, approvers: [] }

/** The lineage of each payment's grant, and the approvals of the payment that hold now. */
const readOrigins = async (tx: Tx, payments: readonly PaymentRecord[]) => {
  const grantIds = unique(payments.map(({ grantId }) => grantId))
  const approvalIds = unique(payments.map(({ approvalId }) => approvalId))
  const [lineages, given] = await Promise.all([
    grantIds.length === 0 ? [] : tx.query<{ id: Uuid; lineage: Uuid[] }>(readLineages, [grantIds]),
    readGivenAuthority(tx, approvalIds),
  ])
  const lineageOf = new Map(lineages.map(({ id, lineage }) => [id, lineage]))
  return {
    lineage: ({ grantId }: PaymentRecord): Uuid[] => (grantId && lineageOf.get(grantId)) || [],
    given: ({ approvalId }: PaymentRecord): GivenAuthority => (approvalId && given.get(approvalId)) || unasked,
  }
}

/** A payment, and the day whose limits apply to it. */
type Again = { payment: PaymentRecord; day: string }

const decideOne = async (
  tx: Tx,
  deps: Pick<Deps, 'config'>,
  { payment, day }: Again,
  { state, lineage, given }: { state: LockedState; lineage: Uuid[]; given: GivenAuthority },
): Promise<Failure | undefined> => {
  const { workspaceId, beneficiaryId, initiatorAccountId, amountMinor, paymentType, createdAt, accountReference } = payment
  const zone = state.workspaces.get(workspaceId)?.zone
  if (!zone) throw new Error('a payment has no workspace')
  const periods = { ...periodsAt(tx.at, effectiveTimeZone(zone, tx.at)), day, month: monthOf(day) }
  const context = contextOf(state, { workspaceId, lineage, beneficiaryId, accountReference, periods })
  if (!context) throw new Error('a payment has no beneficiary')
  const stop = stopped(context)
  if (stop) return stop
  const own: PaymentContext = {
    ...context,
    grants: context.grants.map((grant) => ({ ...grant, usage: withoutOwn(payment, grant.usage, periods) })),
    policies: context.policies.map((policy) => ({ ...policy, usage: withoutOwn(payment, policy.usage, periods) })),
  }
  const mandate = payment.mandateId ? await loadMandate(tx, workspaceId, payment.mandateId, amountMinor) : null
  if (mandate === undefined) throw new Error('a payment names a mandate that is not there')
  // A mandate's window and the duplicate check use the moment when the payment was created.
  const request = { workspaceId, initiatorAccountId, lineage, amountMinor, paymentType, at: createdAt }
  const guard = { earlier: null, duplicateWindowSeconds: 0 }
  const decision = evaluate(evaluationOf(own, { ...request, ...guard }, periods, mandate?.rules ?? null))
  // As many as were asked for, whatever is asked for now: an approval that was taken away is missed.
  if (given.approvers.length < given.required) return changed('An approval that was given does not count any more.')
  if (stillCovered(decision, { approverAccountIds: given.approvers, initiatorAccountId })) return undefined
  return changed(`Not covered by the approvals given any more: ${explain(decision, deps.config.CURRENCY)}`)
}

/**
 * Decides payments again, without their own charges. A payment that needs more approvals than it has is a failure. Results are in the same
 * order.
 */
const decideAgain = async (tx: Tx, deps: Pick<Deps, 'config'>, again: readonly Again[]): Promise<(Failure | undefined)[]> => {
  const payments = again.map(({ payment }) => payment)
  const origins = await readOrigins(tx, payments)
  const state = await readState(tx, {
    workspaceIds: unique(payments.map(({ workspaceId }) => workspaceId)),
    grantIds: unique(payments.flatMap(origins.lineage)),
    beneficiaryIds: unique(payments.map(({ beneficiaryId }) => beneficiaryId)),
    accountReferences: payments.map(({ accountReference }) => accountReference),
    periods: again.map(({ day }) => ({ day, month: monthOf(day) })),
  })
  const decide = (each: Again) =>
    decideOne(tx, deps, each, { state, lineage: origins.lineage(each.payment), given: origins.given(each.payment) })
  return Promise.all(again.map(decide))
}

const currentPeriods = async (tx: Tx, { workspaceId }: PaymentRecord, at: Date): Promise<Periods> => {
  const workspace = await findWorkspace(tx, workspaceId)
  if (!workspace) throw new Error('a payment has no workspace')
  const { timeZone, nextTimeZone, nextTimeZoneFrom: nextFrom } = workspace
  return periodsAt(at, effectiveTimeZone({ timeZone, nextTimeZone, nextFrom }, at))
}

/**
 * Checks everything again before money leaves: beneficiary, freezes, policies, new policies included. The limits are those of the day in
 * which a payment counts, whenever it is sent. The caller has locked the owning accounts and the payments. A few statements for a whole
 * batch; results are in the same order.
 */
export const recheckPayments = (
  tx: Tx,
  deps: Pick<Deps, 'config'>,
  payments: readonly PaymentRecord[],
): Promise<(Failure | undefined)[]> =>
  decideAgain(
    tx,
    deps,
    payments.map((payment) => ({ payment, day: payment.countedDay })),
  )

/**
 * A payment counts in the day in which it is released: one that is approved on a later day is decided again for the day of its last
 * approval, and counts there. Returns a failure when that day's limits refuse it. The caller has locked the owning ledger account and the
 * payment.
 */
export const countOnApproval = async (
  tx: Tx,
  deps: Pick<Deps, 'config'>,
  payment: PaymentRecord,
): Promise<Failure | undefined> => {
  const now = await currentPeriods(tx, payment, tx.at)
  if (now.day === payment.countedDay) return undefined
  const [failed] = await decideAgain(tx, deps, [{ payment, day: now.day }])
  if (!failed) await moveCharges(tx, payment.id, now.day)
  return failed
}
