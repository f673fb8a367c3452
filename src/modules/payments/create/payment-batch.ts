import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import type { Principal } from '../../../auth/principal.ts'
import { inTx, type Tx } from '../../../db/client.ts'
import { prepare } from '../../../db/prepare.ts'
import { insertRow } from '../../../db/prepare-write.ts'
import { beneficiaries } from '../../../db/tables/beneficiaries.ts'
import { paymentBatches } from '../../../db/tables/payment-batches.ts'
import { appendEvents } from '../../../events/append.ts'
import { audit } from '../../../events/audit.ts'
import { presenter } from '../../../http/presenter.ts'
import { getBalance } from '../../../ledger/ledger.ts'
import { type Clock, isoTime } from '../../../lib/clock.ts'
import { catchRefusal, Refusal } from '../../../lib/errors.ts'
import { feeOf } from '../../../lib/fees.ts'
import { formatId, newId, type Uuid } from '../../../lib/ids.ts'
import { assertPresent, mapInChunks } from '../../../lib/lists.ts'
import { formatMinor } from '../../../lib/money.ts'
import { strictestProof } from '../../../lib/policy-answers.ts'
import { currentTraceparent } from '../../../lib/tracing.ts'
import { batchDenial } from '../../../policy/evaluate.ts'
import { createAccountQueue, type Outcome } from '../../../queue/account-queue.ts'
import { keyUserOf, type RecordAnswer, recordKeys } from '../../../queue/record-keys.ts'
import { type Answered, writeAll } from '../../../queue/write-path.ts'
import { isBeingChecked } from '../../beneficiaries/payee-queries.ts'
import type { Sealing } from '../../beneficiaries/service.ts'
import type { Parts } from '../../parts.ts'
import { presentDecision, presentWarning } from '../../policies/present.ts'
import type { BatchLine } from '../approvals/message.ts'
import { digestOf, requestBatchApproval } from '../approvals/request.ts'
import { refusalOfRepeated } from '../batch/again.ts'
import { leafText, leafVersion, rootOfLeaves } from '../batch/leaf-rules.ts'
import { type BatchRow, presentBatch } from '../batch/queries.ts'
import { PaymentBatchPreview } from '../batch/schema.ts'
import { approversUnder } from '../evaluation/context.ts'
import type { BatchQueue, BatchRequest, CreatedPayment, Deciding, Refusals } from '../request.ts'
import { type Fault, formFaults, itemsById, type KnownItem, nameItems, namesPayees, refusalForItems } from './batch-items.ts'
import type { Accepted, DecisionRequest } from './decide.ts'
import { batchTotalsByRule, type DecisionState, decideInTurn, readDecisionState } from './decide-in-turn.ts'
import { checkDueTime, type OfBatch } from './preconditions.ts'
import { writePayments, writtenOut } from './write.ts'

const batchKeys = recordKeys('payment_batches', {
  path: '/v1/payment-batches',
  kind: 'payment_batch',
  permission: 'payment.read',
})

const payeesOf = prepare('payment_batches.payees', { ids: 'uuid[]' }, (orm, param) =>
  orm.select().from(beneficiaries).where(sql`${beneficiaries.id} = any(${param.ids})`),
)
type PayeeRow = typeof beneficiaries.$inferSelect

const lineOf = (
  deps: Sealing,
  { payment, decision, lastAmountMinor }: Accepted,
  { payees, nonce, index }: { payees: ReadonlyMap<Uuid, PayeeRow>; nonce: string; index: number },
): { line: BatchLine; leaf: string } => {
  const payee = assertPresent(payees.get(payment.beneficiaryId), 'an accepted payment has no beneficiary')
  const { beneficiaryId, payeeId, rail, amountMinor } = payment
  const { displayName: payeeName, destinationMask, verification, reportedName, nameSource } = payee
  const line: BatchLine = {
    ...{ beneficiaryId, payeeId, payeeName, rail, amountMinor, destinationMask },
    ...{ verification, reportedName, nameSource, lastAmountMinor },
    isFirst: lastAmountMinor === null,
    isBeingChecked: isBeingChecked(deps.rails, payee),
    warnings: decision.warnings.map(presentWarning),
  }
  const destinationDigest = digestOf(deps, nonce, payee)
  return { line, leaf: leafText({ ...payment, index, payeeName, destinationMask, destinationDigest }) }
}

