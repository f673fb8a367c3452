import { statement, type Tx } from '../../../db/client.ts'
import { getBalances } from '../../../ledger/ledger.ts'
import { referenceKey } from '../../../lib/account-reference.ts'
import type { Clock } from '../../../lib/clock.ts'
import { catchRefusal, notFound, Refusal } from '../../../lib/errors.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { mapInChunks } from '../../../lib/lists.ts'
import type { Minor } from '../../../lib/money.ts'
import { effectiveTimeZone, periodsAt } from '../../../policy/calendar.ts'
import { applicablePolicies } from '../../../policy/findings.ts'
import type { EarlierPayment, PayeePast, Periods } from '../../../policy/types.ts'
import { loadMandate, type PaymentMandate } from '../../mandates/for-payments.ts'
import { paidBy, readPast } from '../evaluation/context.ts'
import { type LockedState, readState, type StateQuery } from '../evaluation/state.ts'
import type { PaymentRequest } from '../request.ts'
import {
  type Accepted,
  consider,
  type DecisionRequest,
  type Deployment,
  decidePayment,
  type Payer,
  paidTo,
  type Refused,
  type SpendingState,
  use,
} from './decide.ts'

const unique = <T>(items: readonly T[]): T[] => [...new Set(items)]

export type Ask = Omit<DecisionRequest, 'mandate' | 'past'> & Pick<PaymentRequest, 'standing'>

const periodsOf = (requests: readonly Ask[], now: Date): Periods[] =>
  unique(requests.map(({ principal }) => effectiveTimeZone(principal.workspace, now))).map((zone) => periodsAt(now, zone))

type Mandates = ReadonlyMap<Uuid, PaymentMandate>

const loadMandates = async (tx: Tx, requests: readonly Ask[]): Promise<Mandates> => {
  const named = new Map(requests.flatMap(({ input, principal }) => (input.mandate_id ? [[input.mandate_id, principal]] : [])))
  const loaded = [...named].map(async ([id, { workspace }]) => [id, await loadMandate(tx, workspace.id, id)] as const)
  return new Map((await Promise.all(loaded)).flatMap(([id, mandate]) => (mandate ? [[id, mandate]] : [])))
}

const placeOf = (workspaceId: Uuid, paymentId: Uuid): string => `${workspaceId} ${paymentId}`

const repeatedPayments = statement('payments.repeated')`
  select id, workspace_id from payments where id = any($1::uuid[]) and workspace_id = any($2::uuid[])`

const readRepeated = async (tx: Tx, requests: readonly Ask[]): Promise<ReadonlySet<string>> => {
  const naming = requests.filter(({ input }) => input.duplicate_of)
  if (naming.length === 0) return new Set()
  const rows = await tx.query<{ id: Uuid; workspace_id: Uuid }>(repeatedPayments, [
    unique(naming.map(({ input }) => input.duplicate_of ?? null)),
    unique(naming.map(({ principal }) => principal.workspace.id)),
  ])
  return new Set(rows.map(({ id, workspace_id }) => placeOf(workspace_id, id)))
}

/** Key of payments that look the same, even two of one batch. */
const lookOf = (state: LockedState, { input }: Ask): string => {
  const beneficiary = state.beneficiaries.get(input.beneficiary_id)
  const reference = beneficiary?.accountReference ?? input.account_reference ?? null
  const payeeId = beneficiary && paidBy(beneficiary, reference).payeeId
  return [payeeId, input.amount_minor, reference === null ? null : referenceKey(reference)].join(' ')
}

/** The state that decides payments: read behind the locks, and changed by each accepted payment. */
export type Spending = {
  state: SpendingState
  past: readonly PayeePast[]
  mandates: Mandates
  /** The earlier payments that requests say they repeat, with their workspaces. */
  repeated: ReadonlySet<string>
  /** Accepted payments by their look. */
  accepted: Map<string, EarlierPayment>
}

