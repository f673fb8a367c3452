import { statement, type Tx } from '../../../db/client.ts'
import { bytesList, documentList, documents, plainList, textList, timeList } from '../../../db/lists.ts'
import type { NewEvent } from '../../../events/append.ts'
import { type ActedEntry, auditAll } from '../../../events/audit.ts'
import { holdAll } from '../../../ledger/ledger.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { pack } from '../../../lib/packed-text.ts'
import { presentAccount } from '../../identity/accounts/present.ts'
import { presentDecision } from '../../policies/present.ts'
import type { Deps } from '../deps.ts'
import { chargeCounters } from '../evaluation/counters.ts'
import { presentPayment } from '../present.ts'
import type { Accepted, Denied, SpendingState } from './decide.ts'

/** One parameter for each column; a value that all payments of a batch share is sent once. */
const insert = statement(
  'payments.insert',
  `insert into payments (id, workspace_id, account_id, status, amount_minor, currency, beneficiary_id, payee_id, payment_type, rail,
     account_reference, narrative, metadata, mandate_id, approval_id, initiator_account_id, grant_id, snapshot, idempotency_key, request_hash,
     counted_day, hold_transfer_id, batch_id, batch_index, batch_leaf, dispatch_due_at, traceparent, created_at, updated_at,
     execute_at, origin_grant_id)
   select id, workspace, account, status, amount, $26, beneficiary, payee, type, rail, reference, narrative, metadata::jsonb, mandate,
     approval, initiator, grant_id, snapshot, key, hash, day, hold, batch, place, leaf,
     case when status = 'processing' then $27::timestamptz end, trace, $27, $27, execute_at, origin
   from rows from (unnest($1::uuid[]), unnest($2::uuid[]), unnest($3::uuid[]), unnest($4::text[]), unnest($5::bigint[]),
     unnest($6::uuid[]), unnest($7::uuid[]), unnest($8::text[]), unnest($9::text[]), unnest($10::text[]), unnest($11::text[]),
     ${documents(12)}, unnest($13::uuid[]), unnest($14::uuid[]), unnest($15::uuid[]), unnest($16::uuid[]), unnest($17::bytea[]),
     unnest($18::text[]), unnest($19::date[]), unnest($20::uuid[]), unnest($21::text[]), unnest($22::bytea[]),
     unnest($23::uuid[]), unnest($24::int[]), unnest($25::text[]), unnest($28::timestamptz[]), unnest($29::uuid[]))
     as p(id, workspace, account, status, amount, beneficiary, payee, type, rail, reference, narrative, metadata, mandate, approval,
       initiator, grant_id, snapshot, key, day, hold, trace, hash, batch, place, leaf, execute_at, origin)`,
)

const insertValues = (written: readonly Written[], at: Date) => {
  const rows = written.map(({ payment }) => payment)
  return [
    plainList(rows.map(({ id }) => id)),
    plainList(rows.map(({ workspaceId }) => workspaceId)),
    plainList(rows.map(({ accountId }) => accountId)),
    plainList(rows.map(({ status }) => status)),
    plainList(rows.map(({ amountMinor }) => amountMinor)),
    plainList(rows.map(({ beneficiaryId }) => beneficiaryId)),
    plainList(rows.map(({ payeeId }) => payeeId)),
    textList(rows.map(({ paymentType }) => paymentType)),
    plainList(rows.map(({ rail }) => rail)),
    textList(rows.map(({ accountReference }) => accountReference)),
    textList(rows.map(({ narrative }) => narrative)),
    documentList(rows.map(({ metadata }) => JSON.stringify(metadata))),
    plainList(rows.map(({ mandateId }) => mandateId)),
    plainList(rows.map(({ approvalId }) => approvalId)),
    plainList(rows.map(({ initiatorAccountId }) => initiatorAccountId)),
    plainList(rows.map(({ grantId }) => grantId)),
    bytesList(written.map(({ packed }) => packed)),
    textList(rows.map(({ idempotencyKey }) => idempotencyKey)),
    plainList(rows.map(({ countedDay }) => countedDay)),
    plainList(rows.map(({ holdTransferId }) => holdTransferId)),
    textList(rows.map(({ traceparent }) => traceparent)),
    bytesList(rows.map(({ requestHash }) => requestHash)),
    plainList(rows.map(({ batchId }) => batchId)),
    plainList(rows.map(({ batchIndex }) => batchIndex)),
    textList(rows.map(({ batchLeaf }) => batchLeaf)),
    rows[0]?.currency ?? '',
    at,
    timeList(rows.map(({ executeAt }) => executeAt)),
    plainList(rows.map(({ originGrantId }) => originGrantId)),
  ]
}

/** What is needed to decide and write a batch. */
export type BatchDeps = Pick<Deps, 'appendEvents' | 'approvals' | 'clock' | 'config' | 'jobs' | 'mandates' | 'rails'>

/**
 * `text`: the payment as JSON on the wire, which `packed` keeps. Its events and the stored response of its idempotency key refer to this
 * snapshot.
 */
export type Written = Accepted & { text: string; packed: Buffer }

export const writtenOut = (accepted: Accepted): Written => {
  const text = JSON.stringify(presentPayment(accepted.payment))
  return { ...accepted, text, packed: pack('record', text) }
}

/** A scheduled payment holds nothing. */
const isHeld = ({ holdTransferId }: Accepted['payment']): boolean => holdTransferId !== null

