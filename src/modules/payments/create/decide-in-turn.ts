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
import { resolvePaybillAccount } from '../evaluation/context.ts'
import { readPast, unknownPast } from '../evaluation/past.ts'
import { type LockedState, readState, type StateQuery } from '../evaluation/state.ts'
import {
  type Accepted,
  checkedEvaluation,
  countAccepted,
  type DecisionRequest,
  type Deployment,
  decidePayment,
  type Payer,
  paidTo,
  type Refused,
  type SpendingState,
} from './decide.ts'

const unique = <T>(items: readonly T[]): T[] => [...new Set(items)]

const periodsOf = (requests: readonly DecisionRequest[], now: Date): Periods[] =>
  unique(requests.map(({ principal }) => effectiveTimeZone(principal.workspace, now))).map((zone) => periodsAt(now, zone))

/** A group has requests of several workspaces: an id that one of them names is looked up in its workspace only. */
const keyInWorkspace = (workspaceId: Uuid, id: Uuid): string => `${workspaceId} ${id}`

type Mandates = ReadonlyMap<string, PaymentMandate | undefined>

/** Loads each mandate once, because its payments share its counters. `mandateSignature` depends on the requester. */
const loadMandates = async (tx: Tx, requests: readonly DecisionRequest[]): Promise<Mandates> => {
  const named = requests.flatMap(({ input: { mandate_id: id }, principal: { workspace } }) =>
    id ? [{ workspaceId: workspace.id, id }] : [],
  )
  const distinct = new Map(named.map((one) => [keyInWorkspace(one.workspaceId, one.id), one]))
  const loaded = [...distinct].map(
    async ([key, { workspaceId, id }]) =>
      [key, await loadMandate(tx, workspaceId, id, { requester: null, counted: null })] as const,
  )
  return new Map(await Promise.all(loaded))
}

const selectDuplicateTargets = statement('payments.repeated')`
  select id, workspace_id from payments where id = any($1::uuid[]) and workspace_id = any($2::uuid[])`

const readDuplicateTargets = async (tx: Tx, requests: readonly DecisionRequest[]): Promise<ReadonlySet<string>> => {
  const naming = requests.filter(({ input }) => input.duplicate_of)
  if (naming.length === 0) return new Set()
  const rows = await tx.query<{ id: Uuid; workspace_id: Uuid }>(selectDuplicateTargets, [
    unique(naming.map(({ input }) => input.duplicate_of ?? null)),
    unique(naming.map(({ principal }) => principal.workspace.id)),
  ])
  return new Set(rows.map(({ id, workspace_id }) => keyInWorkspace(workspace_id, id)))
}

/** Two payments with the same key are possible duplicates, even two items of one batch. */
const duplicateKeyOf = (state: LockedState, { input }: DecisionRequest): string => {
  const beneficiary = state.beneficiaries.get(input.beneficiary_id)
  const reference = beneficiary?.accountReference ?? input.account_reference ?? null
  const payeeId = beneficiary && resolvePaybillAccount(beneficiary, reference).payeeId
  return [payeeId, input.amount_minor, reference === null ? null : referenceKey(reference)].join(' ')
}

/** The state for deciding requests in order, read after the locks. Each accepted payment changes it. */
export type DecisionState = {
  state: SpendingState
  past: readonly PayeePast[]
  mandates: Mandates
  /** Existing payments that `duplicate_of` names, by `keyInWorkspace`. */
  duplicateTargets: ReadonlySet<string>
  /** Accepted payments by their `duplicateKeyOf`. */
  accepted: Map<string, EarlierPayment>
}

