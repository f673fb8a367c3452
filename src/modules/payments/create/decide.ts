import type { Principal } from '../../../auth/principal.ts'
import { nullsOf } from '../../../db/prepare-write.ts'
import { payments } from '../../../db/tables/payments.ts'
import type { Balance } from '../../../ledger/ledger.ts'
import { notFound, type Refusal } from '../../../lib/errors.ts'
import { feeOf } from '../../../lib/fees.ts'
import { formatId, newId, type Uuid } from '../../../lib/ids.ts'
import { assertPresent } from '../../../lib/lists.ts'
import type { Minor } from '../../../lib/money.ts'
import { effectiveTimeZone, periodsAt } from '../../../policy/calendar.ts'
import { chargesFor, evaluate } from '../../../policy/evaluate.ts'
import { packInputs } from '../../../policy/inputs.ts'
import { addUnapproved } from '../../../policy/scope.ts'
import type { Charge, Decision, Evaluation, MandateSignatureStatus, PayeePast } from '../../../policy/types.ts'
import type { KeyUse } from '../../../queue/idempotency-keys.ts'
import type { PaymentMandate } from '../../mandates/for-payments.ts'
import type { Parts } from '../../parts.ts'
import { presentDecision } from '../../policies/present.ts'
import { presentCreator } from '../../present-creator.ts'
import { contextOf, evaluationOf, type PaymentContext } from '../evaluation/context.ts'
import { addUsage, familyDay, type LockedState, type PaidTo } from '../evaluation/state.ts'
import type { PaymentRecord } from '../queries.ts'
import type { CreatePayment } from '../schema.ts'
import { checkBalance, checkDueTime, checkPreconditions, checkRailRules, denialOf, type ItemContext } from './preconditions.ts'

/** The locked state with the spendable balances. Each accepted payment changes the balances and the usage. */
export type SpendingState = LockedState & { balances: Map<Uuid, Balance> }
export type Deployment = Pick<Parts, 'config' | 'rails'>
export type Payer = Pick<
  Principal,
  'accountId' | 'capabilities' | 'grant' | 'grantFrozen' | 'originGrantId' | 'permissions' | 'workspace'
>
export type DecisionRequest = {
  principal: Payer
  input: CreatePayment
  mandateSignature: MandateSignatureStatus
  once?: Pick<KeyUse, 'key' | 'bodyHash'> | null
  traceparent?: string | null
  batchItem?: ItemContext | undefined
  /** Due time of a scheduled payment. */
  madeAt?: Date
  /** Fee of a scheduled payment, set at its creation; null: none. */
  feeMinor?: Minor | null
}
type LoadedRequest = DecisionRequest & { mandate: PaymentMandate | null; past: PayeePast }
export type Accepted = {
  payment: PaymentRecord
  decision: Decision
  /** The decision's inputs as JSON, stored in the payment's audit row so that the decision can be reproduced. */
  inputs: string
  charges: readonly Charge[]
  mandate: PaymentMandate | null
  /** `familyId`: the payee or, for an account at a paybill, the paybill. `lineage`: the requesting grant and its ancestors. */
  familyId: Uuid
  lineage: readonly Uuid[]
  /** The last amount paid to the same payee before; null: none. */
  lastAmountMinor: Minor | null
}
/** `denied`: a rule refused the payment. Set for the audit log. */
export type Refused = { refusal: Refusal; denied?: { decision: Decision; payee: string; amountMinor: Minor } }

type DecisionInput = { context: PaymentContext; evaluation: Evaluation }
type DecidedTerms = DecisionInput & { decision: Decision; at: Date; currency: string; feeMinor: Minor }

export const holdIds = (feeMinor: Minor | null) => ({
  holdTransferId: newId(),
  feeHoldTransferId: feeMinor ? newId() : null,
})

/** Columns that only a batch or a later change sets are null at first. */
const nulls = nullsOf(payments)

