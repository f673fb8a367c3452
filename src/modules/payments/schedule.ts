import { isNull, sql } from 'drizzle-orm'
import { inTx, type Tx } from '../../db/client.ts'
import { paymentBatches } from '../../db/tables/payment-batches.ts'
import { payments } from '../../db/tables/payments.ts'
import { type Failure, failure } from '../../errors/failures.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import { assertPresent } from '../../lib/lists.ts'
import type { MandateSignatureStatus } from '../../policy/types.ts'
import { type SweepDeps, sweepOf } from '../for-each-row.ts'
import { checkMandateSignature } from '../mandates/for-payments.ts'
import type { Parts } from '../parts.ts'
import { findWorkspace } from '../workspaces/queries.ts'
import { expireApproval } from './approvals/end.ts'
import { lockApproval } from './approvals/queries.ts'
import { requestApproval } from './approvals/request.ts'
import { moveBatch } from './batch/change.ts'
import { readItemIds } from './batch/queries.ts'
import { endPayments, wakeForPayments, writeChanges } from './change.ts'
import { type Accepted, type Deployment, holdIds, type Payer, type Refused, use } from './create/decide.ts'
import { type Ask, decideNext, readSpending, type Spending } from './create/decide-in-turn.ts'
import { takeDue } from './create/write.ts'
import { type Authority, holdsApprovals, readAuthority } from './evaluation/authority.ts'
import { lockPaymentsWithAccounts, type PaymentRecord } from './queries.ts'
import { changed, covers, requesterStops } from './recheck.ts'
import type { Deciding } from './request.ts'

const payerOf = async (tx: Tx, payment: PaymentRecord, { lineage, stop }: Authority): Promise<Payer> => {
  const workspace = assertPresent(await findWorkspace(tx, payment.workspaceId), 'a payment has no workspace')
  return {
    accountId: payment.initiatorAccountId,
    capabilities: { topups: true, payments: stop !== 'payments', apiKeys: stop !== 'api_keys', oauth: stop !== 'oauth' },
    workspace: { ...workspace, isSeparated: workspace.separatedAt !== null, frozen: false, closed: false },
    permissions: new Set(),
    grant: payment.grantId === null ? null : { id: payment.grantId, lineage, frozen: false },
  }
}

/** `asked`: an approval is requested now. */
type Due = { payment: PaymentRecord } & ({ kind: 'sent' | 'asked'; accepted: Accepted } | { kind: 'failed'; failure: Failure })

const failureOf = ({ refusal: { code, message }, denied }: Refused): Failure =>
  denied ? failure('policy_denied', null, message) : code === 'insufficient_funds' ? failure(code) : changed(message)

const lostAuthority = (authority: Authority): Failure | undefined => {
  const { requested, stop } = authority
  if (!requested) return changed('The requester may no longer request this payment.')
  if (stop) return requesterStops[stop].failure
  return holdsApprovals(authority) ? undefined : changed('An approval that was given no longer counts.')
}

type DueAsk = Ask & { payment: PaymentRecord }

