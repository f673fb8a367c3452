import type { Config } from '../../../config.ts'
import type { Tx } from '../../../db/client.ts'
import { Refusal } from '../../../lib/errors.ts'
import { type Failure, failure } from '../../../lib/failure-codes.ts'
import { newId } from '../../../lib/ids.ts'
import { stillCovered } from '../../../policy/evaluate.ts'
import type { Rails } from '../../../rails/rail.ts'
import type { Accepted } from '../create/decide.ts'
import { type Ask, decideNext, readSpending, type Spending } from '../create/spending.ts'
import type { DecideDeps } from '../deps.ts'
import { type Authority, holdsApprovals, readAuthority } from '../evaluation/authority.ts'
import { requesterStops } from '../lifecycle/recheck.ts'
import type { PaymentRecord } from '../queries.ts'
import { requesterOf } from './requester.ts'

/** A payment that is due: sent, asked for once more, or failed. */
export type Due = { payment: PaymentRecord } & (
  | { kind: 'sent' | 'asked'; accepted: Accepted }
  | { kind: 'failed'; failure: Failure }
)

const changed = (message: string): Failure => failure('policy_changed', null, message)

const failureOf = ({ code, message }: Refusal): Failure =>
  code === 'insufficient_funds' ? failure('insufficient_funds') : changed(message)

const lostAuthority = (authority: Authority): Failure | undefined => {
  const { requested, stop } = authority
  if (!requested) return changed('Who asked for the payment may no longer ask for it.')
  if (stop) return requesterStops[stop].failure
  return holdsApprovals(authority) ? undefined : changed('An approval that was given no longer counts.')
}

const askOf = (payment: PaymentRecord, principal: Ask['principal'], standing: Ask['standing']): Ask => ({
  principal,
  input: {
    beneficiary_id: payment.beneficiaryId,
    amount_minor: payment.amountMinor,
    payment_type: payment.paymentType,
    account_reference: payment.accountReference,
    narrative: payment.narrative,
    mandate_id: payment.mandateId,
  },
  once: null,
  standing,
  traceparent: payment.traceparent,
})

/** The payment itself, with what its decision gives it. */
const withDecision = (payment: PaymentRecord, accepted: Accepted, approvalId: PaymentRecord['approvalId']): Accepted => ({
  ...accepted,
  payment: { ...payment, holdTransferId: newId(), countedDay: accepted.payment.countedDay, approvalId },
})

const decideOne = (
  config: Config,
  rails: Rails,
  spending: Spending,
  { payment, ask, place, authority, at }: { payment: PaymentRecord; ask: Ask; place: number; authority: Authority; at: Date },
): Due => {
  const lost = lostAuthority(authority)
  if (lost) return { payment, kind: 'failed', failure: lost }
  const decided = decideNext(spending, config, rails, { ask, principal: ask.principal, index: place, at })
  if (decided instanceof Refusal) return { payment, kind: 'failed', failure: failureOf(decided) }
  if (decided.kind === 'denied')
    return { payment, kind: 'failed', failure: failure('policy_denied', null, decided.refusal.message) }
  const given = {
    approverAccountIds: authority.approvers,
    signedAccountIds: authority.signers,
    initiatorAccountId: payment.initiatorAccountId,
  }
  if (decided.decision.outcome === 'allow' || stillCovered(decided.decision, given))
    return { payment, kind: 'sent', accepted: withDecision(payment, decided, payment.approvalId) }
  // Not asked for when it was scheduled: asked for now. A batch waits as a whole, and its other items do not wait for this one.
  if (payment.approvalId === null && payment.batchId === null)
    return { payment, kind: 'asked', accepted: withDecision(payment, decided, newId()) }
  return {
    payment,
    kind: 'failed',
    failure: failure('policy_denied', null, 'It needs more approvals than were asked for when it was scheduled.'),
  }
}

const noMemory: Spending['memory'] = { find: () => undefined, note: () => undefined }

/**
 * Decides payments that are due as if they were asked for at this moment, one after the other, each with what the earlier ones leave. Whether
 * they look like earlier payments was decided when they were scheduled. `standing`: of the mandate that they name. The caller holds their accounts' locks.
 */
export const decideDue = async (
  tx: Tx,
  deps: Pick<DecideDeps, 'clock' | 'config' | 'rails'>,
  payments: readonly PaymentRecord[],
  standing: Ask['standing'],
): Promise<{ due: Due[]; spending: Spending }> => {
  const authorityOf = await readAuthority(
    tx,
    payments.map(({ id }) => id),
  )
  const asks: Ask[] = []
  const [first] = payments
  if (!first) throw new Error('nothing is due')
  // What is due together was asked for by one request.
  const principal = await requesterOf(tx, first, authorityOf(first.id))
  for (const payment of payments) asks.push(askOf(payment, principal, standing))
  const read = await readSpending(tx, deps.clock, asks)
  const spending: Spending = { ...read, past: read.past.map((past) => ({ ...past, earlier: null })), memory: noMemory }
  const due = payments.map((payment, place) => {
    const ask = asks[place]
    if (!ask) throw new Error('a payment has no request')
    return decideOne(deps.config, deps.rails, spending, { payment, ask, place, authority: authorityOf(payment.id), at: tx.at })
  })
  return { due, spending }
}
