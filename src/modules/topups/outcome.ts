import { sql } from 'drizzle-orm'
import { inTx, type Tx } from '../../db/client.ts'
import { updateRow } from '../../db/prepare-write.ts'
import { suspenseItems } from '../../db/tables/rails.ts'
import { topups } from '../../db/tables/topups.ts'
import { requireMove } from '../../db/transitions.ts'
import { appendEvents, type NewEvent } from '../../events/append.ts'
import { type Actor, audit } from '../../events/audit.ts'
import type { AuditAction } from '../../events/audit-actions.ts'
import { presenter } from '../../http/presenter.ts'
import { type Reference, transfer } from '../../ledger/ledger.ts'
import type { Uuid } from '../../lib/ids.ts'
import { displayAmount, formatMinor, type Minor } from '../../lib/money.ts'
import { isSameReceipt } from '../../lib/text.ts'
import type { Evidence } from '../../rails/rail.ts'
import { actorOf, type EvidenceSource, type SettlementVerdict } from '../attempts/attempt.ts'
import { sweepOf } from '../for-each-row.ts'
import { getHolderOf } from '../identity/accounts/queries.ts'
import { balanceUpdated } from '../identity/accounts/service.ts'
import { timerOperator } from '../operators.ts'
import { claimReceipts } from '../suspense/receipts-service.ts'
import { isCreditable, lockTopupWithAccount, type TopupRecord } from './queries.ts'
import { Topup } from './schema.ts'

const shown = presenter(Topup)

export const presentTopup = (topup: TopupRecord): Topup => shown(topup, { phone_number_mask: topup.phoneMask })

type Step = { topup: TopupRecord; actor: Actor }
/** `action`: for a change without a new status. Otherwise, the audit entry is named after the status. */
type ChangeNote = { balance?: readonly NewEvent[]; action?: AuditAction; after?: object }

const write = async (
  tx: Tx,
  { topup, actor }: Step,
  change: Partial<TopupRecord>,
  { balance = [], action, after }: ChangeNote = {},
): Promise<TopupRecord> => {
  const { workspaceId, accountId, id: subject } = topup
  if (change.status && change.status !== topup.status) requireMove('topup', topup.status, change.status)
  const changed = updateRow(tx, topups, topup, { ...change, ...(change.status && { dispatchDueAt: null }), updatedAt: tx.at })
  const { status, providerReceipt: provider_receipt, failureCode: failure_code, providerCode: provider_code } = changed
  const events: NewEvent[] =
    status === 'pending' ? [] : [{ type: `topup.${status}`, accountId, workspaceId, data: presentTopup(changed) }]
  await appendEvents(tx, [...events, ...balance])
  audit(tx, actor, action ?? `topup.${status === 'pending' ? 'initiate' : status}`, {
    ...{ workspaceId, subject },
    before: { status: topup.status },
    after: after ?? { status, provider_receipt, failure_code, provider_code },
  })
  return changed
}

/** `reference`: the source of the money, which is credited only once. */
export type ReceivedMoney = {
  receipt: string | null
  amountMinor: Minor
  reference: Reference
  from?: 'topup_clearing' | 'suspense'
}

/** Credits the workspace's balance and ends the top-up with its first money. The caller has locked the balance's account. */
export const credit = async (
  tx: Tx,
  step: Step,
  { receipt, amountMinor, reference, from = 'topup_clearing' }: ReceivedMoney,
): Promise<TopupRecord> => {
  const { id, workspaceId } = step.topup
  const { id: accountId } = await getHolderOf(tx, workspaceId)
  const { balance } = await transfer(tx, { ownerId: accountId, amountMinor, against: from, reference })
  if (step.topup.status === 'succeeded') {
    await appendEvents(tx, await balanceUpdated(tx, accountId, balance))
    audit(tx, step.actor, 'topup.deposit', {
      workspaceId,
      subject: id,
      after: { provider_receipt: receipt, amount_minor: formatMinor(amountMinor) },
    })
    return step.topup
  }
  const noFailure = { failureCode: null, failureMessage: null, providerCode: null }
  const money = { receivedMinor: amountMinor, providerReceipt: receipt }
  const change = { ...money, ...noFailure, status: 'succeeded', completedAt: tx.at } as const
  return write(tx, step, change, { balance: await balanceUpdated(tx, accountId, balance) })
}

/** The top-up stays pending. Its money is in suspense until an administrator credits it or sends it back. */
const recordAmountMismatch = (tx: Tx, step: Step, receivedMinor: Minor): Promise<TopupRecord> => {
  const { amountMinor, currency } = step.topup
  const asked = displayAmount(amountMinor ?? 0n, currency)
  const message = `${displayAmount(receivedMinor, currency)} came, and ${asked} was asked for. A person looks at it.`
  return write(tx, step, { failureCode: 'other_amount', failureMessage: message }, { action: 'topup.other_amount' })
}

type Success = Extract<Evidence, { kind: 'succeeded' }>

