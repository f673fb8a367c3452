import { statement, type Tx } from '../../../db/client.ts'
import type { NewEvent } from '../../../events/append.ts'
import { type ActedEntry, auditAll } from '../../../events/audit.ts'
import { holdAll } from '../../../ledger/ledger.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { findBeneficiary } from '../../beneficiaries/queries.ts'
import { destinationContext } from '../../beneficiaries/service.ts'
import type { Deps } from '../../deps.ts'
import { presentAccount } from '../../identity/accounts/present.ts'
import { presentDecision } from '../../policies/present.ts'
import { requestApproval } from '../approvals/request.ts'
import { chargeCounters } from '../evaluation/counters.ts'
import type { PaymentRecord } from '../queries.ts'
import type { Accepted, Denied, SpendingState } from './decide.ts'

const columns = {
  id: 'uuid',
  workspace_id: 'uuid',
  account_id: 'uuid',
  status: 'text',
  amount_minor: 'bigint',
  currency: 'text',
  beneficiary_id: 'uuid',
  payee_id: 'uuid',
  payment_type: 'text',
  rail: 'text',
  account_reference: 'text',
  narrative: 'text',
  metadata: 'jsonb',
  mandate_id: 'uuid',
  approval_id: 'uuid',
  initiator_account_id: 'uuid',
  grant_id: 'uuid',
  decision: 'json',
  counted_day: 'date',
  hold_transfer_id: 'uuid',
  dispatch_due_at: 'timestamptz',
  traceparent: 'text',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
} as const
const names = Object.keys(columns).join(', ')

/** One parameter, whatever the number of payments: as arrays each column would be escaped and parsed value by value. */
const insert = statement(
  'payments.insert',
  `insert into payments (${names})
   select ${names} from json_to_recordset($1::json) as p(${Object.entries(columns)
     .map(([name, type]) => `${name} ${type}`)
     .join(', ')})`,
)

const rowOf = (payment: PaymentRecord): Record<keyof typeof columns, unknown> => ({
  id: payment.id,
  workspace_id: payment.workspaceId,
  account_id: payment.accountId,
  status: payment.status,
  amount_minor: payment.amountMinor.toString(),
  currency: payment.currency,
  beneficiary_id: payment.beneficiaryId,
  payee_id: payment.payeeId,
  payment_type: payment.paymentType,
  rail: payment.rail,
  account_reference: payment.accountReference,
  narrative: payment.narrative,
  metadata: payment.metadata,
  mandate_id: payment.mandateId,
  approval_id: payment.approvalId,
  initiator_account_id: payment.initiatorAccountId,
  grant_id: payment.grantId,
  decision: payment.decision,
  counted_day: payment.countedDay,
  hold_transfer_id: payment.holdTransferId,
  dispatch_due_at: payment.dispatchDueAt,
  traceparent: payment.traceparent,
  created_at: payment.createdAt,
  updated_at: payment.updatedAt,
})

/** What deciding and writing a batch takes. */
export type BatchDeps = Pick<Deps, 'appendEvents' | 'clock' | 'config' | 'derivations' | 'jobs' | 'rails' | 'vault'>

/** `text`: the payment as the wire shows it, which its events carry as well. */
export type Written = Accepted & { text: string }

const eventsOf = (accepted: readonly Written[], state: SpendingState): NewEvent[] => {
  const events: NewEvent[] = []
  const owners = new Set<Uuid>()
  for (const { payment, text: json } of accepted) {
    const { accountId, workspaceId, status } = payment
    events.push({ type: 'payment.created', accountId, workspaceId, json })
    if (status === 'processing') events.push({ type: 'payment.processing', accountId, workspaceId, json })
    owners.add(accountId)
  }
  // The balance after all of them: nothing in between was ever visible.
  for (const accountId of owners) {
    const owner = state.owners.get(accountId)
    const balance = state.balances.get(accountId)
    const currency = accepted[0]?.payment.currency ?? ''
    if (owner && balance)
      events.push({ type: 'balance.updated', accountId, workspaceId: null, data: presentAccount(owner, balance, currency) })
  }
  return events
}

const auditOf = (accepted: readonly Written[], denied: readonly Denied[]): ActedEntry[] => [
  ...accepted.map(({ principal, payment, decision }) => ({
    actor: principal,
    action: 'payment.create',
    subject: { type: 'payment', id: payment.id },
    after: { status: payment.status, amount_minor: payment.amountMinor.toString(), outcome: decision.outcome },
  })),
  ...denied.map(({ principal, decision }) => ({
    actor: principal,
    action: 'payment.denied',
    after: { decision: presentDecision(decision) },
  })),
]

/** What is left on the account behind each hold: the owners' balances stand behind the last of them. */
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

const requestApprovals = async (tx: Tx, deps: BatchDeps, { payment, decision, mandate }: Accepted): Promise<void> => {
  const record = payment.approvalId && (await findBeneficiary(tx, payment.workspaceId, payment.beneficiaryId))
  if (!record || !payment.approvalId) throw new Error('a held payment has a beneficiary and an approval')
  const sealed = { ciphertext: record.destinationCiphertext, keyId: record.destinationKeyId }
  await requestApproval(tx, deps, {
    approvalId: payment.approvalId,
    payment,
    decision,
    beneficiary: record,
    destination: deps.vault.open(sealed, destinationContext(record.id, record.workspaceId)),
    mandateSignature: decision.approvalsByMandate > 0 && mandate ? mandate.signature : null,
  })
}

/**
 * Everything that a batch leaves behind, one statement a table, all of them deferred: they travel with the commit, and a failure of
 * one fails it. The rows of approvals come after those that they name.
 */
export const writePayments = async (
  tx: Tx,
  deps: BatchDeps,
  { accepted, denied, state }: { accepted: readonly Written[]; denied: readonly Denied[]; state: SpendingState },
): Promise<void> => {
  const { at } = tx
  const entries = auditOf(accepted, denied)
  if (accepted.length > 0) {
    tx.defer(holdAll(tx, holdsOf(accepted, state), at))
    tx.defer(chargeCounters(tx, accepted))
    tx.defer(tx.query(insert, [JSON.stringify(accepted.map(({ payment }) => rowOf(payment)))]))
    tx.defer(deps.appendEvents(tx, at, eventsOf(accepted, state)))
  }
  if (entries.length > 0) tx.defer(auditAll(tx, at, entries))
  for (const one of accepted) if (one.payment.approvalId) await requestApprovals(tx, deps, one)
  if (accepted.some(({ payment }) => payment.status === 'processing')) tx.afterCommit(() => deps.jobs.wake('payments'))
}
