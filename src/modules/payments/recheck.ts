import type { Db, Tx } from '../../db/client.ts'
import type { ErrorCode } from '../../errors/catalogue.ts'
import { type Failure, failure } from '../../errors/failures.ts'
import { Refusal } from '../../lib/errors.ts'
import type { Uuid } from '../../lib/ids.ts'
import { mapInChunks } from '../../lib/lists.ts'
import { effectiveTimeZone, periodsAt, type ZoneSchedule } from '../../policy/calendar.ts'
import { chargesFor, evaluate, stillCovered } from '../../policy/evaluate.ts'
import { explain } from '../../policy/explain.ts'
import type { Charge, Decision } from '../../policy/types.ts'
import { loadMandate, readMandate } from '../mandates/for-payments.ts'
import {
  type Authority,
  type ChainAnswers,
  holdsApprovals,
  type RequesterStop,
  readAuthority,
  withoutUnconfirmed,
} from './evaluation/authority.ts'
import type { PaymentContext } from './evaluation/context.ts'
import { type ChargedPayment, moveCharges } from './evaluation/counters.ts'
import {
  countsPayee,
  evaluationAgain,
  isCounted,
  type ListTotals,
  listTotalsOf,
  madeAt,
  monthOf,
  type RequestedApprovals,
} from './evaluation/evaluation-again.ts'
import { addUsage, type LockedState, readState } from './evaluation/state.ts'
import type { PaymentRecord } from './queries.ts'

export const policyChanged = (message: string): Failure => failure('policy_changed', null, message)

/**
 * Why a payment may not be sent now. `stopped`: a freeze or suspension that can be lifted. `unrequested`: the requester may no
 * longer request it. `unapproved`: a required approval is missing. `unconfirmed`: the chain of an approving contract wallet did
 * not answer. `changed`: another permanent reason.
 */
export type Obstacle =
  | { kind: 'stopped'; refusal: Refusal; failure: Failure }
  | { kind: 'unrequested' | 'unapproved' | 'unconfirmed' | 'changed'; failure: Failure }

const obstacle = (kind: Exclude<Obstacle['kind'], 'stopped'>, message: string) => ({ kind, failure: policyChanged(message) })

export const unrequested = obstacle('unrequested', 'The requester may no longer request this payment.')

export const unapproved = obstacle('unapproved', 'An approval that was given no longer counts.')

const stopped = (code: ErrorCode, message: string, capability?: string): Obstacle => ({
  kind: 'stopped',
  refusal: new Refusal(code, { message, ...(capability && { details: { capability } }) }),
  failure: policyChanged(message),
})

export const requesterStops: Readonly<Record<RequesterStop, Obstacle>> = {
  account: stopped('account_frozen', 'The account that asked for the payment is frozen.'),
  payments: stopped('capability_disabled', 'The account that asked for the payment may no longer pay.', 'payments'),
  api_keys: stopped('capability_disabled', 'The API keys of the account that asked for the payment are disabled.', 'api_keys'),
  oauth: stopped('capability_disabled', 'The agents of the account that asked for the payment are disabled.', 'oauth'),
  grant: stopped('grant_frozen', 'The grant that initiated the payment is frozen.'),
}

/** A freeze of the workspace does not stop a payment under way; a stop of its beneficiary, grant or account does. */
const stopOf = ({ holder, grants, beneficiary }: PaymentContext, { stop }: Authority): Obstacle | undefined => {
  if (grants.some(({ ended }) => ended)) return obstacle('changed', 'The grant that initiated the payment has ended.')
  if (beneficiary.archived) return obstacle('changed', 'The beneficiary was archived.')
  if (holder.status !== 'active') return stopped('workspace_frozen', 'The account that pays is frozen.')
  if (!holder.paymentsEnabled) return stopped('capability_disabled', 'The account may no longer pay.', 'payments')
  if (stop) return requesterStops[stop]
  if (beneficiary.frozen) return stopped('beneficiary_frozen', 'The beneficiary is frozen.')
  return undefined
}

export const covers = (decision: Decision, payment: PaymentRecord, { approvers, signers }: Authority): boolean =>
  stillCovered(decision, {
    approverAccountIds: approvers,
    signedAccountIds: signers,
    initiatorAccountId: payment.initiatorAccountId,
  })

const unconfirmed = obstacle(
  'unconfirmed',
  'The chain of the wallet that approved it did not say whether the approval still counts.',
)

const periodsOf = (day: string) => ({ day, month: monthOf(day) })

type RecheckInputs = {
  authorityOf: (paymentId: Uuid) => Authority
  totals: ListTotals
  /** From the chains, before the transaction; null if no chain has to confirm yet. */
  answers: ChainAnswers | null
  /** Set when an approval is given: the day in which all payments will count. Else each stays counted as it is. */
  recount?: { day: string; moved: ChargedPayment[] }
}

/**
 * Collects the payment if it counts in other counters from now on: those of another day, or of the payee that its account at a
 * paybill has become. The next payment is decided with the limits that this one leaves.
 */