type State = {
  items: readonly KnownItem[]
  requests: readonly (DecisionRequest & { ofBatch: OfBatch })[]
  decisionState: DecisionState
  payees: ReadonlyMap<Uuid, PayeeRow>
}
type Decided = {
  batch: BatchRow & { status: PaymentBatchPreview['status'] }
  accepted: Accepted[]
  lines: BatchLine[]
  nonce: string
  needs: ReturnType<typeof needsOf>
}

/**
 * Requirements of the batch's only approval; null if no item needs one. Combines the highest number of approvals, the policies
 * of all items, since each may name the only approvers, and separation of duties or signatures if any item requires them.
 */
const needsOf = (accepted: readonly Accepted[]) => {
  const decisions = accepted.map(({ decision }) => decision).filter(({ outcome }) => outcome === 'require_approval')
  if (decisions.length === 0) return null
  const versions = new Map(accepted.flatMap(({ decision }) => decision.policyVersions).map((version) => [version.id, version]))
  return {
    requiredApprovals: Math.max(...decisions.map(({ requiredApprovals }) => requiredApprovals)),
    separationOfDuties: decisions.some(({ separationOfDuties }) => separationOfDuties),
    approvalProof: strictestProof(decisions.map(({ approvalProof }) => approvalProof)),
    policyVersions: [...versions.values()],
  }
}

/** Returns the refusal of a batch whose only approval too few people can give. */
const lacksApprovers = ({ state }: DecisionState, payment: Accepted['payment'], needs: Decided['needs']): Refusal | null => {
  const { workspaceId, currency } = payment
  const workspace = assertPresent(state.workspaces.get(workspaceId), 'a payment has no workspace')
  const input = { approvers: approversUnder(workspace, needs?.policyVersions ?? []), payment }
  const denial = needs && batchDenial(needs, state.policies.get(workspaceId) ?? [], input)
  if (!denial) return null
  const decision = presentDecision(denial, currency)
  const message = `${decision.explanation} One approval covers the whole batch: send its items as several batches. Nothing was created.`
  return new Refusal('policy_denied', { message, details: { decision, items: [] } })
}

