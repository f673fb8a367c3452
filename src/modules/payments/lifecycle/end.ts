import type { Tx } from '../../../db/client.ts'
import type { ReleasedPaymentStatus } from '../../../db/transitions.ts'
import type { Actor } from '../../../events/audit.ts'
import { endHolds } from '../../../ledger/ledger.ts'
import type { Failure } from '../../../lib/failure-codes.ts'
import { only } from '../../../lib/only.ts'
import { getAccounts } from '../../identity/accounts/queries.ts'
import { balanceEvents } from '../../identity/accounts/service.ts'
import { exhaustMandateIfSpent } from '../../mandates/end.ts'
import { releaseCharges } from '../evaluation/counters.ts'
import type { PaymentRecord } from '../queries.ts'
import { type Changing, writeChanges } from './write-change.ts'

export type Release = { to: ReleasedPaymentStatus; actor: Actor; failure?: Failure | undefined }

/** How a payment ends. `succeeded`: the held money has left. Every other end gives it back, and takes the payment off its limits. */
export type PaymentEnd = { payment: PaymentRecord } & (Release | { to: 'succeeded'; actor: Actor; receipt: string | null })

const changeOf = (end: PaymentEnd, at: Date): Changing => {
  const { payment, actor } = end
  if (end.to === 'succeeded') {
    const { receipt } = end
    const change = { status: end.to, providerReceipt: receipt, completedAt: at }
    return { payment, change, options: { actor, after: { provider_receipt: receipt } } }
  }
  const { failure } = end
  const change = {
    status: end.to,
    failureCode: failure?.code ?? null,
    failureMessage: failure?.message ?? null,
    providerCode: failure?.providerCode ?? null,
    completedAt: at,
  }
  const after = failure && { failure_code: failure.code, provider_code: failure.providerCode }
  return { payment, change, options: { actor, ...(after && { after }) } }
}

/**
 * Ends payments: their holds, their charges, their mandates, with one event for each payment and one for each account. The caller has locked
 * the owning accounts and the payments; each payment is named once. Results are in the same order.
 */
export const endPayments = async (tx: Tx, ends: readonly PaymentEnd[]): Promise<PaymentRecord[]> => {
  if (ends.length === 0) return []
  const { at } = tx
  const holds = ends.flatMap(({ payment, to }) =>
    payment.holdTransferId === null
      ? []
      : [{ kind: to === 'succeeded' ? 'post' : 'void', holdId: payment.holdTransferId, ownerId: payment.accountId } as const],
  )
  // A scheduled payment has no hold and no charges.
  const released = ends
    .filter(({ to, payment }) => to !== 'succeeded' && payment.holdTransferId !== null)
    .map(({ payment }) => payment.id)
  const owners = [...new Set(holds.map(({ ownerId }) => ownerId))]
  const [balances, accounts] = await Promise.all([
    endHolds(tx, holds, at),
    owners.length === 0 ? [] : getAccounts(tx, owners),
    releaseCharges(tx, released),
  ])
  const updated = balanceEvents(accounts, balances)
  const changing = ends.map((end) => changeOf(end, at))
  const after = await writeChanges(tx, changing, updated)
  const paid = after.filter(({ status }) => status === 'succeeded')
  for (const mandateId of new Set(paid.map((payment) => payment.mandateId)))
    if (mandateId) await exhaustMandateIfSpent(tx, mandateId)
  return after
}

/** Ends a payment that will not be paid. */
export const releasePayment = async (tx: Tx, payment: PaymentRecord, release: Release): Promise<PaymentRecord> =>
  only(await endPayments(tx, [{ payment, ...release }]))