const recordOf = ({ principal, input, traceparent, once }: LoadedRequest, terms: DecidedTerms): PaymentRecord => {
  const { evaluation, decision, context, at, currency, feeMinor } = terms
  const needsApproval = decision.outcome === 'require_approval'
  const executeAt = input.execute_at ?? null
  return {
    ...nulls,
    id: newId(),
    workspaceId: principal.workspace.id,
    accountId: principal.workspace.balanceAccountId,
    status: executeAt ? 'scheduled' : needsApproval ? 'pending_approval' : 'processing',
    amountMinor: input.amount_minor,
    feeMinor: feeMinor || null,
    currency,
    beneficiaryId: context.beneficiary.id,
    payeeId: context.beneficiary.payeeId,
    paymentType: evaluation.payment.paymentType,
    purposeCode: input.purpose_code ?? null,
    rail: context.beneficiary.rail,
    accountReference: context.accountReference,
    narrative: input.narrative ?? null,
    metadata: input.metadata ?? {},
    mandateId: input.mandate_id ?? null,
    approvalId: needsApproval ? newId() : null,
    initiatorAccountId: principal.accountId,
    grantId: principal.grant?.id ?? null,
    snapshot: {
      decision: presentDecision(decision, currency),
      beneficiary: {
        id: formatId('beneficiary', context.beneficiary.id),
        display_name: context.beneficiary.displayName,
        destination_mask: context.beneficiary.destinationMask,
      },
      initiated_by: presentCreator({
        accountId: principal.accountId,
        grantId: principal.grant?.id ?? null,
        label: context.grants.at(-1)?.name ?? null,
      }),
    },
    idempotencyKey: once?.key ?? null,
    requestHash: once?.bodyHash ?? null,
    countedDay: evaluation.periods.day,
    ...(executeAt ? { executeAt, originGrantId: principal.originGrantId } : holdIds(feeMinor)),
    dispatchDueAt: needsApproval || executeAt ? null : at,
    traceparent: traceparent ?? null,
    createdAt: at,
    updatedAt: at,
  }
}

/** Counts an accepted payment in balances and usage, for the next decisions of the transaction. */
export const countAccepted = (
  state: SpendingState,
  { payment, charges, mandate, decision, familyId, lineage }: Accepted,
): void => {
  const { accountId, amountMinor, feeMinor, paymentType, rail, countedDay } = payment
  const heldMinor = amountMinor + (feeMinor ?? 0n)
  const balance = assertPresent(state.balances.get(accountId), 'a payment was accepted without a balance')
  state.balances.set(accountId, {
    ...balance,
    availableMinor: balance.availableMinor - heldMinor,
    heldMinor: balance.heldMinor + heldMinor,
  })
  addUsage(state, charges, amountMinor)
  const approvals = Math.max(decision.requiredApprovals, mandate ? 1 : 0)
  const family = familyDay(familyId, countedDay)
  const unapproved = { paymentType, rail, grantLineage: lineage, approvals, amountMinor }
  state.unapproved.set(family, addUnapproved(state.unapproved.get(family) ?? [], unapproved))
  if (!mandate) return
  mandate.rules.spentMinor += amountMinor
  mandate.rules.paymentsMade += 1
}

/** People may send a batch twice across a weekend, while programs repeat single payments within minutes. */
const minBatchWindowSeconds = 72 * 3600

export const paidTo = ({ principal, input }: Pick<LoadedRequest, 'principal' | 'input'>): PaidTo => ({
  workspaceId: principal.workspace.id,
  beneficiaryId: input.beneficiary_id,
  accountReference: input.account_reference ?? null,
})

