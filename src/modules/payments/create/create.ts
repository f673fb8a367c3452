import type { Principal } from '../../../auth/principal.ts'
import { statement, type Tx } from '../../../db/client.ts'
import type { NewEvent } from '../../../events/append.ts'
import { audit } from '../../../events/audit.ts'
import { type Balance, hold, lockBalance } from '../../../ledger/ledger.ts'
import { notFound, Refusal } from '../../../lib/errors.ts'
import { newId, type Uuid } from '../../../lib/ids.ts'
import { formatMinor, type Minor } from '../../../lib/money.ts'
import { periodsAt } from '../../../policy/calendar.ts'
import { chargesFor, evaluate } from '../../../policy/evaluate.ts'
import { explain } from '../../../policy/explain.ts'
import { effectiveTimeZone } from '../../../policy/time-zone.ts'
import type { Decision, Evaluation, Periods } from '../../../policy/types.ts'
import { findBeneficiary } from '../../beneficiaries/queries.ts'
import { destinationContext } from '../../beneficiaries/service.ts'
import type { Deps } from '../../deps.ts'
import { presentAccount } from '../../identity/accounts/present.ts'
import { type AccountRecord, getAccount } from '../../identity/accounts/queries.ts'
import { presentDecision } from '../../policies/present.ts'
import { requestApproval } from '../approvals/request.ts'
import { presentPayment } from '../present.ts'
import type { PaymentRecord } from '../queries.ts'
import type { CreatePayment } from '../schema.ts'
import { loadContext, type PaymentContext } from './context.ts'
import { chargeCounters, storedCharges } from './counters.ts'
import { evaluationOf } from './evaluation.ts'
import { loadMandate, type PaymentMandate } from './mandate.ts'
import { checkPreconditions, checkRailRules } from './preconditions.ts'

type Decided = { context: PaymentContext; evaluation: Evaluation; decision: Decision; mandate: PaymentMandate | null }
/** What a decision is made from, under the owning ledger account's lock. */
type LockedState = { balance: Balance; context: PaymentContext; owner: AccountRecord; periods: Periods }

/** The lock first, and what stands behind it: asked for together, answered in this order. */
const lockAndLoad = async (tx: Tx, deps: Deps, { workspace, grant }: Principal, beneficiaryId: Uuid): Promise<LockedState> => {
  const at = deps.clock.now()
  const periods = periodsAt(at, effectiveTimeZone(workspace.zone, at))
  const [balance, context, owner] = await Promise.all([
    lockBalance(tx, workspace.owningAccountId),
    loadContext(tx, { workspaceId: workspace.id, lineage: grant?.lineage ?? [], beneficiaryId, periods }, true),
    getAccount(tx, workspace.owningAccountId),
  ])
  if (!context) throw notFound('beneficiary_id')
  return { balance, context, owner, periods }
}

const decide = async (tx: Tx, deps: Deps, principal: Principal, input: CreatePayment, locked: LockedState): Promise<Decided> => {
  const { workspace, grant, accountId, capabilities } = principal
  const { context, periods } = locked
  checkPreconditions(context, capabilities.payments)
  const paymentType = input.payment_type ?? context.beneficiary.rail
  const accountReference = input.account_reference ?? null
  checkRailRules({ amountMinor: input.amount_minor, paymentType, accountReference }, context, deps.rails, deps.config.CURRENCY)
  const mandate = input.mandate_id ? await loadMandate(tx, workspace.id, input.mandate_id) : null
  const lineage = grant?.lineage ?? []
  const request = {
    workspaceId: workspace.id,
    initiatorAccountId: accountId,
    lineage,
    amountMinor: input.amount_minor,
    paymentType,
    at: deps.clock.now(),
  }
  const evaluation = evaluationOf(context, request, periods, mandate?.rules ?? null)
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
     narrative, metadata, mandate_id, approval_id, initiator_account_id, grant_id, decision, charges, hold_transfer_id, dispatch_due_at, created_at, updated_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $21)`,
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
    payment.dispatchDueAt,
    payment.createdAt,
  ])
}

const recordOf = (deps: Deps, principal: Principal, input: CreatePayment, decided: Decided): PaymentRecord => {
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
    holdTransferId: newId(),
    providerReceipt: null,
    failureCode: null,
    failureMessage: null,
    providerCode: null,
    lateSuccessReceipt: null,
    lateSuccessAmountMinor: null,
    lateSuccessAt: null,
    lateSuccessBookedAt: null,
    dispatchDueAt: held ? null : at,
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

const eventsOf = (payment: PaymentRecord, owner: AccountRecord, balance: Balance): NewEvent[] => {
  const { accountId, workspaceId } = payment
  const data = presentPayment(payment)
  const events: NewEvent[] = [{ type: 'payment.created', accountId, workspaceId, data }]
  if (payment.status === 'processing') events.push({ type: 'payment.processing', accountId, workspaceId, data })
  return [
    ...events,
    { type: 'balance.updated', accountId, workspaceId: null, data: presentAccount(owner, balance, payment.currency) },
  ]
}

/** Everything that a payment leaves behind, asked for at once. */
const write = async (
  tx: Tx,
  deps: Deps,
  principal: Principal,
  payment: PaymentRecord,
  decided: Decided,
  locked: LockedState,
): Promise<void> => {
  const { amountMinor, createdAt: at } = payment
  const balance = {
    availableMinor: locked.balance.availableMinor - amountMinor,
    heldMinor: locked.balance.heldMinor + amountMinor,
  }
  const processing = payment.status === 'processing'
  await Promise.all([
    hold(tx, {
      transferId: payment.holdTransferId,
      ownerId: payment.accountId,
      amountMinor,
      reference: { type: 'payment', id: payment.id },
      at,
    }),
    chargeCounters(tx, payment.charges, amountMinor),
    insertPayment(tx, payment),
    deps.appendEvents(tx, at, eventsOf(payment, locked.owner, balance)),
    audit(tx, principal, at, {
      action: 'payment.create',
      subject: { type: 'payment', id: payment.id },
      after: { status: payment.status, amount_minor: amountMinor.toString(), outcome: decided.decision.outcome },
    }),
  ])
  if (processing) tx.afterCommit(() => deps.jobs.wake('payments'))
  else await askForApproval(tx, deps, payment, decided)
}

/** What is available is told to those who may read the account. */
const shortOf = (principal: Principal, availableMinor: Minor, requestedMinor: Minor): Refusal =>
  new Refusal('insufficient_funds', {
    ...(principal.permissions.has('account.read') && {
      details: { available_minor: formatMinor(availableMinor), requested_minor: formatMinor(requestedMinor) },
    }),
  })

/**
 * The one transaction of a payment: decision, hold, counters, row, approval, events, audit. Two payments that only
 * one limit fits can't both pass, because every writer of an account's money and limits takes its ledger account's lock first.
 */
export const createPayment = async (
  tx: Tx,
  deps: Deps,
  principal: Principal,
  input: CreatePayment,
): Promise<PaymentRecord | Refusal> => {
  const locked = await lockAndLoad(tx, deps, principal, input.beneficiary_id)
  const decided = await decide(tx, deps, principal, input, locked)
  if (decided.decision.outcome === 'deny') return denied(tx, deps, principal, decided.decision)
  if (locked.balance.availableMinor < input.amount_minor)
    throw shortOf(principal, locked.balance.availableMinor, input.amount_minor)
  const payment = recordOf(deps, principal, input, decided)
  await write(tx, deps, principal, payment, decided, locked)
  return payment
}
