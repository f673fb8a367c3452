import { randomBytes } from 'node:crypto'
import type { Principal } from '../../../auth/principal.ts'
import { inTx, type Tx } from '../../../db/client.ts'
import { insertRow } from '../../../db/prepare-write.ts'
import { paymentBatches } from '../../../db/tables/payment-batches.ts'
import { appendEvents } from '../../../events/append.ts'
import { audit } from '../../../events/audit.ts'
import { getBalance } from '../../../ledger/ledger.ts'
import type { Clock } from '../../../lib/clock.ts'
import { catchRefusal, Refusal } from '../../../lib/errors.ts'
import { feeOf } from '../../../lib/fees.ts'
import { newId, type Uuid } from '../../../lib/ids.ts'
import { assertPresent, mapInChunks } from '../../../lib/lists.ts'
import { formatMinor } from '../../../lib/money.ts'
import { strictestProof } from '../../../lib/policy-answers.ts'
import { currentTraceparent } from '../../../lib/tracing.ts'
import { batchDenial } from '../../../policy/evaluate.ts'
import { createAccountQueue, type Outcome } from '../../../queue/account-queue.ts'
import { keyUserOf, type RecordAnswer, recordKeys } from '../../../queue/record-keys.ts'
import { type Answered, writeAll } from '../../../queue/write-path.ts'
import type { Parts } from '../../parts.ts'
import { presentDecision } from '../../policies/present.ts'
import { requestBatchApproval } from '../approvals/request.ts'
import { refusalOfRepeated } from '../batch/again.ts'
import { leafVersion, rootOfLeaves } from '../batch/leaf-rules.ts'
import { presentBatch } from '../batch/queries.ts'
import { approversUnder } from '../evaluation/context.ts'
import type { BatchQueue, BatchRequest, CreatedPayment, DecisionParts, Fault, Refusals } from '../request.ts'
import { formFaults, itemsById, type KnownItem, namesPayees, refusalForItems, resolveItems } from './batch-items.ts'
import { lineOf, type PayeeRow, payeesOf } from './batch-lines.ts'
import { type ComposedBatch, presentPreview } from './batch-preview.ts'
import type { Accepted, DecisionRequest } from './decide.ts'
import { batchTotalsByRule, type DecisionState, decideInTurn, readDecisionState } from './decide-in-turn.ts'
import { checkDueTime, type ItemContext } from './preconditions.ts'
import { serialize, writePayments } from './write.ts'

const batchKeys = recordKeys('payment_batches', {
  path: '/v1/payment-batches',
  kind: 'payment_batch',
  permission: 'payment.read',
})

type BatchState = {
  items: readonly KnownItem[]
  requests: readonly (DecisionRequest & { batchItem: ItemContext })[]
  decisionState: DecisionState
  payees: ReadonlyMap<Uuid, PayeeRow>
}
type DecidedBatch = ComposedBatch & { nonce: string; needs: ReturnType<typeof approvalNeeds> }

/** The strictest requirements of all items, because one approval covers the batch. Null if no item needs approval. */
const approvalNeeds = (accepted: readonly Accepted[]) => {
  const decisions = accepted.map(({ decision }) => decision).filter(({ outcome }) => outcome === 'require_approval')
  if (decisions.length === 0) return null
  // Each policy of an item may name the only approvers.
  const versions = new Map(accepted.flatMap(({ decision }) => decision.policyVersions).map((version) => [version.id, version]))
  return {
    requiredApprovals: Math.max(...decisions.map(({ requiredApprovals }) => requiredApprovals)),
    separationOfDuties: decisions.some(({ separationOfDuties }) => separationOfDuties),
    approvalProof: strictestProof(decisions.map(({ approvalProof }) => approvalProof)),
    policyVersions: [...versions.values()],
  }
}

const refusalForMissingApprovers = ({ state }: DecisionState, payment: Accepted['payment'], needs: DecidedBatch['needs']) => {
  const { workspaceId, currency } = payment
  const workspace = assertPresent(state.workspaces.get(workspaceId), 'a payment has no workspace')
  const input = { approvers: approversUnder(workspace, needs?.policyVersions ?? []), payment }
  const denial = needs && batchDenial(needs, state.policies.get(workspaceId) ?? [], input)
  if (!denial) return null
  const decision = presentDecision(denial, currency)
  const message = `${decision.explanation} One approval covers the whole batch: send its items as several batches. Nothing was created.`
  return new Refusal('policy_denied', { message, details: { decision, items: [] } })
}