/** The policy engine's input for a request. For a scheduled payment, the remaining limits are checked when it is due. */
export const prepareEvaluation = (
  state: LockedState,
  request: LoadedRequest,
  at: Date,
  { config }: Pick<Deployment, 'config'>,
): DecisionInput => {
  const windowSeconds = config.DUPLICATE_WINDOW_SECONDS
  const { principal, input, mandate, mandateSignature, batchItem } = request
  const { earlier, typicalAmountMinor } = request.past
  const { workspace, grant, accountId: initiatorAccountId } = principal
  const dueAt = input.execute_at ?? at
  const context = contextOf(state, paidTo(request), {
    lineage: grant?.lineage ?? [],
    periods: periodsAt(dueAt, effectiveTimeZone(workspace, dueAt)),
    withoutUsage: input.execute_at != null,
  })
  if (!context) throw notFound('beneficiary_id')
  const { rail } = context.beneficiary
  const requested = {
    initiatorAccountId,
    at,
    typicalAmountMinor,
    earlier,
    amountMinor: input.amount_minor,
    paymentType: input.payment_type ?? rail,
    ...(batchItem?.otherName && { otherName: batchItem.otherName }),
    // A confirmation covers only the earlier payment that it names.
    duplicateIsIntended: batchItem?.duplicatesIntended ?? (earlier !== null && input.duplicate_of === earlier.paymentId),
    onDuplicate: batchItem ? ('confirm' as const) : (input.on_duplicate ?? null),
    ...(batchItem?.listTotals && { listTotals: batchItem.listTotals }),
    duplicateWindowSeconds: batchItem ? Math.max(windowSeconds, minBatchWindowSeconds) : windowSeconds,
  }
  // Several requests may name one mandate, each with its own answer. A freeze may have come after that answer.
  const rules = mandate && { ...mandate.rules, ...(mandateSignature !== 'holds' && { standing: mandateSignature }) }
  return { context, evaluation: evaluationOf(context, requested, rules) }
}

/** The policy engine's input. Throws if something other than a spending rule refuses the payment. */
export const checkedEvaluation = (
  state: LockedState,
  request: LoadedRequest,
  at: Date,
  deployment: Deployment,
): DecisionInput => {
  const prepared = prepareEvaluation(state, request, at, deployment)
  const { context, evaluation } = prepared
  checkPreconditions(context, request.principal)
  checkRailRules(evaluation.payment, context, deployment.rails, deployment.config.CURRENCY)
  checkDueTime(request.input.execute_at ?? null, at)
  return prepared
}

/** Decides one request; counts and writes nothing. Throws for reasons other than a spending rule, such as a freeze. */
export const decidePayment = (
  state: SpendingState,
  request: LoadedRequest,
  at: Date,
  deployment: Deployment,
): Accepted | Refused => {
  const { principal, input, mandate, past, batchItem } = request
  const currency = deployment.config.CURRENCY
  const { context, evaluation } = checkedEvaluation(state, request, at, deployment)
  const decision = evaluate(evaluation)
  const { amount_minor: amountMinor, execute_at: executeAt } = input
  if (decision.outcome === 'deny')
    return {
      refusal: denialOf(decision, { earlier: past.earlier, batchItem, currency }),
      denied: { decision, payee: context.beneficiary.displayName, amountMinor },
    }
  const available = state.balances.get(principal.workspace.balanceAccountId)?.availableMinor ?? 0n
  const feeMinor =
    request.feeMinor === undefined
      ? feeOf(deployment.config.FEES, context.beneficiary.rail, amountMinor)
      : (request.feeMinor ?? 0n)
  if (!executeAt) checkBalance(principal, { available, amountMinor, feeMinor }, currency)
  return {
    payment: recordOf(request, { evaluation, decision, context, at, currency, feeMinor }),
    decision,
    inputs: JSON.stringify(packInputs(evaluation)),
    charges: executeAt ? [] : chargesFor(evaluation, request.madeAt ?? at),
    mandate,
    // Not the whole context, because a batch retains its accepted payments until it is written.
    familyId: context.beneficiary.familyId,
    lineage: context.lineage,
    lastAmountMinor: past.lastAmountMinor,
  }
}
