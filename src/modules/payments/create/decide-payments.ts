import type { Principal } from '../../../auth/principal.ts'
import { type AccountLocks, lockBatch } from '../../../db/account-lock.ts'
import type { Tx } from '../../../db/client.ts'
import { keepAnswers, type Once, readAnswers, type Sent, usedOtherwise } from '../../../http/idempotency.ts'
import { getBalances } from '../../../ledger/ledger.ts'
import { notFound, Refusal } from '../../../lib/errors.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { periodsAt } from '../../../policy/calendar.ts'
import { effectiveTimeZone } from '../../../policy/time-zone.ts'
import type { EarlierPayment, Periods } from '../../../policy/types.ts'
import { contended, type Outcome } from '../../../queue/account-queue.ts'
import { loadMandate, type PaymentMandate } from '../../mandates/for-payments.ts'
import { findEarlier } from '../evaluation/earlier.ts'
import { type LockedState, readState, type StateQuery } from '../evaluation/state.ts'
import { presentPayment } from '../present.ts'
import type { PaymentRequest } from '../request.ts'
import { type Accepted, type Denied, decidePayment, type SpendingState } from './decide.ts'
import { type BatchDeps, type Written, writePayments } from './write.ts'

const unique = <T>(items: readonly T[]): T[] => [...new Set(items)]

const periodsOf = (requests: readonly PaymentRequest[], now: Date): Periods[] =>
  unique(requests.map(({ principal }) => effectiveTimeZone(principal.workspace.zone, now))).map((zone) => periodsAt(now, zone))

const locksOf = (requests: readonly PaymentRequest[]): AccountLocks => ({
  exclusive: requests.map(({ principal }) => principal.workspace.owningAccountId),
  shared: requests.map(({ principal }) => principal.accountId),
})

type PaymentOutcome = Outcome<Sent>
type Mandates = ReadonlyMap<Uuid, PaymentMandate>

const loadMandates = async (tx: Tx, requests: readonly PaymentRequest[]): Promise<Mandates> => {
  const named = new Map(requests.flatMap(({ input, principal }) => (input.mandate_id ? [[input.mandate_id, principal]] : [])))
  const loaded = [...named].map(async ([id, { workspace }]) => [id, await loadMandate(tx, workspace.id, id)] as const)
  return new Map((await Promise.all(loaded)).flatMap(([id, mandate]) => (mandate ? [[id, mandate]] : [])))
}

const refusalOf = (error: unknown): Refusal => {
  if (error instanceof Refusal) return error
  throw error
}

const callerOf = (tx: Tx, { reauthenticate }: PaymentRequest): Promise<Principal | Refusal> => reauthenticate(tx).catch(refusalOf)

/** Two payments of one batch may look the same too. */
const createMemory = (state: LockedState) => {
  const accepted = new Map<string, EarlierPayment>()
  const keyOf = ({ input }: PaymentRequest): string =>
    [state.beneficiaries.get(input.beneficiary_id)?.payeeId, input.amount_minor, input.account_reference ?? null].join(' ')
  return {
    find: (request: PaymentRequest) => accepted.get(keyOf(request)),
    note: (request: PaymentRequest, { payment }: Accepted) =>
      void accepted.set(keyOf(request), { paymentId: payment.id, createdAt: payment.createdAt }),
  }
}

/**
 * Decides requests for payments one after the other, in ONE transaction of two round trips: the first takes the locks and reads everything
 * behind them, the second writes everything and commits. Each request sees what the earlier ones used, and each has its own answer: a
 * refusal affects no other payment, and writes nothing but its audit row.
 *
 * Lock order, sorted by id: the owning accounts exclusively, and the callers' own accounts at least shared. Everything that can stop a
 * payment is changed under one of these locks. `wait`: whether to wait for them. The clock is read once, after the locks.
 */
