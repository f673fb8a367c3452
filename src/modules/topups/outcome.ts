import { sql } from 'drizzle-orm'
import { inTx, type Tx } from '../../db/client.ts'
import { updateRow } from '../../db/prepare-write.ts'
import { suspenseItems } from '../../db/tables/rails.ts'
import { topups } from '../../db/tables/topups.ts'
import { requireMove } from '../../db/transitions.ts'
import type { Failure } from '../../errors/failures.ts'
import { appendEvents, type NewEvent } from '../../events/append.ts'
import { audit } from '../../events/audit.ts'
import type { AuditAction } from '../../events/audit-actions.ts'
import type { EventType } from '../../events/types.ts'
import { presenter } from '../../http/presenter.ts'
import { type Reference, transfer } from '../../ledger/ledger.ts'
import type { Uuid } from '../../lib/ids.ts'
import { displayAmount, formatMinor, type Minor } from '../../lib/money.ts'
import type { Evidence } from '../../rails/rail.ts'
import { actorOf, type EvidenceSource, type Verdict } from '../attempts/attempt.ts'
import { takenReceipts } from '../attempts/queries.ts'
import { sweepOf } from '../for-each-row.ts'
import { balanceUpdated } from '../identity/accounts/service.ts'
import { lockTopupWithAccount, type TopupRecord } from './queries.ts'
import { moveTopup } from './rules.ts'
import { Topup } from './schema.ts'

const shown = presenter(Topup)

export const presentTopup = (topup: TopupRecord): Topup => shown(topup, { phone_number_mask: topup.phoneMask })

type Change = Partial<
  Pick<
    TopupRecord,
    'status' | 'receivedMinor' | 'providerReceipt' | 'failureCode' | 'failureMessage' | 'providerCode' | 'completedAt'
  >
>

export const changeTopup = (tx: Tx, topup: TopupRecord, change: Change, at: Date): TopupRecord => {
  if (change.status && change.status !== topup.status) requireMove('topup', topup.status, change.status)
  return updateRow(tx, topups, topup, { ...change, ...(change.status && { dispatchDueAt: null }), updatedAt: at })
}

export const topupEvent = (type: EventType, topup: TopupRecord): NewEvent => ({
  type,
  accountId: topup.accountId,
  workspaceId: topup.workspaceId,
  data: presentTopup(topup),
})

type Step = { topup: TopupRecord; source: EvidenceSource }

/** Writes a change with its event and its audit row; `action` for a change without a new state. */
const write = async (
  tx: Tx,
  { topup, source }: Step,
  change: Change,
  { balance = [], action }: { balance?: readonly NewEvent[]; action?: AuditAction } = {},
): Promise<TopupRecord> => {
  const { at } = tx
  const after = changeTopup(tx, topup, change, at)
  const events = after.status === 'pending' ? [] : [topupEvent(`topup.${after.status}`, after)]
  await appendEvents(tx, [...events, ...balance])
  // Only a new top-up is pending.
  const status = after.status === 'pending' ? 'initiate' : after.status
  audit(tx, actorOf(source), action ?? `topup.${status}`, {
    workspaceId: after.workspaceId,
    subject: after.id,
    before: { status: topup.status },
    after: {
      status: after.status,
      provider_receipt: after.providerReceipt,
      failure_code: after.failureCode,
      provider_code: after.providerCode,
    },
  })
  return after
}

/** Money that arrived: from the provider, or from suspense, where it waited for a person. `reference`: what is credited once. */
export type Arrived = {
  receipt: string | null
  amountMinor: Minor
  reference: Reference
  from?: 'topup_clearing' | 'suspense'
}