/** The balances after all of the payments: no reader ever saw the states in between. */
const balanceEvents = (owners: readonly Uuid[], state: SpendingState, currency: string): NewEvent[] =>
  owners.flatMap((accountId) => {
    const owner = state.owners.get(accountId)
    const balance = state.balances.get(accountId)
    if (!owner || !balance) return []
    return [{ type: 'balance.updated', accountId, workspaceId: null, data: presentAccount(owner, balance, currency) }]
  })

const eventsOf = (accepted: readonly Written[], state: SpendingState): NewEvent[] => {
  const events: NewEvent[] = []
  const owners = new Set<Uuid>()
  for (const { payment } of accepted) {
    const { id: paymentId, accountId, workspaceId, status } = payment
    events.push({ type: 'payment.created', accountId, workspaceId, paymentId })
    if (status === 'processing') events.push({ type: 'payment.processing', accountId, workspaceId, paymentId })
    if (isHeld(payment)) owners.add(accountId)
  }
  return [...events, ...balanceEvents([...owners], state, accepted[0]?.payment.currency ?? '')]
}

const auditOf = (accepted: readonly Written[], denied: readonly Denied[], currency: string): ActedEntry[] => [
  ...accepted.map(
    ({ principal, payment, decision, inputs }): ActedEntry => ({
      actor: principal,
      action: 'payment.create',
      subject: { type: 'payment', id: payment.id },
      after: {
        status: payment.status,
        amount_minor: payment.amountMinor.toString(),
        beneficiary: payment.snapshot.beneficiary.display_name,
        outcome: decision.outcome,
      },
      inputs,
    }),
  ),
  ...denied.map(
    ({ principal, decision, payee, amountMinor }): ActedEntry => ({
      actor: principal,
      action: 'payment.denied',
      after: {
        amount_minor: amountMinor.toString(),
        beneficiary: payee,
        decision: presentDecision(decision, currency),
      },
    }),
  ),
]

/** What is left on the account after each hold. The owners' balances are those after the last hold. */
const holdsOf = (accepted: readonly Accepted[], state: SpendingState) => {
  const available = new Map([...state.balances].map(([id, balance]) => [id, balance.availableMinor]))
  return accepted
    .toReversed()
    .flatMap(({ payment }) => {
      const { holdTransferId: transferId } = payment
      if (transferId === null) return []
      const availableAfterMinor = available.get(payment.accountId) ?? 0n
      available.set(payment.accountId, availableAfterMinor + payment.amountMinor)
      const { accountId: ownerId, amountMinor, id: paymentId } = payment
      return [{ transferId, ownerId, amountMinor, paymentId, availableAfterMinor }]
    })
    .toReversed()
}

/** Holds the money of payments that are sent now, and counts them against their limits. */
const takeMoney = (tx: Tx, accepted: readonly Accepted[], state: SpendingState): void => {
  const held = accepted.filter(({ payment }) => isHeld(payment))
  if (held.length === 0) return
  tx.defer(holdAll(tx, holdsOf(held, state), tx.at))
  tx.defer(chargeCounters(tx, held))
}

const take = statement(
  'payments.take',
  `update payments p set hold_transfer_id = x.hold, counted_day = x.day, approval_id = x.approval
   from unnest($1::uuid[], $2::uuid[], $3::date[], $4::uuid[]) as x(id, hold, day, approval) where p.id = x.id`,
)

/**
 * What scheduled payments get when they are due: their holds, and their places in the limits. Returns the event of the balance, for after
 * their own. The caller changes their status.
 */
export const takeDue = async (tx: Tx, accepted: readonly Accepted[], state: SpendingState): Promise<NewEvent[]> => {
  const rows = accepted.map(({ payment }) => payment)
  if (rows.length === 0) return []
  await Promise.all([
    holdAll(tx, holdsOf(accepted, state), tx.at),
    chargeCounters(tx, accepted),
    tx.query(take, [
      plainList(rows.map(({ id }) => id)),
      plainList(rows.map(({ holdTransferId }) => holdTransferId)),
      plainList(rows.map(({ countedDay }) => countedDay)),
      plainList(rows.map(({ approvalId }) => approvalId)),
    ]),
  ])
  return balanceEvents([...new Set(rows.map(({ accountId }) => accountId))], state, rows[0]?.currency ?? '')
}

/**
 * Writes everything for a batch, one statement for each table. All statements are deferred: they are sent together with the commit, and a
 * failure of one of them makes the commit fail. Approvals are inserted after the payments that they name.
 */
export const writePayments = async (
  tx: Tx,
  deps: BatchDeps,
  { accepted, denied, state }: { accepted: readonly Written[]; denied: readonly Denied[]; state: SpendingState },
): Promise<void> => {
  const { at } = tx
  const entries = auditOf(accepted, denied, deps.config.CURRENCY)
  if (accepted.length > 0) {
    takeMoney(tx, accepted, state)
    tx.defer(tx.query(insert, insertValues(accepted, at)))
    tx.defer(deps.appendEvents(tx, at, eventsOf(accepted, state)))
    tx.remember(
      'payment',
      accepted.map(({ payment }) => payment.id),
    )
  }
  if (entries.length > 0) tx.defer(auditAll(tx, at, entries))
  // A batch is approved as a whole, which its own writer asks for.
  for (const one of accepted) {
    const { principal, payment } = one
    if (!payment.approvalId || payment.batchId) continue
    await deps.approvals.request(tx, one, await deps.approvals.initiatingGrant(tx, principal.credential, payment.grantId))
  }
  const started = new Set(accepted.filter(({ payment }) => payment.status === 'processing').map(({ payment }) => payment.rail))
  if (started.size > 0) tx.afterCommit(() => deps.jobs.wake('payments', [...started]))
}