/** Reads everything that these payments depend on, in one round trip together with the locks. */
export const readSpending = async (tx: Tx, clock: Clock, requests: readonly Ask[]): Promise<Spending> => {
  // Not `tx.at`: its first read fixes the transaction's instant and must follow the locks, which are not granted yet.
  const now = clock.now()
  const inputs = requests.map(({ input }) => input)
  const query: StateQuery = {
    payments: requests.map(paidTo),
    grantIds: requests.flatMap(({ principal }) => principal.grant?.lineage ?? []),
    periods: periodsOf(requests, now),
    at: now,
  }
  const [first, balances, past, mandates, repeated] = await Promise.all([
    readState(tx, query),
    getBalances(tx, unique(requests.map(({ principal }) => principal.workspace.balanceAccountId))),
    readPast(tx, inputs, now),
    loadMandates(tx, requests),
    readRepeated(tx, requests),
  ])
  // The wait for the lock may have lasted past midnight.
  const periods = periodsOf(requests, tx.at)
  const isKnown = periods.every(({ day, month }) => first.periodStarts.has(day) && first.periodStarts.has(month))
  const state = { ...(isKnown ? first : await readState(tx, { ...query, periods, at: tx.at })), balances }
  return { state, past, mandates, repeated, accepted: new Map() }
}

/**
 * Totals of a batch's items under each rule with an approval threshold, by the rule's id. Items that anything but a rule refuses
 * are left out.
 */
export const listTotalsOf = async (
  { state }: Spending,
  deployment: Deployment,
  { asks, principal, at }: { asks: readonly Ask[]; principal: Payer; at: Date },
): Promise<Record<string, Minor>> => {
  const totals: Record<string, Minor> = {}
  const rules = [...state.grants.values(), ...[...state.policies.values()].flat()]
  if (rules.every(({ approvalThresholdMinor }) => approvalThresholdMinor === null)) return totals
  const past = { earlier: null, typicalAmountMinor: null }
  await mapInChunks(asks, ({ input, ofBatch }) => {
    const considered = catchRefusal(() => consider(state, { principal, input, mandate: null, past, ofBatch }, at, deployment))
    if (considered instanceof Refusal) return
    const { evaluation } = considered
    for (const { id, approvalThresholdMinor } of [...applicablePolicies(evaluation), ...evaluation.grants])
      if (approvalThresholdMinor !== null) totals[id] = (totals[id] ?? 0n) + input.amount_minor
  })
  return totals
}

/**
 * Decides the payment at `index` for the principal as it is now, and counts it if accepted. `isDue`: a scheduled payment, which
 * was compared with earlier ones when it was scheduled; the caller counts it (`use`) if nothing else is missing.
 */
export const decideNext = (
  { state, past, mandates, repeated, accepted }: Spending,
  deployment: Deployment,
  { ask, principal, index, at, isDue = false }: { ask: Ask; principal: Payer; index: number; at: Date; isDue?: boolean },
): Accepted | Refused => {
  const { input, ofBatch } = ask
  const mandate = input.mandate_id ? mandates.get(input.mandate_id) : null
  if (mandate === undefined) return { refusal: notFound('mandate_id') }
  // Several requests may name the mandate, each with its chain's answer at that time.
  if (mandate) mandate.rules.standing = ask.standing
  const { duplicate_of: repeats } = input
  if (repeats && !repeated.has(placeOf(principal.workspace.id, repeats))) return { refusal: notFound('duplicate_of') }
  const look = lookOf(state, ask)
  const { earlier = null, typicalAmountMinor = null } = past[index] ?? {}
  const before = { earlier: isDue ? null : (accepted.get(look) ?? earlier), typicalAmountMinor }
  const decided = catchRefusal(() => decidePayment(state, { ...ask, principal, mandate, past: before }, at, deployment))
  if (decided instanceof Refusal) return { refusal: decided }
  if ('payment' in decided) {
    const { id: paymentId, createdAt } = decided.payment
    accepted.set(look, { paymentId, createdAt, isUnknown: false, ...(ofBatch && { listIndex: ofBatch.index }) })
    if (!isDue && !input.execute_at) use(state, decided)
  }
  return decided
}
