import type { Principal } from '../../../auth/principal.ts'
import type { Tx } from '../../../db/client.ts'
import { DriverValue, insertRows, updateRows } from '../../../db/prepare-write.ts'
import { payments } from '../../../db/tables/payments.ts'
import { appendEvents, type NewEvent } from '../../../events/append.ts'
import { audit } from '../../../events/audit.ts'
import { type Hold, holdAll } from '../../../ledger/ledger.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { byChunks, mapInChunks, yieldBeforeLongWork } from '../../../lib/lists.ts'
import type { Minor } from '../../../lib/money.ts'
import { pack } from '../../../lib/packed-text.ts'
import { balanceEvent } from '../../identity/accounts/service.ts'
import { presentDecision } from '../../policies/present.ts'
import { requestApproval } from '../approvals/request.ts'
import { wakeForPayments } from '../change.ts'
import { chargeCounters } from '../evaluation/counters.ts'
import { presentPayment } from '../present.ts'
import type { DecisionParts } from '../request.ts'
import type { Accepted, Refused, SpendingState } from './decide.ts'

/** `text`: the payment's JSON in the API's form. `packed`: its compressed copy, shared with events and the idempotency key. */
export type Written = Accepted & { principal: Principal; text: string; packed: Buffer }

export const serialize = (accepted: Accepted, principal: Principal): Written => {
  const text = JSON.stringify(presentPayment(accepted.payment))
  return { ...accepted, principal, text, packed: pack('record', text) }
}

/** False for a scheduled payment, which holds nothing. */
const isHeld = ({ payment }: Accepted): boolean => payment.holdTransferId !== null

/** The balances after all payments. Readers never see the balances in between. */
const balanceEvents = (holders: readonly Uuid[], state: SpendingState): NewEvent[] =>
  holders.flatMap((accountId) => {
    const account = state.holders.get(accountId)
    const balance = state.balances.get(accountId)
    const team = account?.holderOfWorkspaceId ? state.workspaces.get(account.holderOfWorkspaceId) : null
    return account && balance && team !== undefined ? [balanceEvent({ account, team }, balance)] : []
  })

const eventsOf = (accepted: readonly Written[], state: SpendingState): NewEvent[] => {
  const events = accepted.flatMap(({ payment: { id: paymentId, accountId, workspaceId, status } }): NewEvent[] => {
    const created = { type: 'payment.created', accountId, workspaceId, paymentId } as const
    return status === 'processing' ? [created, { ...created, type: 'payment.processing' }] : [created]
  })
  const holders = new Set(accepted.filter(isHeld).map(({ payment }) => payment.accountId))
  return [...events, ...balanceEvents([...holders], state)]
}

/** Each hold stores the balance that is available after it, computed backwards from the final balances in `state`. */
const holdsOf = (accepted: readonly Accepted[], state: SpendingState): Hold[] => {
  const available = new Map([...state.balances].map(([id, balance]) => [id, balance.availableMinor]))
  return accepted
    .toReversed()
    .flatMap(({ payment }) => {
      const { accountId: ownerId, id: paymentId, amountMinor, feeMinor, holdTransferId, feeHoldTransferId } = payment
      const hold = (type: Hold['type'], transferId: Uuid | null, minor: Minor | null): Hold[] => {
        if (transferId === null || minor === null) return []
        const availableAfterMinor = available.get(ownerId) ?? 0n
        available.set(ownerId, availableAfterMinor + minor)
        return [{ type, transferId, ownerId, amountMinor: minor, paymentId, availableAfterMinor }]
      }
      return [...hold('fee', feeHoldTransferId, feeMinor), ...hold('payment', holdTransferId, amountMinor)]
    })
    .toReversed()
}

/** Holds and charges due scheduled payments. The caller changes their status, then appends the returned balance events. */
export const holdDuePayments = async (tx: Tx, accepted: readonly Accepted[], state: SpendingState): Promise<NewEvent[]> => {
  const rows = accepted.map(({ payment }) => payment)
  if (rows.length === 0) return []
  const awaitingApproval = rows.filter(({ snapshot }) => snapshot.due_decision)
  await Promise.all([
    holdAll(tx, holdsOf(accepted, state)),
    chargeCounters(tx, accepted),
    updateRows(tx, payments, ['holdTransferId', 'feeHoldTransferId', 'countedDay', 'payeeId', 'approvalId'], rows),
    updateRows(tx, payments, ['snapshot'], awaitingApproval),
  ])
  return balanceEvents([...new Set(rows.map(({ accountId }) => accountId))], state)
}

export const auditDenial = (
  tx: Tx,
  principal: Principal,
  currency: string,
  { decision, payee: beneficiary, amountMinor }: NonNullable<Refused['denied']>,
): void =>
  audit(tx, principal, 'payment.denied', {
    after: { amount_minor: amountMinor.toString(), beneficiary, decision: presentDecision(decision, currency) },
  })

/** One query per table and chunk. Deferred queries are sent with the commit, which fails if one of them fails. */
export const writePayments = async (
  tx: Tx,
  deps: DecisionParts,
  accepted: readonly Written[],
  state: SpendingState,
): Promise<void> => {
  if (accepted.length === 0) return
  const held = accepted.filter(isHeld)
  if (held.length > 0) {
    tx.defer(holdAll(tx, holdsOf(held, state)))
    await yieldBeforeLongWork(held)
    tx.defer(chargeCounters(tx, held))
    await yieldBeforeLongWork(held)
  }
  await byChunks(accepted, (chunk) => {
    const rows = chunk.map(({ payment, packed }) => ({ ...payment, snapshot: new DriverValue(packed) }))
    tx.defer(insertRows(tx, payments, rows))
  })
  await appendEvents(tx, eventsOf(accepted, state))
  await mapInChunks(accepted, ({ principal, payment, decision, inputs }) => {
    const { id, status, amountMinor, feeMinor, snapshot } = payment
    const payee = snapshot.beneficiary.display_name
    const fee = feeMinor !== null && { fee_minor: feeMinor.toString() }
    const after = { status, amount_minor: amountMinor.toString(), ...fee, beneficiary: payee, outcome: decision.outcome }
    audit(tx, principal, 'payment.create', { subject: id, after, inputs })
  })
  // A batch is approved as a whole: `writeBatch` requests its approval.
  for (const one of accepted) {
    const { approvalId, batchId } = one.payment
    if (approvalId && !batchId) await requestApproval(tx, deps, one, one.principal.originGrantId)
  }
  const started = accepted.flatMap(({ payment }) => (payment.status === 'processing' ? [payment] : []))
  wakeForPayments(tx, started)
}