const askOf = (payment: PaymentRecord, principal: Payer, standing: Ask['standing']): DueAsk => ({
  ...{ payment, principal, standing, madeAt: payment.executeAt ?? payment.createdAt, feeMinor: payment.feeMinor },
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

/** Accepts a payment with the result of its decision: later payments are decided with what it leaves. */
const taken = (
  { state }: Spending,
  payment: PaymentRecord,
  accepted: Accepted,
  approvalId: PaymentRecord['approvalId'],
): Accepted => {
  use(state, accepted)
  return {
    ...accepted,
    payment: { ...payment, ...holdIds(payment.feeMinor), countedDay: accepted.payment.countedDay, approvalId },
  }
}

const decideOne = (
  deployment: Deployment,
  spending: Spending,
  { ask, index, authorityOf, at }: { ask: DueAsk; index: number; authorityOf: (paymentId: Uuid) => Authority; at: Date },
): Due => {
  const { payment, principal } = ask
  const authority = authorityOf(payment.id)
  const failed = (reason: Failure) => ({ payment, kind: 'failed', failure: reason }) as const
  const lost = lostAuthority(authority)
  if (lost) return failed(lost)
  const decided = decideNext(spending, deployment, { ask, principal, index, at, isDue: true })
  if ('refusal' in decided) return failed(failureOf(decided))
  if (decided.decision.outcome === 'allow' || covers(decided.decision, payment, authority))
    return { payment, kind: 'sent', accepted: taken(spending, payment, decided, payment.approvalId) }
  // Scheduling requested no approval, so it is requested now. An item alone cannot wait: its batch waits only as a whole.
  if (payment.approvalId === null && payment.batchId === null)
    return { payment, kind: 'asked', accepted: taken(spending, payment, decided, newId()) }
  return failed(failure('policy_denied', null, 'It needs more approvals than were asked for when it was scheduled.'))
}

const timer = { accountId: null, origin: null, way: 'timer' } as const

const begin = async (tx: Tx, deps: Deciding, due: readonly Due[], state: Parameters<typeof takeDue>[2]): Promise<void> => {
  const begun = due.flatMap((each) => (each.kind === 'failed' ? [] : [each]))
  if (begun.length === 0) return
  const taking = begun.map(({ accepted }) => accepted)
  const balances = await takeDue(tx, taking, state)
  await writeChanges(
    tx,
    begun.map(({ kind, accepted: { payment, decision, inputs } }) => ({
      payment,
      change: kind === 'sent' ? { status: 'processing', dispatchDueAt: tx.at } : { status: 'pending_approval' },
      options: { actor: timer, after: { outcome: decision.outcome }, inputs },
    })),
    balances,
  )
  for (const { kind, accepted } of begun) {
    const payment = { ...accepted.payment, status: 'pending_approval' as const }
    if (kind === 'asked') await requestApproval(tx, deps, { ...accepted, payment }, payment.originGrantId)
  }
  const started = begun.flatMap(({ kind, payment }) => (kind === 'sent' ? [payment] : []))
  wakeForPayments(tx, started)
}

/**
 * Decides and sends what is due together: one payment, or all items of a batch. Each is decided as if requested now, with what
 * the earlier ones leave. Locks make each payment run once: a payment that another process executed is no longer scheduled. The time is
 * read behind the locks too, so a clock that was set back sends nothing early. `standing`: of the mandate that the payments name.
 */
const execute = async (tx: Tx, deps: Deciding, ids: readonly Uuid[], standing: MandateSignatureStatus): Promise<void> => {
  const locked = await lockPaymentsWithAccounts(tx, ids)
  const payments = locked
    .filter(({ status, executeAt }) => status === 'scheduled' && executeAt !== null && executeAt <= tx.at)
    .sort((one, other) => (one.batchIndex ?? 0) - (other.batchIndex ?? 0))
  const [first] = payments
  if (!first) return
  const { approvalId, batchId } = first
  const waiting = approvalId && (await lockApproval(tx, approvalId))
  if (waiting && waiting.approval.status === 'pending') return void (await expireApproval(tx, { ...waiting, payments }))
  const authorityOf = await readAuthority(tx, payments)
  // Payments that are due together come from one request.
  const principal = await payerOf(tx, first, authorityOf(first.id))
  const asks = payments.map((payment) => askOf(payment, principal, standing))
  const spending = await readSpending(tx, deps.clock, asks)
  const due = asks.map((ask, index) => decideOne(deps, spending, { ask, index, authorityOf, at: tx.at }))
  const sends = due.some(({ kind }) => kind !== 'failed')
  if (batchId && sends) await moveBatch(tx, timer, batchId, 'processing')
  await begin(tx, deps, due, spending.state)
  const ends = due.flatMap((each) =>
    each.kind === 'failed' ? [{ payment: each.payment, to: each.kind, actor: timer, failure: each.failure }] : [],
  )
  await endPayments(tx, ends)
  if (batchId && !sends) await moveBatch(tx, timer, batchId, 'failed')
}

const executePayments = sweepOf(
  'payments.execute',
  {
    id: payments.id,
    due: payments.executeAt,
    where: [sql`${payments.status} = 'scheduled'`, isNull(payments.batchId)],
    fields: { workspaceId: payments.workspaceId, mandateId: payments.mandateId },
  },
  async (deps: Executing, { id, workspaceId, mandateId }) => {
    const standing = await checkMandateSignature(deps.db, deps.contractWallets, workspaceId, mandateId)
    await inTx(deps.db, (tx) => execute(tx, deps, [id], standing))
  },
)
const executeBatches = sweepOf(
  'payments.execute',
  {
    id: paymentBatches.id,
    due: paymentBatches.executeAt,
    where: [sql`${paymentBatches.status} = 'scheduled'`],
    batch: 20,
  },
  (deps: Executing, { id }) => inTx(deps.db, async (tx) => execute(tx, deps, await readItemIds(tx, id), 'holds')),
)

type Executing = Deciding & SweepDeps & Pick<Parts, 'contractWallets'>

/** Each payment and each batch runs in its own transaction, so one failure stops no other. */
export const executeScheduled = async (deps: Executing): Promise<number> =>
  (await executePayments(deps)) + (await executeBatches(deps))
