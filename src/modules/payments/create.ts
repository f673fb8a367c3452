import type { Principal } from '../../auth/principal.ts'
import { statement, type Tx } from '../../db/client.ts'
import type { NewEvent } from '../../events/append.ts'
import { audit } from '../../events/audit.ts'
import { type Balance, hold, lockBalance } from '../../ledger/ledger.ts'
import { notFound, Refusal } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import { periodsAt } from '../../policy/calendar.ts'
import { chargesFor, evaluate } from '../../policy/evaluate.ts'
import { explain } from '../../policy/explain.ts'
import { effectiveTimeZone } from '../../policy/time-zone.ts'
import type { Decision, Evaluation } from '../../policy/types.ts'
import { balanceUpdated } from '../accounts/service.ts'
import { requestApproval } from '../approvals/request.ts'
import { findBeneficiary } from '../beneficiaries/queries.ts'
import { destinationContext } from '../beneficiaries/service.ts'
import type { Deps } from '../deps.ts'
import { presentDecision } from '../policies/present.ts'
import { loadContext, type PaymentContext } from './context.ts'
import { chargeCounters, storedCharges } from './counters.ts'
import { evaluationOf } from './evaluation.ts'
import { loadMandate, type PaymentMandate } from './mandate.ts'
import { presentPayment } from './present.ts'
import type { PaymentRecord } from './queries.ts'
import { checkRailRules, checkStops } from './rules.ts'
import type { CreatePayment } from './schema.ts'

type Decided = { context: PaymentContext; evaluation: Evaluation; decision: Decision; mandate: PaymentMandate | null }

/** Loads under locks and decides; writes nothing. The owning ledger account is locked already. */
const decide = async (tx: Tx, deps: Deps, principal: Principal, input: CreatePayment): Promise<Decided> => {
  const at = deps.clock.now()
  const { workspace } = principal
  const lineage = principal.grant?.lineage ?? []
  const periods = periodsAt(at, effectiveTimeZone(workspace.zone, at))
  const context = await loadContext(
    tx,
    { workspaceId: workspace.id, lineage, beneficiaryId: input.beneficiary_id, periods },
    true,
  )
  if (!context) throw notFound()
  checkStops(context, principal.capabilities.payments)
  const paymentType = input.payment_type ?? context.beneficiary.rail
  const accountReference = input.account_reference ?? null
  checkRailRules({ amountMinor: input.amount_minor, paymentType, accountReference }, context, deps.rails, deps.config.CURRENCY)
  const mandate = input.mandate_id ? await loadMandate(tx, workspace.id, input.mandate_id) : null
  const asked = {
    workspaceId: workspace.id,
    initiatorAccountId: principal.accountId,
    lineage,
    amountMinor: input.amount_minor,
    paymentType,
    at,
  }
  const evaluation = evaluationOf(context, asked, periods, mandate?.rules ?? null)
  return { context, evaluation, decision: evaluate(evaluation), mandate }
}

/** A denial moves nothing, but stays in the audit log: it is returned, so that the transaction commits, and thrown afterwards. */
const denied = async (tx: Tx, deps: Deps, principal: Principal, decision: Decision): Promise<Refusal> => {
  const wire = presentDecision(decision)
  await audit(tx, principal, deps.clock.now(), { action: 'payment.denied', after: { decision: wire } })
  return new Refusal('policy_denied', { message: explain(decision, deps.config.CURRENCY), details: { decision: wire } })
}

const insert = statement(
  'payments.insert',
  `insert into payments (id, workspace_id, account_id, status, amount_minor, currency, beneficiary_id, payment_type, rail, account_reference,
     narrative, metadata, mandate_id, approval_id, initiator_account_id, grant_id, decision, charges, hold_transfer_id, created_at, updated_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $20)`,
)

const insertPayment = async (tx: Tx, payment: PaymentRecord): Promise<void> => {
  await tx.query(insert, [
    payment.id,
    payment.workspaceId,
    payment.accountId,
    payment.status,
    payment.amountMinor,
    payment.currency,
    payment.beneficiaryId,
    payment.paymentType,
    payment.rail,
    payment.accountReference,
    payment.narrative,
    JSON.stringify(payment.metadata),
    payment.mandateId,
    payment.approvalId,
    payment.initiatorAccountId,
    payment.grantId,
    JSON.stringify(payment.decision),
    JSON.stringify(payment.charges),
    payment.holdTransferId,
    payment.createdAt,
  ])
}