const recountOn = (
  payment: PaymentRecord,
  state: LockedState,
  { context, evaluation }: ReturnType<typeof evaluationAgain>,
  { day, moved }: NonNullable<RecheckInputs['recount']>,
): void => {
  const { countedDay, amountMinor } = payment
  const { payeeId } = context.beneficiary
  if (countedDay === day && payment.payeeId === payeeId) return
  const charges = chargesFor(evaluation, madeAt(payment))
  const newPolicies = context.policies.flatMap((policy) => (countsPayee(policy, payment, context) ? [] : policy.id))
  const counted = { day: countedDay, month: monthOf(countedDay), total: null }
  const isNew = ({ subjectId, period, periodStart }: Charge) => newPolicies.includes(subjectId) || periodStart !== counted[period]
  addUsage(state, charges.filter(isNew), amountMinor)
  // Charges go to the account that holds the workspace's balance now.
  moved.push({ payment: { ...payment, accountId: context.workspace.balanceAccountId, countedDay: day, payeeId }, charges })
}

/** Rechecks everything that allows a payment. The rules decide it again without its own charges. Undefined: it still passes. */
const obstacleOf = async (
  tx: Tx,
  payment: PaymentRecord,
  state: LockedState,
  { authorityOf, totals, answers, recount }: RecheckInputs,
): Promise<Obstacle | undefined> => {
  const day = recount?.day ?? payment.countedDay
  const authority = authorityOf(payment.id)
  if (!authority.mayRequest) return unrequested
  if (!holdsApprovals(authority)) return unapproved
  const { workspaceId, mandateId, amountMinor } = payment
  const mandateUse = { requester: authority.origin, counted: amountMinor }
  const mandate = mandateId ? await loadMandate(tx, workspaceId, mandateId, mandateUse) : null
  const again = evaluationAgain(payment, { day, at: tx.at, totals }, state, authority, mandate)
  const stop = stopOf(again.context, authority)
  if (stop) return stop
  const decision = evaluate(again.evaluation)
  if (!covers(decision, payment, authority))
    return obstacle('changed', `The approvals given no longer cover it: ${explain(decision, payment.currency)}`)
  const confirmed = answers === null ? authority : withoutUnconfirmed(authority, answers)
  if (!holdsApprovals(confirmed) || !covers(decision, payment, confirmed)) return unconfirmed
  if (recount) recountOn(payment, state, again, recount)
  return undefined
}

/** Checks payments in order, because each counts what the earlier ones add to a new day. */
const obstaclesOf = async (
  tx: Tx,
  payments: readonly PaymentRecord[],
  state: LockedState,
  inputs: Omit<RecheckInputs, 'totals'>,
) => {
  const totals = await listTotalsOf(tx, payments, state)
  return mapInChunks(payments, (payment) => obstacleOf(tx, payment, state, { ...inputs, totals }))
}

/** The recheck before money leaves. The caller has locked the owning accounts and the payments. Results are in the same order. */
export const recheckPayments = async (
  tx: Tx,
  payments: readonly PaymentRecord[],
  answers: ChainAnswers,
): Promise<(Obstacle | undefined)[]> => {
  const authorityOf = await readAuthority(tx, payments, tx.at)
  const grantIds = payments.flatMap(({ id }) => authorityOf(id).lineage)
  const periods = payments.map(({ countedDay }) => periodsOf(countedDay))
  const state = await readState(tx, { payments, grantIds, periods, at: tx.at })
  return obstaclesOf(tx, payments, state, { authorityOf, answers })
}

/**
 * The same recheck when an approval is given: the payments count in its day from then on. Chains are queried later, before the
 * money leaves. The caller has locked the owning account and the payments. `lineage`: of the grant that requested all of them.
 */
export const countOnApproval = async (
  tx: Tx,
  payments: readonly PaymentRecord[],
  { lineage, zone }: { lineage: readonly Uuid[]; zone: ZoneSchedule },
): Promise<(Obstacle | undefined)[]> => {
  const { day } = periodsAt(tx.at, effectiveTimeZone(zone, tx.at))
  const [state, authorityOf] = await Promise.all([
    readState(tx, { payments, grantIds: lineage, periods: [periodsOf(day)], at: tx.at }),
    readAuthority(tx, payments, tx.at),
  ])
  const moved: ChargedPayment[] = []
  const obstacles = await obstaclesOf(tx, payments, state, { authorityOf, answers: null, recount: { day, moved } })
  await moveCharges(tx, moved)
  return obstacles
}

/**
 * For readers: the decision on a waiting payment at `at`, and the error that its approval would return. Changes nothing. Omits
 * stops for a scheduled payment until it is due, and stops of a batch item's beneficiary, which do not stop the batch.
 */
export const decideAt = async (
  db: Db,
  { payment, lineage, required, zone }: RequestedApprovals & { payment: PaymentRecord; zone: ZoneSchedule },
  at: Date,
): Promise<{ decision: Decision; refusal: Refusal | undefined }> => {
  const { day } = periodsAt(at, effectiveTimeZone(zone, at))
  const { workspaceId, mandateId, amountMinor } = payment
  const [state, authorityOf] = await Promise.all([
    readState(db, { payments: [payment], grantIds: lineage, periods: [periodsOf(day)], at }),
    readAuthority(db, [payment], at),
  ])
  const authority = authorityOf(payment.id)
  const mandateUse = { requester: authority.origin, counted: isCounted(payment) ? amountMinor : null }
  const mandate = mandateId ? await readMandate(db, workspaceId, mandateId, mandateUse) : null
  const { context, evaluation } = evaluationAgain(payment, { day, at }, state, { lineage, required }, mandate)
  const { beneficiary } = context
  const payee = payment.batchId === null ? beneficiary : { ...beneficiary, archived: false, frozen: false }
  const stop = payment.status === 'scheduled' ? undefined : stopOf({ ...context, beneficiary: payee }, authority)
  return { decision: evaluate(evaluation), refusal: stop?.kind === 'stopped' ? stop.refusal : undefined }
}