/** Credits the account, and ends the top-up if this is the first money under it. The caller has locked the account. */
export const credit = async (
  tx: Tx,
  step: Step,
  { receipt, amountMinor, reference, from = 'topup_clearing' }: Arrived,
): Promise<TopupRecord> => {
  const { at } = tx
  const { id, accountId } = step.topup
  const { balance } = await transfer(tx, { ownerId: accountId, amountMinor, against: from, reference, at })
  if (step.topup.status === 'succeeded') {
    await appendEvents(tx, await balanceUpdated(tx, accountId, balance))
    audit(tx, actorOf(step.source), 'topup.deposit', {
      workspaceId: step.topup.workspaceId,
      subject: id,
      after: { provider_receipt: receipt, amount_minor: formatMinor(amountMinor) },
    })
    return step.topup
  }
  const noFailure = { failureCode: null, failureMessage: null, providerCode: null }
  return write(
    tx,
    step,
    { status: 'succeeded', receivedMinor: amountMinor, providerReceipt: receipt, ...noFailure, completedAt: at },
    { balance: await balanceUpdated(tx, accountId, balance) },
  )
}

const fail = (tx: Tx, step: Step, { code, message, providerCode }: Failure): Promise<TopupRecord> =>
  write(tx, step, {
    status: 'failed',
    failureCode: code,
    failureMessage: message,
    providerCode,
    completedAt: tx.at,
  })

/** It stays pending: the money is in suspense, and an administrator credits it or sends it back. */
const noteOtherAmount = (tx: Tx, step: Step, came: Minor): Promise<TopupRecord> => {
  const { amountMinor, currency } = step.topup
  const asked = displayAmount(amountMinor ?? 0n, currency)
  const message = `${displayAmount(came, currency)} came, and ${asked} was asked for. A person looks at it.`
  return write(tx, step, { failureCode: 'other_amount', failureMessage: message }, { action: 'topup.other_amount' })
}

export type SettledTopup = { verdict: Verdict; topup: TopupRecord }

/** Ends a top-up on evidence, once: evidence may arrive any number of times and in any order. The caller has locked its owning account. */
export const settleTopup = async (
  tx: Tx,
  topup: TopupRecord,
  evidence: Evidence,
  source: EvidenceSource,
): Promise<SettledTopup> => {
  const step: Step = { topup, source }
  const receipt = evidence.kind === 'succeeded' ? evidence.receipt : null
  const claims = receipt === null ? [] : [{ rail: topup.method, receipt, subjectId: topup.id }]
  const taken = (await takenReceipts(tx, claims)).has(topup.id)
  const decided = moveTopup(topup, evidence, taken)
  if (decided.move === 'none') {
    const came = evidence.kind === 'succeeded' && decided.verdict === 'mismatch' ? evidence.amountMinor : null
    if (came === null || came === topup.amountMinor || topup.status !== 'pending') return { verdict: decided.verdict, topup }
    return { verdict: decided.verdict, topup: await noteOtherAmount(tx, step, came) }
  }
  const applied = async (after: Promise<TopupRecord>): Promise<SettledTopup> => ({ verdict: 'applied', topup: await after })
  if (evidence.kind === 'failed') return applied(fail(tx, step, evidence))
  if (decided.move === 'credit') {
    if (topup.amountMinor === null) throw new Error('a deposit is settled as a prompt')
    return applied(credit(tx, step, { receipt, amountMinor: topup.amountMinor, reference: { type: 'topup', id: topup.id } }))
  }
  return applied(write(tx, step, { providerReceipt: receipt }, { action: 'topup.receipt' }))
}

const expire = async (tx: Tx, id: Uuid): Promise<void> => {
  const topup = await lockTopupWithAccount(tx, id)
  if (topup.status !== 'pending') return
  const { at } = tx
  const expired = changeTopup(tx, topup, { status: 'expired', completedAt: at }, at)
  await appendEvents(tx, [topupEvent('topup.expired', expired)])
  audit(tx, { accountId: null, origin: null, way: 'timer' }, 'topup.expired', {
    workspaceId: topup.workspaceId,
    subject: id,
    before: { status: topup.status },
    after: { status: expired.status },
  })
}

/**
 * Ends the waiting only: a success that is proven later is credited all the same. What was paid with another amount is in suspense: until a
 * person has decided, the top-up has not expired.
 */
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
