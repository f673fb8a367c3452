import { eq } from 'drizzle-orm'
import type { Tx } from '../../db/client.ts'
import { topups } from '../../db/tables/payments.ts'
import type { NewEvent } from '../../events/append.ts'
import { audit } from '../../events/audit.ts'
import type { EventType } from '../../events/types.ts'
import { lockBalance, transfer } from '../../ledger/ledger.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Evidence } from '../../rails/rail.ts'
import type { Deps } from '../deps.ts'
import { balanceUpdated } from '../identity/accounts/service.ts'
import { isReceiptTaken } from '../payments/lifecycle/attempts/receipts.ts'
import { actorOf, type Verdict, type Witness } from '../payments/lifecycle/attempts/subject.ts'
import { presentTopup } from './present.ts'
import { getTopup, type TopupRecord } from './queries.ts'
import { moveTopup } from './rules.ts'

type Change = Partial<
  Pick<TopupRecord, 'status' | 'providerReceipt' | 'failureCode' | 'failureMessage' | 'providerCode' | 'completedAt'>
>

export const changeTopup = async (tx: Tx, topup: TopupRecord, change: Change, at: Date): Promise<TopupRecord> => {
  const [changed] = await tx.orm
    .update(topups)
    .set({ ...change, ...(change.status && { dispatchDueAt: null }), updatedAt: at })
    .where(eq(topups.id, topup.id))
    .returning()
  if (!changed) throw new Error('a top-up that must exist is missing')
  return changed
}

export const topupEvent = (type: EventType, topup: TopupRecord): NewEvent => ({
  type,
  accountId: topup.accountId,
  workspaceId: topup.workspaceId,
  data: presentTopup(topup),
})

const auditEnd = (tx: Tx, witness: Witness, before: TopupRecord, after: TopupRecord, at: Date) =>
  audit(tx, actorOf(witness), at, {
    action: `topup.${after.status}`,
    workspaceId: after.workspaceId,
    subject: { type: 'topup', id: after.id },
    before: { status: before.status },
    after: {
      status: after.status,
      provider_receipt: after.providerReceipt,
      failure_code: after.failureCode,
      provider_code: after.providerCode,
    },
  })

const credit = async (tx: Tx, deps: Deps, topup: TopupRecord, receipt: string | null, witness: Witness): Promise<void> => {
  const { at } = tx
  const change = {
    status: 'succeeded',
    providerReceipt: receipt,
    failureCode: null,
    failureMessage: null,
    providerCode: null,
    completedAt: at,
  } as const
  const { accountId, amountMinor } = topup
  const { balance } = await transfer(tx, {
    ownerId: accountId,
    amountMinor,
    against: 'topup_clearing',
    reference: { type: 'topup', id: topup.id },
    at,
  })
  const credited = await changeTopup(tx, topup, change, at)
  await deps.appendEvents(tx, at, [topupEvent('topup.succeeded', credited), await balanceUpdated(tx, deps, accountId, balance)])
  await auditEnd(tx, witness, topup, credited, at)
}

const fail = async (
  tx: Tx,
  deps: Deps,
  topup: TopupRecord,
  evidence: Evidence & { kind: 'failed' },
  witness: Witness,
): Promise<void> => {
  const { at } = tx
  const failed = await changeTopup(
    tx,
    topup,
    {
      status: 'failed',
      failureCode: evidence.code,
      failureMessage: evidence.message,
      providerCode: evidence.providerCode,
      completedAt: at,
    },
    at,
  )
  await deps.appendEvents(tx, at, [topupEvent('topup.failed', failed)])
  await auditEnd(tx, witness, topup, failed, at)
}

/** Ends a top-up on evidence, once, whatever comes how often and in which order. */
export const settleTopup = async (tx: Tx, deps: Deps, id: Uuid, evidence: Evidence, witness: Witness): Promise<Verdict> => {
  await lockBalance(tx, (await getTopup(tx, id)).accountId)
  const topup = await getTopup(tx, id)
  const receipt = evidence.kind === 'succeeded' ? evidence.receipt : null
  const decided = moveTopup(topup, evidence, receipt !== null && (await isReceiptTaken(tx, topup.method, receipt, topup.id)))
  if (decided.move === 'none') return decided.verdict
  if (evidence.kind === 'failed') await fail(tx, deps, topup, evidence, witness)
  else if (evidence.kind === 'succeeded' && decided.move === 'credit') await credit(tx, deps, topup, evidence.receipt, witness)
  else if (evidence.kind === 'succeeded') await changeTopup(tx, topup, { providerReceipt: evidence.receipt }, tx.at)
  return 'applied'
}