/** Reads the state that these payments depend on, in the same round trip as the locks. */
export const readDecisionState = async (tx: Tx, clock: Clock, requests: readonly DecisionRequest[]): Promise<DecisionState> => {
  // Not `tx.at`: its first read fixes the transaction's time, and must happen after the locks are granted.
  const now = clock.now()
  const inputs = requests.map(({ input }) => input)
  const query: StateQuery = {
    payments: requests.map(paidTo),
    grantIds: requests.flatMap(({ principal }) => principal.grant?.lineage ?? []),
    periods: periodsOf(requests, now),
    at: now,
  }
  const [first, balances, past, mandates, duplicateTargets] = await Promise.all([
    readState(tx, query),
    getBalances(tx, unique(requests.map(({ principal }) => principal.workspace.balanceAccountId))),
    readPast(tx, inputs, now),
    loadMandates(tx, requests),
    readDuplicateTargets(tx, requests),
  ])
  // The wait for the lock may have lasted past midnight.
  const periods = periodsOf(requests, tx.at)
  const isKnown = periods.every(({ day, month }) => first.periodStarts.has(day) && first.periodStarts.has(month))
  const state = { ...(isKnown ? first : await readState(tx, { ...query, periods, at: tx.at })), balances }
  return { state, past, mandates, duplicateTargets, accepted: new Map() }
}

/**
 * Totals of a batch's items under each policy and grant with an approval threshold, by id. Items that are refused for other
 * reasons than a rule are left out.
 */
export const batchTotalsByRule = async (
  { state }: DecisionState,
  deployment: Deployment,
  { requests, principal, at }: { requests: readonly DecisionRequest[]; principal: Payer; at: Date },
): Promise<Record<string, Minor>> => {
  const totals: Record<string, Minor> = {}
  const rules = [...state.grants.values(), ...[...state.policies.values()].flat()]
  if (rules.every(({ approvalThresholdMinor }) => approvalThresholdMinor === null)) return totals
  await mapInChunks(requests, (request) => {
    const prepared = catchRefusal(() =>
      checkedEvaluation(state, { ...request, principal, mandate: null, past: unknownPast }, at, deployment),
    )
    if (prepared instanceof Refusal) return
    const { evaluation } = prepared
    for (const { id, approvalThresholdMinor } of [...applicablePolicies(evaluation), ...evaluation.grants])
      if (approvalThresholdMinor !== null) totals[id] = (totals[id] ?? 0n) + request.input.amount_minor
  })
  return totals
}

type TurnRequest = { request: DecisionRequest; principal: Payer; index: number; at: Date; isDue?: boolean }

/**
 * Decides the request at `index` for the current principal, after the earlier requests, and counts it if accepted. `isDue`: a
 * scheduled payment that is now due. Its duplicate check ran when it was scheduled, and the caller counts it (`countAccepted`)
 * once it can proceed.
 */
export const decideInTurn = (
  { state, past, mandates, duplicateTargets, accepted }: DecisionState,
  deployment: Deployment,
  { request, principal, index, at, isDue = false }: TurnRequest,
): Accepted | Refused => {
  const { input, batchItem } = request
  const mandate = input.mandate_id ? mandates.get(keyInWorkspace(principal.workspace.id, input.mandate_id)) : null
  if (mandate === undefined) return { refusal: notFound('mandate_id') }
  const { duplicate_of: duplicateOf } = input
  if (duplicateOf && !duplicateTargets.has(keyInWorkspace(principal.workspace.id, duplicateOf)))
    return { refusal: notFound('duplicate_of') }
  const duplicateKey = duplicateKeyOf(state, request)
  const ownPast = past[index] ?? unknownPast
  const earlier = accepted.get(duplicateKey) ?? ownPast.earlier
  const payeePast = { ...ownPast, earlier: isDue ? null : earlier }
  const decided = catchRefusal(() => decidePayment(state, { ...request, principal, mandate, past: payeePast }, at, deployment))
  if (decided instanceof Refusal) return { refusal: decided }
  if ('payment' in decided) {
    const { id: paymentId, createdAt } = decided.payment
    const isUnknown = earlier?.isUnknown ?? false
    accepted.set(duplicateKey, { paymentId, createdAt, isUnknown, ...(batchItem && { listIndex: batchItem.index }) })
    if (!isDue && !input.execute_at) countAccepted(state, decided)
  }
  return decided
}