/** Makes the batch's row, and completes its payments, which start or wait together. */
const composeBatch = async (
  deps: DecisionParts,
  { input, once, rows }: BatchRequest,
  {
    accepted,
    first,
    payees,
    needs,
  }: Pick<DecidedBatch, 'accepted' | 'needs'> & Pick<BatchState, 'payees'> & { first: Accepted['payment'] },
): Promise<DecidedBatch> => {
  const nonce = randomBytes(16).toString('hex')
  const lines = await mapInChunks(accepted, (item, index) => lineOf(deps, item, { payees, nonce, index }))
  const batchId = newId()
  // Fields of the request, which all of its payments have.
  const { workspaceId, accountId, currency, executeAt, initiatorAccountId, grantId, createdAt, updatedAt } = first
  const approvalId = needs && newId()
  const status = executeAt ? 'scheduled' : approvalId ? 'pending_approval' : 'processing'
  const batch: DecidedBatch['batch'] = {
    workspaceId,
    accountId,
    currency,
    executeAt,
    initiatorAccountId,
    grantId,
    createdAt,
    updatedAt,
    approvalId,
    status,
    id: batchId,
    itemsCount: accepted.length,
    totalMinor: accepted.reduce((total, { payment }) => total + payment.amountMinor, 0n),
    feesMinor: accepted.reduce((total, { payment }) => total + (payment.feeMinor ?? 0n), 0n) || null,
    againOf: input.againOf,
    merkleRoot: rootOfLeaves(lines.map(({ leaf }) => leaf)),
    name: input.name ?? null,
    metadata: input.metadata ?? {},
    leafVersion,
    duplicatesIntended: input.duplicates_intended ?? false,
    snapshot: null,
    idempotencyKey: once?.key ?? null,
    requestHash: once?.bodyHash ?? null,
    completedAt: null,
  }
  // Each item waits with the others, even if it needs no approval itself.
  const sharedByAllItems = { approvalId, status, dispatchDueAt: approvalId || executeAt ? null : createdAt } as const
  for (const [index, { payment }] of accepted.entries())
    Object.assign(payment, sharedByAllItems, {
      batchId,
      batchIndex: index,
      batchRow: rows?.[index] ?? null,
      batchLeaf: lines[index]?.leaf,
    })
  return { batch, nonce, needs, lines: lines.map(({ line }) => line), accepted }
}

/** Decides all items in order, each with the usage of the earlier ones. Reports every item that cannot be paid. */
const decideItems = async (
  deps: DecisionParts,
  request: BatchRequest,
  { principal, state, at, knownFaults }: { principal: Principal; state: BatchState; at: Date; knownFaults: readonly Fault[] },
): Promise<DecidedBatch | { faults: Fault[]; denied: number; batchRefusal?: Refusal }> => {
  const { decisionState, requests, payees } = state
  const listTotals = await batchTotalsByRule(decisionState, deps, { requests, principal, at })
  const decided = await mapInChunks(requests, (one, index) => {
    const item = { ...one, batchItem: { ...one.batchItem, listTotals } }
    return decideInTurn(decisionState, deps, { request: item, principal, index, at })
  })
  const faults = requests.flatMap(({ input, batchItem: { index } }, position): Fault[] => {
    const one = decided[position]
    if (!one || !('refusal' in one)) return []
    const name = payees.get(input.beneficiary_id)?.displayName ?? ''
    return [{ index, refusal: request.input.againOf ? refusalOfRepeated(one.refusal, name) : one.refusal }]
  })
  const accepted = decided.flatMap((one) => ('refusal' in one ? [] : [one]))
  const first = accepted[0]?.payment
  if (!first || knownFaults.length + faults.length > 0)
    return { faults: [...knownFaults, ...faults], denied: decided.filter((one) => 'denied' in one).length }
  const needs = approvalNeeds(accepted)
  const batchRefusal = refusalForMissingApprovers(decisionState, first, needs)
  if (batchRefusal) return { faults: [], denied: accepted.length, batchRefusal }
  return composeBatch(deps, request, { accepted, first, payees, needs })
}

const writeBatch = async (
  tx: Tx,
  deps: DecisionParts,
  { decisionState }: BatchState,
  decided: DecidedBatch,
  { principal, warnings }: { principal: Principal; warnings: BatchRequest['warnings'] },
): Promise<string> => {
  const { batch, accepted, lines, nonce, needs } = decided
  const data = presentBatch({ batch, counts: { [accepted[0]?.payment.status ?? 'processing']: accepted.length } })
  const snapshot = { ...data, warnings }
  insertRow(tx, paymentBatches, { ...batch, snapshot })
  const written = await mapInChunks(accepted, (one) => serialize(one, principal))
  await writePayments(tx, deps, written, decisionState.state)
  const { accountId, workspaceId } = batch
  audit(tx, principal, 'payment_batch.create', {
    subject: batch.id,
    after: {
      status: batch.status,
      items: batch.itemsCount,
      total_minor: formatMinor(batch.totalMinor),
      ...(batch.feesMinor !== null && { fees_minor: formatMinor(batch.feesMinor) }),
      merkle_root: batch.merkleRoot,
    },
  })
  tx.defer(appendEvents(tx, [{ type: 'payment_batch.created', accountId, workspaceId, data }]))
  const [first] = accepted
  if (first && needs) await requestBatchApproval(tx, deps, { principal, batch, payment: first.payment, needs, nonce, lines })
  return JSON.stringify(snapshot)
}

