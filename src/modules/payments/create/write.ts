import { statement, type Tx } from '../../../db/client.ts'
import { bytesList, documentList, documents, plainList, textList } from '../../../db/lists.ts'
import type { NewEvent } from '../../../events/append.ts'
import { type ActedEntry, auditAll } from '../../../events/audit.ts'
import { holdAll } from '../../../ledger/ledger.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { findBeneficiary } from '../../beneficiaries/queries.ts'
import { destinationContext } from '../../beneficiaries/service.ts'
import { presentAccount } from '../../identity/accounts/present.ts'
import { presentDecision } from '../../policies/present.ts'
import { requestApproval } from '../approvals/request.ts'
import type { Deps } from '../deps.ts'
import { chargeCounters } from '../evaluation/counters.ts'
import type { Accepted, Denied, SpendingState } from './decide.ts'

/** One parameter for each column; a value that all payments of a batch share is sent once. */
const insert = statement(
  'payments.insert',
  `insert into payments (id, workspace_id, account_id, status, amount_minor, currency, beneficiary_id, payee_id, payment_type, rail,
     account_reference, narrative, metadata, mandate_id, approval_id, initiator_account_id, grant_id, snapshot, idempotency_key, request_hash,
     counted_day, hold_transfer_id, batch_id, batch_index, batch_leaf, dispatch_due_at, traceparent, created_at, updated_at)
   select id, workspace, account, status, amount, $26, beneficiary, payee, type, rail, reference, narrative, metadata::jsonb, mandate,
     approval, initiator, grant_id, snapshot::json, key, hash, day, hold, batch, place, leaf,
     case when status = 'processing' then $27::timestamptz end, trace, $27, $27
   from rows from (unnest($1::uuid[]), unnest($2::uuid[]), unnest($3::uuid[]), unnest($4::text[]), unnest($5::bigint[]),
     unnest($6::uuid[]), unnest($7::uuid[]), unnest($8::text[]), unnest($9::text[]), unnest($10::text[]), unnest($11::text[]),
     ${documents(12)}, unnest($13::uuid[]), unnest($14::uuid[]), unnest($15::uuid[]), unnest($16::uuid[]), ${documents(17)},
     unnest($18::text[]), unnest($19::date[]), unnest($20::uuid[]), unnest($21::text[]), unnest($22::bytea[]),
     unnest($23::uuid[]), unnest($24::int[]), unnest($25::text[]))
     as p(id, workspace, account, status, amount, beneficiary, payee, type, rail, reference, narrative, metadata, mandate, approval,
       initiator, grant_id, snapshot, key, day, hold, trace, hash, batch, place, leaf)`,
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
    documentList(written.map(({ text }) => text)),
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
  ]
}

/** What is needed to decide and write a batch. */
export type BatchDeps = Pick<Deps, 'appendEvents' | 'clock' | 'config' | 'derivations' | 'jobs' | 'rails' | 'vault'>

/** `text`: the payment as JSON on the wire. Its events and the stored response of its idempotency key refer to this snapshot. */
export type Written = Accepted & { text: string }

const eventsOf = (accepted: readonly Written[], state: SpendingState): NewEvent[] => {
  const events: NewEvent[] = []
  const owners = new Set<Uuid>()
  for (const { payment } of accepted) {
    const { id: paymentId, accountId, workspaceId, status } = payment
    events.push({ type: 'payment.created', accountId, workspaceId, paymentId })
    if (status === 'processing') events.push({ type: 'payment.processing', accountId, workspaceId, paymentId })
    owners.add(accountId)
  }
  // The balance after all of the payments: no reader ever saw the states in between.
  for (const accountId of owners) {
    const owner = state.owners.get(accountId)
    const balance = state.balances.get(accountId)
    const currency = accepted[0]?.payment.currency ?? ''
    if (owner && balance)
      events.push({ type: 'balance.updated', accountId, workspaceId: null, data: presentAccount(owner, balance, currency) })
  }
  return events
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
        inputs,
      },
    }),
  ),
  ...denied.map(
    ({ principal, decision }): ActedEntry => ({
      actor: principal,
      action: 'payment.denied',
      after: { decision: presentDecision(decision, currency) },
    }),
  ),
]

/** What is left on the account after each hold. The owners' balances are those after the last hold. */
const holdsOf = (accepted: readonly Written[], state: SpendingState) => {
  const available = new Map([...state.balances].map(([id, balance]) => [id, balance.availableMinor]))
  return accepted
    .toReversed()
    .map(({ payment }) => {
      const availableAfterMinor = available.get(payment.accountId) ?? 0n
      available.set(payment.accountId, availableAfterMinor + payment.amountMinor)
      const { accountId: ownerId, amountMinor, id: paymentId, holdTransferId: transferId } = payment
      return { transferId, ownerId, amountMinor, paymentId, availableAfterMinor }
    })
    .toReversed()
}

const requestApprovals = async (tx: Tx, deps: BatchDeps, { principal, payment, decision, mandate }: Accepted): Promise<void> => {
  const record = payment.approvalId && (await findBeneficiary(tx, payment.workspaceId, payment.beneficiaryId))
  if (!record || !payment.approvalId) throw new Error('a held payment has a beneficiary and an approval')
  const sealed = { ciphertext: record.destinationCiphertext, keyId: record.destinationKeyId }
  await requestApproval(tx, deps, {
    principal,
    approvalId: payment.approvalId,
    payment,
    decision,
    beneficiary: record,
    destination: deps.vault.open(sealed, destinationContext(record.id, record.workspaceId)),
    mandateSignature: decision.approvalsByMandate > 0 && mandate ? mandate.signature : null,
  })
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
    tx.defer(holdAll(tx, holdsOf(accepted, state), at))
    tx.defer(chargeCounters(tx, accepted))
    tx.defer(tx.query(insert, insertValues(accepted, at)))
    tx.defer(deps.appendEvents(tx, at, eventsOf(accepted, state)))
    tx.remember(
      'payment',
      accepted.map(({ payment }) => payment.id),
    )
  }
  if (entries.length > 0) tx.defer(auditAll(tx, at, entries))
  // A batch is approved as a whole, which its own writer asks for.
  for (const one of accepted) if (one.payment.approvalId && !one.payment.batchId) await requestApprovals(tx, deps, one)
  const started = new Set(accepted.filter(({ payment }) => payment.status === 'processing').map(({ payment }) => payment.rail))
  if (started.size > 0) tx.afterCommit(() => deps.jobs.wake('payments', [...started]))
}