export const decidePayments = async (
  tx: Tx,
  deps: BatchDeps,
  requests: readonly PaymentRequest[],
  wait: boolean,
): Promise<PaymentOutcome[]> => {
  const query: StateQuery = {
    workspaceIds: unique(requests.map(({ principal }) => principal.workspace.id)),
    grantIds: unique(requests.flatMap(({ principal }) => principal.grant?.lineage ?? [])),
    beneficiaryIds: unique(requests.map(({ input }) => input.beneficiary_id)),
    periods: periodsOf(requests, deps.clock.now()),
  }
  const lookalikes = requests.map(({ input }) => ({
    beneficiaryId: input.beneficiary_id,
    amountMinor: input.amount_minor,
    accountReference: input.account_reference ?? null,
  }))
  const [held, answers, first, balances, earlier, mandates, callers] = await Promise.all([
    lockBatch(tx, locksOf(requests), wait),
    readAnswers(
      tx,
      requests.flatMap(({ once }) => once ?? []),
    ),
    readState(tx, query),
    getBalances(tx, unique(requests.map(({ principal }) => principal.workspace.owningAccountId))),
    findEarlier(tx, lookalikes, deps.clock.now()),
    loadMandates(tx, requests),
    Promise.all(requests.map((request) => callerOf(tx, request))),
  ])
  const { at } = tx
  // The wait for the lock may have lasted past midnight.
  const periods = periodsOf(requests, at)
  const isKnown = periods.every(({ day, month }) => first.periodStarts.has(day) && first.periodStarts.has(month))
  const state: SpendingState = { ...(isKnown ? first : await readState(tx, { ...query, periods })), balances }

  const settings = {
    rails: deps.rails,
    currency: deps.config.CURRENCY,
    duplicateWindowSeconds: deps.config.DUPLICATE_WINDOW_SECONDS,
  }
  const memory = createMemory(state)
  const accepted: Written[] = []
  const denied: Denied[] = []
  const answered = new Map<string, { once: Once; paymentId: Uuid; text: string }>()

  const answerBefore = ({ once }: PaymentRequest): Sent | undefined => {
    if (!once) return undefined
    const own = answered.get(once.scope.toString('hex'))
    if (!own) return answers.find(once)
    if (!own.once.bodyHash.equals(once.bodyHash)) throw usedOtherwise()
    return { status: 201, text: own.text, replayed: true }
  }

  const decide = (request: PaymentRequest, principal: Principal, similar: EarlierPayment | null): PaymentOutcome => {
    const before = answerBefore(request)
    if (before) return before
    const { input, once, traceparent = null } = request
    const mandate = input.mandate_id ? mandates.get(input.mandate_id) : null
    if (mandate === undefined) throw notFound('mandate_id')
    const decided = decidePayment(
      state,
      { principal, input, mandate, earlier: memory.find(request) ?? similar, idempotencyKey: once?.key ?? null, traceparent },
      at,
      settings,
    )
    if (decided.kind === 'denied') {
      denied.push(decided)
      return decided.refusal
    }
    const text = request.serialize(presentPayment(decided.payment))
    accepted.push({ ...decided, text })
    memory.note(request, decided)
    if (once) answered.set(once.scope.toString('hex'), { once, paymentId: decided.payment.id, text })
    return { status: 201, text, replayed: false }
  }

  const results = requests.map((request, index): PaymentOutcome => {
    const { principal } = request
    if (held.has(principal.workspace.owningAccountId) || held.has(principal.accountId)) return contended
    const caller = callers[index]
    if (!caller || caller instanceof Refusal) return caller ?? new Refusal('unavailable')
    try {
      return decide(request, caller, earlier[index] ?? null)
    } catch (error) {
      return refusalOf(error)
    }
  })
  await writePayments(tx, deps, { accepted, denied, state })
  tx.defer(
    keepAnswers(
      tx,
      [...answered.values()].map(({ once, paymentId }) => ({ once, status: 201, paymentId })),
    ),
  )
  return results
}