const recordOf = (
  deps: Deps,
  principal: Principal,
  input: CreatePayment,
  decided: Decided,
): Omit<PaymentRecord, 'holdTransferId'> => {
  const at = deps.clock.now()
  const { context, decision, evaluation } = decided
  const held = decision.outcome === 'require_approval'
  return {
    id: newId(),
    workspaceId: principal.workspace.id,
    accountId: principal.workspace.owningAccountId,
    status: held ? 'pending_approval' : 'processing',
    amountMinor: input.amount_minor,
    currency: deps.config.CURRENCY,
    beneficiaryId: context.beneficiary.id,
    paymentType: evaluation.payment.paymentType,
    rail: context.beneficiary.rail,
    accountReference: input.account_reference ?? null,
    narrative: input.narrative ?? null,
    metadata: input.metadata ?? {},
    mandateId: input.mandate_id ?? null,
    approvalId: held ? newId() : null,
    initiatorAccountId: principal.accountId,
    grantId: principal.grant?.id ?? null,
    decision: presentDecision(decision),
    charges: storedCharges(chargesFor(evaluation)),
    providerReceipt: null,
    failureCode: null,
    failureMessage: null,
    createdAt: at,
    updatedAt: at,
    completedAt: null,
  }
}

const askForApproval = async (tx: Tx, deps: Deps, payment: PaymentRecord, decided: Decided): Promise<void> => {
  const record = payment.approvalId && (await findBeneficiary(tx, payment.workspaceId, payment.beneficiaryId))
  if (!record || !payment.approvalId) throw new Error('a held payment has a beneficiary and an approval')
  const sealed = { ciphertext: record.destinationCiphertext, keyId: record.destinationKeyId }
  await requestApproval(tx, deps, {
    approvalId: payment.approvalId,
    payment,
    decision: decided.decision,
    beneficiary: record,
    destination: deps.vault.open(sealed, destinationContext(record.id, record.workspaceId)),
    mandateSignature: decided.decision.approvalsByMandate > 0 && decided.mandate ? decided.mandate.signature : null,
  })
}

const announce = async (tx: Tx, deps: Deps, payment: PaymentRecord, balance: Balance): Promise<void> => {
  const { accountId, workspaceId } = payment
  const data = presentPayment(payment)
  const events: NewEvent[] = [{ type: 'payment.created', accountId, workspaceId, data }]
  if (payment.status === 'processing') events.push({ type: 'payment.processing', accountId, workspaceId, data })
  await deps.appendEvents(tx, payment.createdAt, [...events, await balanceUpdated(tx, deps, accountId, balance)])
}

/**
 * The one transaction of a payment: decision, hold, counters, row, approval or dispatch job, events, audit. Two payments that only
 * one limit fits can't both pass, because every writer of an account's money and limits takes its ledger account's lock first.
 */
export const createPayment = async (
  tx: Tx,
  deps: Deps,
  principal: Principal,
  input: CreatePayment,
): Promise<PaymentRecord | Refusal> => {
  await lockBalance(tx, principal.workspace.owningAccountId)
  const decided = await decide(tx, deps, principal, input)
  if (decided.decision.outcome === 'deny') return denied(tx, deps, principal, decided.decision)
  const draft = recordOf(deps, principal, input, decided)
  const { transferId, balance } = await hold(
    tx,
    draft.accountId,
    draft.amountMinor,
    { type: 'payment', id: draft.id },
    draft.createdAt,
  )
  const payment: PaymentRecord = { ...draft, holdTransferId: transferId }
  await chargeCounters(tx, payment.charges, payment.amountMinor)
  await insertPayment(tx, payment)
  await announce(tx, deps, payment, balance)
  if (payment.status === 'processing') await deps.jobs.enqueue(tx, 'payments.dispatch', { id: payment.id })
  else await askForApproval(tx, deps, payment, decided)
  await audit(tx, principal, payment.createdAt, {
    action: 'payment.create',
    subject: { type: 'payment', id: payment.id },
    after: { status: payment.status, amount_minor: payment.amountMinor.toString(), outcome: decided.decision.outcome },
  })
  return payment
}
