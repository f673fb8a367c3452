import { isNull, sql } from 'drizzle-orm'
import { grantBehind } from '../../auth/authority-sql.ts'
import { inTx, type Tx } from '../../db/client.ts'
import { paymentBatches } from '../../db/tables/payment-batches.ts'
import { payments } from '../../db/tables/payments.ts'
import { type Failure, failure } from '../../errors/failures.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import { assertPresent } from '../../lib/lists.ts'
import { explain } from '../../policy/explain.ts'
import type { MandateSignatureStatus } from '../../policy/types.ts'
import { type SweepDeps, sweepOf } from '../for-each-row.ts'
import { checkMandateSignature } from '../mandates/for-payments.ts'
import type { Parts } from '../parts.ts'
import { presentDecision } from '../policies/present.ts'
import { findWorkspace } from '../workspaces/queries.ts'
import { expireApproval } from './approvals/end.ts'
import { lockApproval } from './approvals/queries.ts'
import { requestApproval } from './approvals/request.ts'
import { moveBatch } from './batch/change.ts'
import { readItemIds } from './batch/queries.ts'
import { endPayments, wakeForPayments, writeChanges } from './change.ts'
import {
  type Accepted,
  countAccepted,
  type DecisionRequest,
  type Deployment,
  holdIds,
  type Payer,
  type Refused,
  type SpendingState,
} from './create/decide.ts'
import { batchTotalsByRule, type DecisionState, decideInTurn, readDecisionState } from './create/decide-in-turn.ts'
import { holdDuePayments } from './create/write.ts'
import { type Authority, holdsApprovals, readAuthority } from './evaluation/authority.ts'
import { lockPaymentsWithAccounts, type PaymentRecord } from './queries.ts'
import { covers, policyChanged, requesterStops, unapproved, unrequested } from './recheck.ts'
import type { DecisionParts } from './request.ts'

const payerOf = async (tx: Tx, payment: PaymentRecord, { lineage, origin, stop }: Authority): Promise<Payer> => {
  const workspace = assertPresent(await findWorkspace(tx, payment.workspaceId), 'a payment has no workspace')
  return {
    accountId: payment.initiatorAccountId,
    capabilities: { topups: true, payments: stop !== 'payments', apiKeys: stop !== 'api_keys', oauth: stop !== 'oauth' },
    workspace: { ...workspace, isSeparated: workspace.separatedAt !== null, frozen: false, closed: false },
    permissions: new Set(),
    grant: payment.grantId === null ? null : { id: payment.grantId, lineage },
    grantFrozen: stop === 'grant',
    originGrantId: origin,
  }
}

type DueDecision = { payment: PaymentRecord } & (
  | { kind: 'send' | 'request_approval'; accepted: Accepted }
  | { kind: 'fail'; failure: Failure }
)

const failureOf = ({ refusal: { code, message }, denied }: Refused): Failure =>
  denied ? failure('policy_denied', null, message) : code === 'insufficient_funds' ? failure(code) : policyChanged(message)

const failureOfAuthority = (authority: Authority): Failure | undefined => {
  const { mayRequest, stop } = authority
  if (!mayRequest) return unrequested.failure
  if (stop) return requesterStops[stop].failure
  return holdsApprovals(authority) ? undefined : unapproved.failure
}

type DueRequest = DecisionRequest & { payment: PaymentRecord }

const dueRequestOf = (payment: PaymentRecord, principal: Payer, mandateSignature: MandateSignatureStatus): DueRequest => ({
  payment,
  principal,
  mandateSignature,
  madeAt: payment.executeAt ?? payment.createdAt,
  feeMinor: payment.feeMinor,
  input: {
    beneficiary_id: payment.beneficiaryId,
    amount_minor: payment.amountMinor,
    payment_type: payment.paymentType,
    account_reference: payment.accountReference,
    narrative: payment.narrative,
    mandate_id: payment.mandateId,
  },
  traceparent: payment.traceparent,
})

const decideDuePayment = (
  deployment: Deployment,
  state: DecisionState,
  { due, index, authorityOf, at }: { due: DueRequest; index: number; authorityOf: (paymentId: Uuid) => Authority; at: Date },
): DueDecision => {
  const { payment, principal } = due
  const authority = authorityOf(payment.id)
  const failed = (reason: Failure) => ({ payment, kind: 'fail', failure: reason }) as const
  const lost = failureOfAuthority(authority)
  if (lost) return failed(lost)
  const decided = decideInTurn(state, deployment, { request: due, principal, index, at, isDue: true })
  if ('refusal' in decided) return failed(failureOf(decided))
  // Counts the payment, because later ones are decided with the remaining limits and balance.
  const accept = (changes: Partial<PaymentRecord>): Accepted => {
    countAccepted(state.state, decided)
    const { countedDay, payeeId } = decided.payment
    return { ...decided, payment: { ...payment, ...holdIds(payment.feeMinor), countedDay, payeeId, ...changes } }
  }
  if (decided.decision.outcome === 'allow' || covers(decided.decision, payment, authority))
    return { payment, kind: 'send', accepted: accept({}) }
  // Scheduling requested no approval, so it is requested now. A batch item cannot wait for an approval by itself.
  if (payment.approvalId === null && payment.batchId === null) {
    const snapshot = { due_decision: presentDecision(decided.decision, payment.currency), ...payment.snapshot }
    return { payment, kind: 'request_approval', accepted: accept({ snapshot, approvalId: newId() }) }
  }
  const uncovered = `The approvals given when it was scheduled do not cover it: ${explain(decided.decision, payment.currency)}`
  return failed(failure('policy_denied', null, uncovered))
}

