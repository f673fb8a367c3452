import { randomBytes } from 'node:crypto'
import type { Principal } from '../../../auth/principal.ts'
import { inTx, type Tx } from '../../../db/client.ts'
import { insertRow } from '../../../db/prepare-write.ts'
import { paymentBatches } from '../../../db/tables/payment-batches.ts'
import { appendEvents } from '../../../events/append.ts'
import { audit } from '../../../events/audit.ts'
import type { Clock } from '../../../lib/clock.ts'
import { Refusal } from '../../../lib/errors.ts'
import { newId, type Uuid } from '../../../lib/ids.ts'
import { inPortions } from '../../../lib/lists.ts'
import { formatMinor, type Minor } from '../../../lib/money.ts'
import { strictestProof } from '../../../lib/policy-answers.ts'
import { currentTraceparent } from '../../../lib/tracing.ts'
import { createAccountQueue, type Outcome } from '../../../queue/account-queue.ts'
import { keyUserOf, type RecordAnswer, recordKeys } from '../../../queue/record-keys.ts'
import { type Answered, writeAll } from '../../../queue/write-path.ts'
import type { Parts } from '../../parts.ts'
import type { BatchLine } from '../approvals/message.ts'
import { asked, requestBatchApproval } from '../approvals/request.ts'
import { leafVersion, rootOfLeaves } from '../batch/leaf-rules.ts'
import { presentBatch } from '../batch/present.ts'
import type { BatchRow } from '../batch/queries.ts'
import type { BatchQueue, BatchRequest, CreatedPayment, Deciding, Refusals } from '../request.ts'
import {
  type Fault,
  faultOf,
  formFaults,
  itemsById,
  type KnownItem,
  nameItems,
  namesPayees,
  refusalForItems,
} from './batch-items.ts'
import { lineOf, type PayeeRow, payeesOf, presentPreview } from './batch-lines.ts'
import type { Accepted, Denied } from './decide.ts'
import { type Ask, decideNext, listTotalsOf, readSpending, type Spending } from './spending.ts'
import { type Written, writePayments, writtenOut } from './write.ts'

const batchKeys = recordKeys('payment_batches', {
  path: '/v1/payment-batches',
  kind: 'payment_batch',
  permission: 'payment.read',
})

type State = { items: readonly KnownItem[]; asks: readonly Ask[]; spending: Spending; payees: ReadonlyMap<Uuid, PayeeRow> }
type Decided = { batch: BatchRow; accepted: Accepted[]; lines: BatchLine[]; nonce: string }
type Refused = { faults: Fault[]; denied: Denied[] }

/** About ten milliseconds of work. */
const portionSize = 64

const sum = (amounts: readonly Minor[]): Minor => amounts.reduce((total, amount) => total + amount, 0n)

/** One approval for the whole when any item needs one: the highest count, any separation of duties, any demand for signatures, all policies. */
const needsOf = (accepted: readonly Accepted[]) => {
  const held = accepted.filter(({ decision }) => decision.outcome === 'require_approval').map(({ decision }) => asked(decision))
  if (held.length === 0) return null
  const versions = new Map(held.flatMap(({ policyVersions }) => policyVersions).map((version) => [version.id, version]))
  return {
    requiredApprovals: Math.max(...held.map(({ requiredApprovals }) => requiredApprovals)),
    separationOfDuties: held.some(({ separationOfDuties }) => separationOfDuties),
    approvalProof: strictestProof(held.map(({ approvalProof }) => approvalProof)),
    policyVersions: [...versions.values()],
  }
}

const rowOf = (
  { principal, input, once }: BatchRequest,
  { accepted, root, held, at }: { accepted: readonly Accepted[]; root: string; held: boolean; at: Date },
): BatchRow => ({
  id: newId(),
  workspaceId: principal.workspace.id,
  accountId: principal.workspace.owningAccountId,
  status: input.execute_at ? 'scheduled' : held ? 'pending_approval' : 'processing',
  name: input.name ?? null,
  metadata: input.metadata ?? {},
  itemsCount: accepted.length,
  totalMinor: sum(accepted.map(({ payment }) => payment.amountMinor)),
  currency: accepted[0]?.payment.currency ?? '',
  merkleRoot: root,
  leafVersion,
  duplicatesIntended: input.duplicates_intended ?? false,
  approvalId: held ? newId() : null,
  executeAt: input.execute_at ?? null,
  initiatorAccountId: principal.accountId,
  grantId: principal.grant?.id ?? null,
  snapshot: null,
  idempotencyKey: once?.key ?? null,
  requestHash: once?.bodyHash ?? null,
  createdAt: at,
  updatedAt: at,
  completedAt: null,
})

