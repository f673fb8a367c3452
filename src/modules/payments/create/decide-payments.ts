import type { Principal } from '../../../auth/principal.ts'
import type { Tx } from '../../../db/client.ts'
import { getBalances } from '../../../ledger/ledger.ts'
import { referenceKey } from '../../../lib/account-reference.ts'
import { notFound, Refusal } from '../../../lib/errors.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { periodsAt } from '../../../policy/calendar.ts'
import { effectiveTimeZone } from '../../../policy/time-zone.ts'
import type { EarlierPayment, Periods } from '../../../policy/types.ts'
import type { Outcome } from '../../../queue/account-queue.ts'
import { keyUserOf, type RecordAnswer, recordKeys } from '../../../queue/record-keys.ts'
import { writeAll } from '../../../queue/write-path.ts'
import { loadMandate, type PaymentMandate } from '../../mandates/for-payments.ts'
import { paidBy } from '../evaluation/context.ts'
import { findEarlier } from '../evaluation/earlier.ts'
import { type LockedState, readState, type StateQuery } from '../evaluation/state.ts'
import { presentPayment } from '../present.ts'
import type { CreatedPayment, PaymentRequest } from '../request.ts'
import { type Accepted, type Denied, decidePayment, type SpendingState } from './decide.ts'
import { type BatchDeps, type Written, writePayments } from './write.ts'

const paymentKeys = recordKeys('payments', { path: '/v1/payments', kind: 'payment', permission: 'payment.read' })

const unique = <T>(items: readonly T[]): T[] => [...new Set(items)]

const periodsOf = (requests: readonly PaymentRequest[], now: Date): Periods[] =>
  unique(requests.map(({ principal }) => effectiveTimeZone(principal.workspace.zone, now))).map((zone) => periodsAt(now, zone))

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

/** Two payments of one batch may look the same too. */
const createMemory = (state: LockedState) => {
  const accepted = new Map<string, EarlierPayment>()
  const keyOf = ({ input }: PaymentRequest): string => {
    const beneficiary = state.beneficiaries.get(input.beneficiary_id)
    const reference = beneficiary?.accountReference ?? input.account_reference ?? null
    const payeeId = beneficiary && paidBy(beneficiary, reference).payeeId
    return [payeeId, input.amount_minor, reference === null ? null : referenceKey(reference)].join(' ')
  }
  return {
    find: (request: PaymentRequest) => accepted.get(keyOf(request)),
    note: (request: PaymentRequest, { payment }: Accepted) =>
      void accepted.set(keyOf(request), { paymentId: payment.id, createdAt: payment.createdAt }),
  }
}

type Batch = {
  state: SpendingState
  earlier: readonly (EarlierPayment | null)[]
  mandates: Mandates
  memory: ReturnType<typeof createMemory>
}

/**
 * Decides requests for payments one after the other on the write path, in ONE transaction of two round trips: the first takes the locks and
 * reads everything behind them, the second writes everything and commits. Each request sees what the earlier ones used, and each has its own
 * answer: a refusal affects no other payment, and writes nothing but its audit row.
 *
 * Locks: the owning accounts exclusively, and the callers' own accounts at least shared. `wait`: whether to wait for them. The clock is read
 * once, after the locks.
 */
export const decidePayments = (
  tx: Tx,
  deps: BatchDeps,
  requests: readonly PaymentRequest[],
  wait: boolean,
): Promise<Outcome<CreatedPayment>[]> => {
  const accepted: Written[] = []
  const denied: Denied[] = []
  const settings = {
    rails: deps.rails,
    currency: deps.config.CURRENCY,
    duplicateWindowSeconds: deps.config.DUPLICATE_WINDOW_SECONDS,
  }

  const read = async (tx: Tx): Promise<Batch> => {
    const now = deps.clock.now()
    const query: StateQuery = {
      workspaceIds: unique(requests.map(({ principal }) => principal.workspace.id)),
      grantIds: unique(requests.flatMap(({ principal }) => principal.grant?.lineage ?? [])),
      beneficiaryIds: unique(requests.map(({ input }) => input.beneficiary_id)),
      accountReferences: requests.map(({ input }) => input.account_reference ?? null),
      periods: periodsOf(requests, now),
    }
    const lookalikes = requests.map(({ input }) => ({
      beneficiaryId: input.beneficiary_id,
      amountMinor: input.amount_minor,
      accountReference: input.account_reference ?? null,
    }))
    const [first, balances, earlier, mandates] = await Promise.all([
      readState(tx, query),
      getBalances(tx, unique(requests.map(({ principal }) => principal.workspace.owningAccountId))),
      findEarlier(tx, lookalikes, now),
      loadMandates(tx, requests),
    ])
    // The wait for the lock may have lasted past midnight.
    const periods = periodsOf(requests, tx.at)
    const isKnown = periods.every(({ day, month }) => first.periodStarts.has(day) && first.periodStarts.has(month))
    const state = { ...(isKnown ? first : await readState(tx, { ...query, periods })), balances }
    return { state, earlier, mandates, memory: createMemory(state) }
  }

  const decide = ({ state, earlier, mandates, memory }: Batch, request: PaymentRequest, principal: Principal, index: number) => {
    const { input, once, traceparent } = request
    const mandate = input.mandate_id ? mandates.get(input.mandate_id) : null
    if (mandate === undefined) return notFound('mandate_id')
    const similar = memory.find(request) ?? earlier[index] ?? null
    const decided = decidePayment(state, { principal, input, mandate, earlier: similar, once, traceparent }, tx.at, settings)
    if (decided.kind === 'denied') {
      denied.push(decided)
      return decided.refusal
    }
    const text = JSON.stringify(presentPayment(decided.payment))
    accepted.push({ ...decided, text })
    memory.note(request, decided)
    return { id: decided.payment.id, text, by: keyUserOf(principal) }
  }

  return writeAll<PaymentRequest, Principal, Batch, RecordAnswer>(tx, requests, wait, {
    keys: paymentKeys,
    again: (answer) => answer,
    read,
    decide: (_tx, batch, request, principal, index) => {
      try {
        return decide(batch, request, principal, index)
      } catch (error) {
        return refusalOf(error)
      }
    },
    write: (tx, { state }) => writePayments(tx, deps, { accepted, denied, state }),
  })
}