/** Decides all items in order, each with the usage of the earlier ones. Reports every item that cannot be paid. */
const decideItems = async (
  deps: Deciding,
  request: BatchRequest,
  { principal, state, at, known }: { principal: Principal; state: State; at: Date; known: readonly Fault[] },
): Promise<Decided | { faults: Fault[]; denied: number; whole?: Refusal }> => {
  const { decisionState, requests, payees } = state
  const listTotals = await batchTotalsByRule(decisionState, deps, { requests, principal, at })
  const decided = await mapInChunks(requests, (one, index) => {
    const item = { ...one, ofBatch: { ...one.ofBatch, listTotals } }
    return decideInTurn(decisionState, deps, { request: item, principal, index, at })
  })
  const faults = requests.flatMap(({ input, ofBatch: { index } }, position): Fault[] => {
    const one = decided[position]
    if (!one || !('refusal' in one)) return []
    const name = payees.get(input.beneficiary_id)?.displayName ?? ''
    return [{ index, refusal: request.input.againOf ? refusalOfRepeated(one.refusal, name) : one.refusal }]
  })
  const items = decided.flatMap((one) => ('refusal' in one ? [] : [one]))
  const [first] = items
  if (!first || known.length + faults.length > 0)
    return { faults: [...known, ...faults], denied: decided.filter((one) => 'denied' in one).length }
  const needs = needsOf(items)
  const whole = lacksApprovers(decisionState, first.payment, needs)
  if (whole) return { faults: [], denied: items.length, whole }
  const nonce = randomBytes(16).toString('hex')
  const lines = await mapInChunks(items, (item, index) => lineOf(deps, item, { payees, nonce, index }))
  const batchId = newId()
  const { input, once, rows } = request
  // The batch copies these fields of the request from its first payment.
  const { workspaceId, accountId, currency, executeAt, initiatorAccountId, grantId, createdAt, updatedAt } = first.payment
  const approvalId = needs && newId()
  const status = executeAt ? 'scheduled' : approvalId ? 'pending_approval' : 'processing'
  const batch: Decided['batch'] = {
    ...{ workspaceId, accountId, currency, executeAt, initiatorAccountId, grantId, createdAt, updatedAt, approvalId, status },
    id: batchId,
    itemsCount: items.length,
    totalMinor: items.reduce((total, { payment }) => total + payment.amountMinor, 0n),
    feesMinor: items.reduce((total, { payment }) => total + (payment.feeMinor ?? 0n), 0n) || null,
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
  const waits = { approvalId, status, dispatchDueAt: approvalId || executeAt ? null : at } as const
  for (const [index, { payment }] of items.entries())
    Object.assign(payment, waits, { batchId, batchIndex: index, batchRow: rows?.[index] ?? null, batchLeaf: lines[index]?.leaf })
  return { batch, nonce, needs, lines: lines.map(({ line }) => line), accepted: items }
}

const shownPreview = presenter(PaymentBatchPreview)

const presentPreview = (
  { batch, accepted, lines }: Decided,
  items: readonly KnownItem[],
  { rows, ignored }: Pick<BatchRequest, 'rows' | 'ignored'>,
): PaymentBatchPreview => {
  const rowAt = (index: number) => rows?.[index] ?? null
  const created = new Set(items.flatMap(({ isNew, input }) => (isNew ? [input.beneficiary_id] : [])))
  return shownPreview(batch, {
    fees_minor: formatMinor(batch.feesMinor ?? 0n),
    required_approvals: Math.max(0, ...accepted.map(({ decision }) => decision.requiredApprovals)),
    new_payees_count: created.size,
    warnings:
      ignored.length > 0
        ? [
            {
              code: 'columns_ignored',
              message: `These columns say nothing about whom or how much, and are left out: ${ignored.join(', ')}.`,
            },
          ]
        : [],
    items: accepted.map(({ payment, decision }, index) => {
      const isNew = created.has(payment.beneficiaryId)
      const same = decision.warnings.find((warning) => warning.code === 'possible_duplicate')
      const other = decision.warnings.find((warning) => warning.code === 'name_differs')
      const sameIndex = same?.listIndex ?? null
      return {
        index,
        row: rowAt(index),
        payee: isNew ? 'new' : 'known',
        beneficiary_id: isNew ? null : formatId('beneficiary', payment.beneficiaryId),
        display_name: lines[index]?.payeeName ?? '',
        destination_mask: lines[index]?.destinationMask ?? '',
        amount_minor: formatMinor(payment.amountMinor),
        outcome: decision.outcome === 'require_approval' ? 'require_approval' : 'allow',
        warnings: decision.warnings.map(({ code }) => code),
        given_name: other?.givenName ?? null,
        looks_like: same
          ? {
              payment_id: sameIndex === null ? formatId('payment', same.paymentId as Uuid) : null,
              index: sameIndex,
              row: sameIndex === null ? null : rowAt(sameIndex),
              created_at: isoTime(same.createdAt),
            }
          : null,
      }
    }),
  })
}

const writeBatch = async (
  tx: Tx,
  deps: Deciding,
  { decisionState }: State,
  principal: Principal,
  decided: Decided,
): Promise<string> => {
  const { batch, accepted, lines, nonce, needs } = decided
  const snapshot = presentBatch({ batch, counts: { [accepted[0]?.payment.status ?? 'processing']: accepted.length } })
  insertRow(tx, paymentBatches, { ...batch, snapshot })
  const written = await mapInChunks(accepted, (one) => writtenOut(one, principal))
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
  tx.defer(appendEvents(tx, [{ type: 'payment_batch.created', accountId, workspaceId, data: snapshot }]))
  const [first] = accepted
  if (first && needs) await requestBatchApproval(tx, deps, { principal, batch, payment: first.payment, needs, nonce, lines })
  return JSON.stringify(snapshot)
}

/** Reads the state for the items, together with the locks or, if beneficiaries had to be created, afterwards. */
const readItems = async (tx: Tx, clock: Clock, request: BatchRequest, items: readonly KnownItem[]): Promise<State> => {
  const { principal, traceparent } = request
  // A dry run accepts duplicates, so that its preview lists all of them.
  const duplicatesIntended = request.dryRun || (request.input.duplicates_intended ?? false)
  const requests = items.map(({ input, index, otherName }): State['requests'][number] => {
    const ofBatch = { duplicatesIntended, index, rows: request.rows, ...(otherName && { otherName }) }
    return { principal, input, mandateSignature: 'holds', traceparent, ofBatch }
  })
  const ids = [...new Set(items.map(({ input }) => input.beneficiary_id))]
  const [decisionState, payees] = await Promise.all([readDecisionState(tx, clock, requests), tx.run(payeesOf, { ids })])
  return { items, requests, decisionState, payees: new Map(payees.map((payee) => [payee.id, payee])) }
}

const createBatch = (tx: Tx, deps: Deciding, request: BatchRequest): Promise<Outcome<Answered<RecordAnswer>>[]> => {
  const naming = namesPayees(request)
  return writeAll<BatchRequest, Principal, State | null, RecordAnswer>(tx, [request], true, {
    keys: batchKeys,
    read: async (tx) => (naming ? null : readItems(tx, deps.clock, request, itemsById(request))),
    decide: async (tx, read, _request, principal) => {
      const dueTime = catchRefusal(() => checkDueTime(request.input.execute_at ?? null, tx.at))
      if (dueTime instanceof Refusal) return dueTime
      const known = formFaults(deps.rails, request)
      // New beneficiaries are created before the items are decided, and rolled back if the batch is not created.
      const undo = naming ? await tx.savepoint() : null
      const named = read ? { items: read.items, faults: [] } : await nameItems(tx, deps, principal, request)
      const state = read ?? (await readItems(tx, deps.clock, request, named.items))
      const { balanceAccountId } = principal.workspace
      // If no beneficiary is known, no balance has been read yet.
      const { availableMinor: available } =
        state.decisionState.state.balances.get(balanceAccountId) ?? (await getBalance(tx, balanceAccountId))
      const decided = await decideItems(deps, request, { principal, state, at: tx.at, known: [...known, ...named.faults] })
      if ('batch' in decided && !request.dryRun) {
        const text = await writeBatch(tx, deps, state, principal, decided)
        return { id: decided.batch.id, text, by: keyUserOf(principal) }
      }
      await undo?.()
      if ('faults' in decided) {
        const after = { items: request.input.items.length, denied: decided.denied }
        if (decided.denied > 0 && !request.dryRun) audit(tx, principal, 'payment_batch.denied', { after })
        if (decided.whole) return decided.whole
        const { CURRENCY: currency, FEES } = deps.config
        const fees = state.items.flatMap(({ index, input: { beneficiary_id: id, amount_minor: amount } }) => {
          const rail = state.payees.get(id)?.paymentRail
          return rail ? [[index, feeOf(FEES, rail, amount)] as const] : []
        })
        return refusalForItems(decided.faults, request, { principal, available, fees: new Map(fees), currency })
      }
      const preview = presentPreview(decided, state.items, request)
      return { id: decided.batch.id, text: JSON.stringify(preview), by: keyUserOf(principal) }
    },
    write: async () => undefined,
  })
}

/** Each batch has its own transaction, because it locks its account for longer. Single payments wait their turn at the lock. */
export const createBatchQueue = (deps: Deciding & Pick<Parts, 'db' | 'logger'>): BatchQueue =>
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