/** An item of the batch: it waits with the others even if it needs no approval itself. */
const asItem = (
  one: Accepted,
  batch: BatchRow,
  { index, row, leaf }: { index: number; row: number | null; leaf: string },
): Accepted => ({
  ...one,
  payment: {
    ...one.payment,
    batchId: batch.id,
    batchIndex: index,
    batchRow: row,
    batchLeaf: leaf,
    approvalId: batch.approvalId,
    // As the whole batch is: the status of a batch that is only just created is one of a payment.
    status: batch.status === 'scheduled' ? 'scheduled' : batch.approvalId ? 'pending_approval' : 'processing',
    dispatchDueAt: batch.approvalId || batch.executeAt ? null : batch.createdAt,
  },
})

/** All items, one after the other: each sees what the earlier ones used. What cannot be paid is found for all of them at once. */
const decideItems = async (
  deps: Deciding,
  {
    request,
    principal,
    state,
    at,
    known,
  }: { request: BatchRequest; principal: Principal; state: State; at: Date; known: readonly Fault[] },
): Promise<Decided | Refused> => {
  const faults = [...known]
  const denied: Denied[] = []
  const items: Accepted[] = []
  const listTotals = listTotalsOf(state.spending, deps.config, deps.rails, { asks: state.asks, principal, at })
  await inPortions(state.items, portionSize, ({ index }, place) => {
    const ask = state.asks[place]
    if (!ask?.ofBatch) throw new Error('an item has no request')
    const ofBatch = { ...ask.ofBatch, listTotals }
    const decided = decideNext(state.spending, deps.config, deps.rails, { ask: { ...ask, ofBatch }, principal, index: place, at })
    if (decided instanceof Refusal) faults.push(faultOf(index, decided))
    else if (decided.kind === 'accepted') items.push(decided)
    else {
      faults.push(faultOf(index, decided.refusal))
      denied.push(decided)
    }
  })
  if (faults.length > 0) return { faults, denied }
  const nonce = randomBytes(16).toString('hex')
  const lines: ReturnType<typeof lineOf>[] = []
  await inPortions(items, portionSize, (item, index) => {
    lines.push(lineOf(deps, item, { payees: state.payees, nonce, index }))
  })
  const root = rootOfLeaves(lines.map(({ leaf }) => leaf))
  const batch = rowOf(request, { accepted: items, root, held: needsOf(items) !== null, at })
  return {
    batch,
    nonce,
    lines: lines.map(({ line }) => line),
    accepted: items.map((one, index) =>
      asItem(one, batch, { index, row: request.rows?.[index] ?? null, leaf: lines[index]?.leaf ?? '' }),
    ),
  }
}

const writeOut = async (accepted: readonly Accepted[], principal: Principal): Promise<Written[]> => {
  const written: Written[] = []
  await inPortions(accepted, portionSize, (one) => {
    written.push(writtenOut(one, principal))
  })
  return written
}

/** The batch, its payments by the same statements as single ones, and its approval. */
const writeBatch = async (
  tx: Tx,
  deps: Deciding,
  { spending }: State,
  principal: Principal,
  decided: Decided,
): Promise<string> => {
  const { batch, accepted, lines, nonce } = decided
  const snapshot = presentBatch({ batch, counts: { [accepted[0]?.payment.status ?? 'processing']: accepted.length } })
  insertRow(tx, paymentBatches, { ...batch, snapshot })
  const written = await writeOut(accepted, principal)
  await writePayments(tx, deps, { accepted: written, denied: [], state: spending.state })
  const { accountId, workspaceId } = batch
  audit(tx, principal, 'payment_batch.create', {
    subject: batch.id,
    after: {
      status: batch.status,
      items: batch.itemsCount,
      total_minor: formatMinor(batch.totalMinor),
      merkle_root: batch.merkleRoot,
    },
  })
  tx.defer(appendEvents(tx, [{ type: 'payment_batch.created', accountId, workspaceId, data: snapshot }]))
  const [first] = accepted
  const needs = needsOf(accepted)
  if (first && needs)
    await requestBatchApproval(tx, deps.config, {
      principal,
      batch,
      payment: first.payment,
      needs,
      nonce,
      lines,
    })
  return JSON.stringify(snapshot)
}