/** Reads the state of the items. Sent with the locks, or after new beneficiaries have been created. */
const readItems = async (tx: Tx, clock: Clock, request: BatchRequest, items: readonly KnownItem[]): Promise<BatchState> => {
  const { principal, traceparent } = request
  // A dry run accepts duplicates, so that its preview lists all of them.
  const duplicatesIntended = request.dryRun || (request.input.duplicates_intended ?? false)
  const requests = items.map(({ input, index, otherName }): BatchState['requests'][number] => {
    const batchItem = { duplicatesIntended, index, rows: request.rows, ...(otherName && { otherName }) }
    return { principal, input, mandateSignature: 'holds', traceparent, batchItem }
  })
  const ids = [...new Set(items.map(({ input }) => input.beneficiary_id))]
  const [decisionState, payees] = await Promise.all([readDecisionState(tx, clock, requests), tx.run(payeesOf, { ids })])
  return { items, requests, decisionState, payees: new Map(payees.map((payee) => [payee.id, payee])) }
}

const createBatch = (tx: Tx, deps: DecisionParts, request: BatchRequest): Promise<Outcome<Answered<RecordAnswer>>[]> => {
  const naming = namesPayees(request)
  return writeAll<BatchRequest, Principal, BatchState | null, RecordAnswer>(tx, [request], true, {
    keys: batchKeys,
    read: async (tx) => (naming ? null : readItems(tx, deps.clock, request, itemsById(request))),
    decide: async (tx, read, _request, principal) => {
      const dueTime = catchRefusal(() => checkDueTime(request.input.execute_at ?? null, tx.at))
      if (dueTime instanceof Refusal) return dueTime
      const faultsOfForm = formFaults(deps.rails, request)
      // New beneficiaries are created before the items are decided, and rolled back if the batch is not created.
      const undo = naming ? await tx.savepoint() : null
      const withBeneficiaries = read ? { items: read.items, faults: [] } : await resolveItems(tx, deps, principal, request)
      const state = read ?? (await readItems(tx, deps.clock, request, withBeneficiaries.items))
      const { balanceAccountId } = principal.workspace
      // If no beneficiary is known, no balance has been read yet.
      const { availableMinor: available } =
        state.decisionState.state.balances.get(balanceAccountId) ?? (await getBalance(tx, balanceAccountId))
      const decided = await decideItems(deps, request, {
        principal,
        state,
        at: tx.at,
        knownFaults: [...faultsOfForm, ...withBeneficiaries.faults],
      })
      if ('faults' in decided || request.dryRun) await undo?.()
      if ('faults' in decided) {
        const after = { items: request.input.items.length, denied: decided.denied }
        if (decided.denied > 0 && !request.dryRun) audit(tx, principal, 'payment_batch.denied', { after })
        if (decided.batchRefusal) return decided.batchRefusal
        const { CURRENCY: currency, FEES } = deps.config
        const fees = state.items.flatMap(({ index, input: { beneficiary_id: id, amount_minor: amount } }) => {
          const rail = state.payees.get(id)?.paymentRail
          return rail ? [[index, feeOf(FEES, rail, amount)] as const] : []
        })
        return refusalForItems(decided.faults, request, { principal, available, fees: new Map(fees), currency })
      }
      const text = request.dryRun
        ? JSON.stringify(presentPreview(decided, state.items, request))
        : await writeBatch(tx, deps, state, decided, { principal, warnings: request.warnings })
      return { id: decided.batch.id, text, usedBy: keyUserOf(principal) }
    },
    write: async () => undefined,
  })
}

/** Each batch has its own transaction, because it locks its account for longer. Single payments wait their turn at the lock. */
export const createBatchQueue = (deps: DecisionParts & Pick<Parts, 'db' | 'logger'>): BatchQueue =>
  createAccountQueue({
    name: 'payment batches',
    logger: deps.logger,
    work: async ([request]) => (request ? inTx(deps.db, (tx) => createBatch(tx, deps, request)) : []),
    maxShared: 1,
    maxWaiting: 2,
    maxQueued: 200,
  })

/** Creates all payments of a batch or none. Throws the error of a refused batch, and records the refusal. */
export const submitBatch = (
  batchQueue: BatchQueue,
  refusals: Refusals,
  request: Omit<BatchRequest, 'locks' | 'traceparent'>,
): Promise<CreatedPayment> =>
  refusals.recording({ kind: 'batch', ...request }, () => {
    const { accountId, workspace } = request.principal
    const locks = { exclusive: [workspace.balanceAccountId], shared: [accountId] }
    const queued = { ...request, locks, traceparent: currentTraceparent() }
    return batchQueue.submit(workspace.balanceAccountId, queued, { alone: true })
  })