const timer = { accountId: null, origin: null, way: 'timer' } as const

const startOrRequestApproval = async (tx: Tx, deps: DecisionParts, decisions: readonly DueDecision[], state: SpendingState) => {
  const proceeding = decisions.flatMap((each) => (each.kind === 'fail' ? [] : [each]))
  if (proceeding.length === 0) return
  const held = proceeding.map(({ accepted }) => accepted)
  const balances = await holdDuePayments(tx, held, state)
  await writeChanges(
    tx,
    proceeding.map(({ kind, accepted: { payment, decision, inputs } }) => ({
      payment,
      change: kind === 'send' ? { status: 'processing', dispatchDueAt: tx.at } : { status: 'pending_approval' },
      options: { actor: timer, after: { outcome: decision.outcome }, inputs },
    })),
    balances,
  )
  for (const { kind, accepted } of proceeding) {
    const payment = { ...accepted.payment, status: 'pending_approval' as const }
    if (kind === 'request_approval') await requestApproval(tx, deps, { ...accepted, payment }, payment.originGrantId)
  }
  const toSend = proceeding.flatMap(({ kind, payment }) => (kind === 'send' ? [payment] : []))
  wakeForPayments(tx, toSend)
}

/**
 * Decides and starts payments that are due together: one payment, or all items of a batch. Each is decided as if requested now,
 * with the limits that earlier ones leave. The time is read after the locks, so a clock that was set back sends nothing early.
 */
const executeDue = async (tx: Tx, deps: DecisionParts, ids: readonly Uuid[], mandateSignature: MandateSignatureStatus) => {
  const payments = (await lockPaymentsWithAccounts(tx, ids))
    .filter(({ status, executeAt }) => status === 'scheduled' && executeAt !== null && executeAt <= tx.at)
    .sort((one, other) => (one.batchIndex ?? 0) - (other.batchIndex ?? 0))
  const [first] = payments
  if (!first) return
  const { approvalId, batchId } = first
  const locked = approvalId && (await lockApproval(tx, approvalId))
  if (locked && locked.approval.status === 'pending') return void (await expireApproval(tx, { ...locked, payments }))
  const authorityOf = await readAuthority(tx, payments, tx.at)
  // Payments that are due together come from one request.
  const principal = await payerOf(tx, first, authorityOf(first.id))
  const requests = payments.map((payment) => dueRequestOf(payment, principal, mandateSignature))
  const state = await readDecisionState(tx, deps.clock, requests)
  const listTotals = batchId === null ? undefined : await batchTotalsByRule(state, deps, { requests, principal, at: tx.at })
  const decided = requests.map((due, index) => {
    const batchItem = listTotals && { duplicatesIntended: true, index, rows: null, listTotals }
    return decideDuePayment(deps, state, { due: { ...due, batchItem }, index, authorityOf, at: tx.at })
  })
  const proceeds = decided.some(({ kind }) => kind !== 'fail')
  await startOrRequestApproval(tx, deps, decided, state.state)
  // Must run before any item ends, because only a batch in `processing` ends with its last item.
  if (batchId && proceeds) await moveBatch(tx, timer, batchId, 'processing')
  const failures = decided.flatMap((each) =>
    each.kind === 'fail' ? [{ payment: each.payment, to: 'failed' as const, actor: timer, failure: each.failure }] : [],
  )
  await endPayments(tx, failures)
  if (batchId && !proceeds) await moveBatch(tx, timer, batchId, 'failed')
}

const executePayments = sweepOf(
  'payments.execute',
  {
    id: payments.id,
    due: payments.executeAt,
    where: [sql`${payments.status} = 'scheduled'`, isNull(payments.batchId)],
    fields: {
      workspaceId: payments.workspaceId,
      mandateId: payments.mandateId,
      requester: sql<Uuid | null>`${sql.raw(grantBehind('payments'))}`,
    },
  },
  async (deps: Executing, { id, mandateId, ...asking }) => {
    const mandateSignature = await checkMandateSignature(deps, mandateId, asking)
    await inTx(deps.db, (tx) => executeDue(tx, deps, [id], mandateSignature))
  },
)
const executeBatches = sweepOf(
  'payment_batches.execute',
  {
    id: paymentBatches.id,
    due: paymentBatches.executeAt,
    where: [sql`${paymentBatches.status} = 'scheduled'`],
    batch: 20,
  },
  (deps: Executing, { id }) => inTx(deps.db, async (tx) => executeDue(tx, deps, await readItemIds(tx, id), 'holds')),
)

type Executing = DecisionParts & SweepDeps & Pick<Parts, 'contractWallets'>

/** Each payment and each batch runs in its own transaction, so that a failure does not affect the others. */
export const executeScheduled = async (deps: Executing): Promise<number> =>
  (await executePayments(deps)) + (await executeBatches(deps))
