import { and, eq, isNotNull, sql } from 'drizzle-orm'
import { lockAccount } from '../../../db/account-lock.ts'
import { first, inTx, statement, type Tx } from '../../../db/client.ts'
import { prepare } from '../../../db/prepare.ts'
import { updateRow } from '../../../db/prepare-write.ts'
import { approvals } from '../../../db/tables/approvals.ts'
import { payments } from '../../../db/tables/payments.ts'
import { type Actor, audit } from '../../../events/audit.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { nameFacts, withNames } from '../../../policy/facts.ts'
import type { Rails } from '../../../rails/rail.ts'
import { isBeingChecked } from '../../beneficiaries/payee-queries.ts'
import { findBeneficiaries } from '../../beneficiaries/queries.ts'
import { type SweepDeps, sweepOf } from '../../for-each-row.ts'
import type { Parts } from '../../parts.ts'
import { payeeOfLeaf } from '../batch/leaf-rules.ts'
import {
  checkingLabels,
  isSameText,
  type NamedLine,
  type ReportedName,
  withOwnBalance,
  withRegisteredName,
  withRegisteredNames,
} from './message.ts'
import { type LockedApproval, lockApproval } from './queries.ts'
import { voidAfterNewText } from './void.ts'

// If a registered name or the payer changes while an approval is pending, a new text replaces the old one and voids its decisions.
// A batch's text is renewed when its first checks end, or five seconds after the request, and again when the last check ends.

const railActor: Actor = { accountId: null, origin: null, way: 'rail' }

/**
 * Old texts remain in the audit log, to distinguish a signature of an old text from a wrong signature. `lines`: the names of the
 * new text; null: the names are unchanged.
 */
const renewWith = async (
  tx: Tx,
  { approval, payment, decisions }: LockedApproval,
  change: (message: string) => string,
  lines: readonly NamedLine[] | null,
  actor: Actor = railActor,
): Promise<void> => {
  const { approveMessage: approve, rejectMessage: reject, id } = approval
  const after = { approveMessage: change(approve), rejectMessage: change(reject) }
  if (isSameText(approve, after.approveMessage)) return
  const named = lines && {
    facts: approval.facts && withNames(approval.facts, nameFacts(lines)),
    nameAwaitedUntil: null,
  }
  updateRow(tx, approvals, { id }, { ...after, ...named, renewedAt: tx.at, updatedAt: tx.at })
  audit(tx, actor, 'approval.text_changed', { workspaceId: payment.workspaceId, subject: id, before: { approve, reject } })
  await voidAfterNewText(tx, actor, { approval, decisions })
}

/** `evenIfChecking`: renews the text even if names are still being checked. */
const renewBatch = async (tx: Tx, rails: Rails, record: LockedApproval, evenIfChecking: boolean): Promise<void> => {
  const { payments } = record
  const ids = [...new Set(payments.map(({ beneficiaryId }) => beneficiaryId))]
  const rows = new Map((await findBeneficiaries(tx, ids)).map((row) => [row.id, row]))
  const lines = payments.flatMap(({ beneficiaryId, batchLeaf, amountMinor }): NamedLine[] => {
    const row = rows.get(beneficiaryId)
    if (!row || batchLeaf === null) return []
    return [{ ...row, beneficiaryId, payeeName: payeeOfLeaf(batchLeaf), amountMinor, isBeingChecked: isBeingChecked(rails, row) }]
  })
  if (!evenIfChecking && lines.some((line) => line.isBeingChecked)) return
  await renewWith(tx, record, (message) => withRegisteredNames(message, lines, record.payment.currency, tx.at), lines)
}

// After the deadline `name_awaited_until` is null: only the text shows whether names are still being checked.
const findApprovalsShowing = statement('approvals.waiting_for_payee')`
  select a.id from approvals a where a.workspace_id = $1 and a.status = 'pending' and case
     when a.batch_id is null then exists (select from payments p where p.id = a.payment_id and p.beneficiary_id = $2)
     else (a.name_awaited_until is not null or a.approve_message ~ '${checkingLabels.join('|')}')
       and exists (select from payments p where p.batch_id = a.batch_id and p.beneficiary_id = $2)
       and not exists (
         select from payments p join beneficiaries b on b.id = p.beneficiary_id
         where p.batch_id = a.batch_id and b.verification = 'unverified' and b.name_check_due_at is not null) end
   order by a.id`