/** Everything that the items depend on: with the locks, or once their beneficiaries are there. */
const readItems = async (tx: Tx, clock: Clock, request: BatchRequest, items: readonly KnownItem[]): Promise<State> => {
  const { principal, traceparent } = request
  // A dry run says of everything that would have to be confirmed.
  const duplicatesIntended = request.dryRun || (request.input.duplicates_intended ?? false)
  const asks = items.map(({ input, index, otherName }): Ask => {
    const ofBatch = { duplicatesIntended, index, rows: request.rows, ...(otherName && { otherName }) }
    return { principal, input, once: null, standing: 'holds', traceparent, ofBatch }
  })
  const ids = [...new Set(items.map(({ input }) => input.beneficiary_id))]
  const [spending, payees] = await Promise.all([readSpending(tx, clock, asks), tx.run(payeesOf, { ids })])
  return { items, asks, spending, payees: new Map(payees.map((payee) => [payee.id, payee])) }
}

const refuse = (
  tx: Tx,
  request: BatchRequest,
  principal: Principal,
  { faults, denied }: Refused,
  payer: { balances: Spending['before']; currency: string },
) => {
  const after = { items: request.input.items.length, denied: denied.length }
  if (denied.length > 0) audit(tx, principal, 'payment_batch.denied', { after })
  return refusalForItems(faults, request, { principal, ...payer })
}

const createBatch = (tx: Tx, deps: Deciding, request: BatchRequest): Promise<Outcome<Answered<RecordAnswer>>[]> => {
  const naming = namesPayees(request)
  return writeAll<BatchRequest, Principal, State | null, RecordAnswer>(tx, [request], true, {
    keys: batchKeys,
    again: (answer) => answer,
    read: async (tx) => (naming ? null : readItems(tx, deps.clock, request, itemsById(request))),
    decide: async (tx, read, _request, principal) => {
      const known = formFaults(deps.rails, request)
      // New beneficiaries are created before the items are decided, and are undone when nothing else is created.
      const undo = naming ? await tx.savepoint() : null
      const named = read ? { items: read.items, faults: [] } : await nameItems(tx, deps, principal, request)
      const state = read ?? (await readItems(tx, deps.clock, request, named.items))
      const decided = await decideItems(deps, { request, principal, state, at: tx.at, known: [...known, ...named.faults] })
      if ('batch' in decided && !request.dryRun) {
        const text = await writeBatch(tx, deps, state, principal, decided)
        return { id: decided.batch.id, text, by: keyUserOf(principal) }
      }
      await undo?.()
      if ('faults' in decided)
        return refuse(tx, request, principal, decided, { balances: state.spending.before, currency: deps.config.CURRENCY })
      const preview = presentPreview(decided, state.items, request.rows)
      return { id: decided.batch.id, text: JSON.stringify(preview), by: keyUserOf(principal) }
    },
    write: async () => undefined,
  })
}

/**
 * Batches of payments, each in a transaction of its own: it holds its account for longer than a single payment does, whose requests go on in
 * their own queue and take turns with it at the account's lock.
 */
export const createBatchQueue = (deps: Deciding & Pick<Parts, 'db' | 'logger'>): BatchQueue =>
  createAccountQueue({
    name: 'payment batches',
    logger: deps.logger,
    work: async ([request]) => (request ? inTx(deps.db, (tx) => createBatch(tx, deps, request)) : []),
    mostShared: 1,
    mostWaiting: 2,
    mostQueued: 200,
  })

/** Decides a batch of payments, all of them or none. Throws its refusal, which is recorded. */
export const submitBatch = (
  batchQueue: BatchQueue,
  refusals: Refusals,
  request: Omit<BatchRequest, 'locks' | 'traceparent'>,
): Promise<CreatedPayment> =>
  refusals.recording(request, () => {
    const { accountId, workspace } = request.principal
    const locks = { exclusive: [workspace.owningAccountId], shared: [accountId] }
    const queued = { ...request, locks, traceparent: currentTraceparent() }
    return batchQueue.submit(workspace.owningAccountId, queued, { alone: true })
  })
