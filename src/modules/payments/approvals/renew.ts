import { sql } from 'drizzle-orm'
import { statement, type Tx } from '../../../db/client.ts'
import { prepare } from '../../../db/prepare.ts'
import { prepareUpdate } from '../../../db/prepare-write.ts'
import { approvals } from '../../../db/tables/approvals.ts'
import { beneficiaries } from '../../../db/tables/beneficiaries.ts'
import { type Actor, audit } from '../../../events/audit.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { Rails } from '../../../rails/rail.ts'
import { payeeOfLeaf } from '../batch/leaf-rules.ts'
import { isBeingChecked } from '../evaluation/payee-facts.ts'
import { type NamedLine, withNamesAtRail } from './batch-message.ts'
import { type LockedApproval, lockWholeById } from './lock.ts'
import { isSameText, withNameAtRail } from './message.ts'
import { voidAfterNewText } from './void.ts'

// While an approval waits, a name at the rail that changed makes a new text, and decisions on the old one count no more. A batch gets one new
// text at most: when its first checks have ended, or five seconds after it was asked for.

const rail: Actor = { accountId: null, origin: null, way: 'rail' }

const writeText = prepareUpdate('approvals.write_text', approvals, [
  'approveMessage',
  'rejectMessage',
  'renewedAt',
  'nameAwaitedUntil',
  'updatedAt',
])

/** The old texts stay in the audit log: a signature of one of them is told apart from a wrong one. */
const renewWith = async (
  tx: Tx,
  { approval, payment, decisions }: LockedApproval,
  change: (message: string) => string,
): Promise<void> => {
  const { approveMessage: approve, rejectMessage: reject, id } = approval
  const after = { approveMessage: change(approve), rejectMessage: change(reject) }
  if (isSameText(approve, after.approveMessage)) return
  writeText(tx, id, { ...after, renewedAt: tx.at, nameAwaitedUntil: null, updatedAt: tx.at })
  await audit(tx, rail, tx.at, {
    action: 'approval.text_changed',
    workspaceId: payment.workspaceId,
    subject: { type: 'approval', id },
    before: { approve, reject },
  })
  await voidAfterNewText(tx, rail, { approval, decisions })
}

const readNames = prepare('approvals.names_of_payees', { ids: 'uuid[]' }, (orm, at) =>
  orm
    .select({
      id: beneficiaries.id,
      verification: beneficiaries.verification,
      reportedName: beneficiaries.reportedName,
      nameSource: beneficiaries.nameSource,
      nameCheckDueAt: beneficiaries.nameCheckDueAt,
      paymentRail: beneficiaries.paymentRail,
    })
    .from(beneficiaries)
    .where(sql`${beneficiaries.id} = any(${at.ids})`),
)

type NameRow = Pick<
  typeof beneficiaries.$inferSelect,
  'id' | 'verification' | 'reportedName' | 'nameSource' | 'nameCheckDueAt' | 'paymentRail'
>

/** `atLast`: what is not known by now stays unknown in the text. */
const renewBatch = async (tx: Tx, rails: Rails, record: LockedApproval, atLast: boolean): Promise<void> => {
  const { payments } = record
  const ids = [...new Set(payments.map(({ beneficiaryId }) => beneficiaryId))]
  const rows = new Map((await tx.run(readNames, { ids })).map((row) => [row.id, row]))
  const lines = payments.flatMap(({ beneficiaryId, batchLeaf, amountMinor }): NamedLine[] => {
    const row = rows.get(beneficiaryId)
    if (!row || batchLeaf === null) return []
    return [{ ...row, payeeName: payeeOfLeaf(batchLeaf), amountMinor, isBeingChecked: isBeingChecked(rails, row) }]
  })
  if (!atLast && lines.some((line) => line.isBeingChecked)) return
  const change = (message: string) => withNamesAtRail(message, lines, record.payment.currency, tx.at)
  await renewWith(tx, record, change)
}

/** When the time of a batch's first checks is over. The caller has locked the account that pays. */
export const renewAtLast = async (tx: Tx, rails: Rails, id: Uuid): Promise<void> => {
  const record = await lockWholeById(tx, id)
  const until = record?.approval.nameAwaitedUntil ?? null
  if (record?.approval.status === 'pending' && until !== null && until <= tx.at) await renewBatch(tx, rails, record, true)
}

const findWaiting = statement(
  'approvals.waiting_for_payee',
  `select a.id from approvals a where a.workspace_id = $1 and a.status = 'pending' and case
     when a.batch_id is null then exists (select from payments p where p.id = a.payment_id and p.beneficiary_id = $2)
     when a.name_awaited_until is null then false
     else exists (select from payments p where p.batch_id = a.batch_id and p.beneficiary_id = $2) end
   order by a.id`,
)

/** In the transaction that writes what a check of a payee's name found; it has locked the account that pays. */
export const renewTexts = async (
  tx: Tx,
  rails: Rails,
  payee: Omit<NameRow, 'nameCheckDueAt' | 'paymentRail'> & { workspaceId: Uuid },
): Promise<void> => {
  for (const { id } of await tx.query<{ id: Uuid }>(findWaiting, [payee.workspaceId, payee.id])) {
    const record = await lockWholeById(tx, id)
    if (record?.approval.status !== 'pending') continue
    if (record.approval.batchId !== null) await renewBatch(tx, rails, record, false)
    else await renewWith(tx, record, (message) => withNameAtRail(message, payee, tx.at))
  }
}