const verdictOnSuccess = (topup: TopupRecord, evidence: Success, receiptIsTaken: boolean): SettlementVerdict => {
  const conflicts = receiptIsTaken || (evidence.amountMinor !== null && evidence.amountMinor !== topup.amountMinor)
  if (topup.status !== 'succeeded') {
    if (conflicts) return 'mismatch'
    // After a reported failure, only a success with a receipt counts. Any other success contradicts the failure.
    return topup.status === 'failed' && evidence.receipt === null ? 'contradiction' : 'applied'
  }
  if (conflicts) return 'contradiction'
  if (evidence.receipt === null || isSameReceipt(evidence.receipt, topup.providerReceipt)) return 'repeated'
  return topup.providerReceipt === null ? 'applied' : 'contradiction'
}

/** Applied: pending → succeeded or failed; expired or failed → succeeded with proof. A success may gain a missing receipt. */
const verdictOn = (topup: TopupRecord, evidence: Evidence, receiptIsTaken: boolean): SettlementVerdict => {
  switch (evidence.kind) {
    case 'succeeded':
      return verdictOnSuccess(topup, evidence, receiptIsTaken)
    case 'failed':
      if (topup.status === 'pending') return 'applied'
      return topup.status === 'succeeded' ? 'contradiction' : 'repeated'
    case 'returned':
      return 'contradiction'
    case 'unknown':
      return evidence.moved && topup.status !== 'succeeded' ? 'contradiction' : 'inconclusive'
    default:
      return 'inconclusive'
  }
}

const apply = (tx: Tx, step: Step, evidence: Evidence): Promise<TopupRecord> => {
  const { id, amountMinor, status } = step.topup
  if (evidence.kind === 'failed') {
    const { code: failureCode, message: failureMessage, providerCode } = evidence
    return write(tx, step, { status: 'failed', failureCode, failureMessage, providerCode, completedAt: tx.at })
  }
  const receipt = evidence.kind === 'succeeded' ? evidence.receipt : null
  if (status === 'succeeded') return write(tx, step, { providerReceipt: receipt }, { action: 'topup.receipt' })
  if (amountMinor === null) throw new Error('a deposit is settled as a prompt')
  return credit(tx, step, { receipt, amountMinor, reference: { type: 'topup', id } })
}

/** Claims the receipt. Returns true if it belongs to something else. */
const claim = async (tx: Tx, { id, accountId, method: rail, amountMinor }: TopupRecord, receipt: string): Promise<boolean> => {
  const owner = { kind: 'topup', id } as const
  const claim = { rail, direction: 'in', receipt, owner, amountMinor, credits: { accountId, topupId: id } } as const
  return (await claimReceipts(tx, [claim])).has(id)
}

/** Evidence may arrive any number of times and in any order. The caller has locked the owning account. */
export const settleTopup = async (
  tx: Tx,
  topup: TopupRecord,
  evidence: Evidence,
  source: EvidenceSource,
): Promise<{ verdict: SettlementVerdict; topup: TopupRecord }> => {
  const step = { topup, actor: actorOf(source) }
  const success = evidence.kind === 'succeeded' ? evidence : null
  const receipt = success?.receipt ?? null
  const judged = verdictOn(topup, evidence, false)
  const isCredit = judged === 'applied' && success !== null && topup.status !== 'succeeded'
  const provisional = isCredit && !(await isCreditable(tx, topup)) ? 'account_closed' : judged
  // A success owns its first receipt, whatever amount the report states.
  const isItsOwn =
    provisional === 'applied' ||
    (provisional === 'contradiction' && topup.status === 'succeeded' && topup.providerReceipt === null)
  const isTaken = receipt !== null && isItsOwn && (await claim(tx, topup, receipt))
  const verdict = isTaken ? verdictOn(topup, evidence, true) : provisional
  if (verdict === 'applied') return { verdict, topup: await apply(tx, step, evidence) }
  const receivedMinor = verdict === 'mismatch' && topup.status === 'pending' ? (success?.amountMinor ?? null) : null
  const isOther = receivedMinor !== null && receivedMinor !== topup.amountMinor
  return { verdict, topup: isOther ? await recordAmountMismatch(tx, step, receivedMinor) : topup }
}

const expire = async (tx: Tx, id: Uuid): Promise<void> => {
  const topup = await lockTopupWithAccount(tx, id)
  if (topup.status !== 'pending') return
  const change = { status: 'expired', completedAt: tx.at } as const
  await write(tx, { topup, actor: timerOperator }, change, { after: { status: 'expired' } })
}

/** Expires top-ups. A later success is still credited. A top-up with money in suspense waits for a person. */
export const expireTopups = sweepOf(
  'topups.expire',
  {
    id: topups.id,
    due: topups.expiresAt,
    where: [
      sql`${topups.status} = 'pending'`,
      sql`not exists (select from ${suspenseItems} where ${suspenseItems.subjectId} = ${topups.id} and ${suspenseItems.resolvedAt} is null)`,
    ],
  },
  (deps, { id }) => inTx(deps.db, (tx) => expire(tx, id)),
)