/** Runs in the transaction that writes a payee's name check or rename and has locked the paying account. */
export const renewTexts = async (
  tx: Tx,
  rails: Rails,
  payee: ReportedName & { id: Uuid; workspaceId: Uuid },
  actor: Actor = railActor,
): Promise<void> => {
  for (const { id } of await tx.query<{ id: Uuid }>(findApprovalsShowing, [payee.workspaceId, payee.id])) {
    const record = await lockApproval(tx, id)
    if (record?.approval.status !== 'pending') continue
    if (record.approval.batchId !== null) await renewBatch(tx, rails, record, false)
    else {
      const { beneficiaryId, amountMinor } = record.payment
      const line = { ...payee, beneficiaryId, amountMinor, payeeName: record.approval.beneficiaryName }
      await renewWith(tx, record, (message) => withRegisteredName(message, payee, tx.at), [line], actor)
    }
  }
}

const findPendingScheduled = prepare('approvals.waiting_for_time', { workspaceId: 'uuid' }, (orm, param) =>
  orm
    .select({ id: approvals.id })
    .from(approvals)
    .innerJoin(payments, eq(payments.id, approvals.paymentId))
    .where(and(eq(approvals.workspaceId, param.workspaceId), eq(approvals.status, 'pending'), eq(payments.status, 'scheduled')))
    .orderBy(approvals.id),
)

/** Scheduled payments are paid from the workspace's own balance after a separation, and the text to sign says so. */
export const renewPayers = async (tx: Tx, actor: Actor, workspaceId: Uuid): Promise<void> => {
  for (const { id } of await tx.run(findPendingScheduled, { workspaceId })) {
    const record = await lockApproval(tx, id)
    if (record?.approval.status === 'pending')
      await renewWith(tx, record, (message) => withOwnBalance(message, tx.at), null, actor)
  }
}

/** How many seconds readers of a text wait for the first check of a name. */
export const awaitedSeconds = 5
const pollEveryMs = 200

const readAwaited = prepare('approvals.name_awaited', { id: 'uuid' }, 'coalesced', (orm, param) =>
  orm
    .select({ until: approvals.nameAwaitedUntil, accountId: approvals.accountId, batchId: approvals.batchId })
    .from(approvals)
    .where(and(eq(approvals.id, param.id), eq(approvals.status, 'pending'), isNotNull(approvals.nameAwaitedUntil))),
)

const endAwaiting = (
  { db, rails }: Pick<Parts, 'db' | 'rails'>,
  { id, accountId }: { id: Uuid; accountId: Uuid },
): Promise<void> =>
  inTx(db, async (tx) => {
    await lockAccount(tx, accountId)
    const record = await lockApproval(tx, id)
    const until = record?.approval.nameAwaitedUntil ?? null
    if (record?.approval.status !== 'pending' || until === null || until > tx.at) return
    await renewBatch(tx, rails, record, true)
    // Also if no name is known yet and the text stays: a reader must not wait and lock again.
    updateRow(tx, approvals, { id }, { nameAwaitedUntil: null })
  })

/**
 * Waits until the text has the registered name, for at most five seconds and without holding a connection. Does not wait if the
 * clock cannot sleep.
 */
export const awaitName = async (deps: Pick<Parts, 'clock' | 'db' | 'rails'>, id: Uuid): Promise<void> => {
  for (;;) {
    const waiting = await first(deps.db, readAwaited, { id })
    if (!waiting?.until) return
    const { accountId, batchId, until } = waiting
    if (until <= deps.clock.now()) {
      // A single payment's text already says that its name is being checked.
      if (batchId !== null) await endAwaiting(deps, { id, accountId })
      return
    }
    if (!deps.clock.sleep) return
    await deps.clock.sleep(pollEveryMs)
  }
}

/** Renews overdue texts of batches. If a batch is read first, the reader renews its text. */
export const renewOverdue = sweepOf(
  'approvals.renew',
  {
    id: approvals.id,
    due: approvals.nameAwaitedUntil,
    where: [sql`${approvals.status} = 'pending'`, isNotNull(approvals.batchId)],
    fields: { accountId: approvals.accountId },
  },
  (deps: SweepDeps & Pick<Parts, 'rails'>, row) => endAwaiting(deps, row),
)
