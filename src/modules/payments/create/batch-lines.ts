import { getTableColumns, sql } from 'drizzle-orm'
import { prepare } from '../../../db/prepare.ts'
import { beneficiaries } from '../../../db/tables/beneficiaries.ts'
import { paidPaymentsSql } from '../../../db/transitions.ts'
import { isoTime } from '../../../lib/clock.ts'
import { formatId, type Uuid } from '../../../lib/ids.ts'
import { formatMinor, type Minor } from '../../../lib/money.ts'
import { isBeingChecked } from '../../beneficiaries/payee-queries.ts'
import { destinationContext } from '../../beneficiaries/queries.ts'
import type { Sealing } from '../../beneficiaries/service.ts'
import type { Decision } from '../../policies/schema.ts'
import type { BatchLine } from '../approvals/message.ts'
import { digestOf } from '../approvals/request.ts'
import { leafText } from '../batch/leaf-rules.ts'
import type { BatchRow } from '../batch/queries.ts'
import type { PaymentBatchPreview } from '../batch/schema.ts'
import type { KnownItem } from './batch-items.ts'
import type { Accepted } from './decide.ts'

/** Who is paid, and what was paid to the same destination the last time. */
export const payeesOf = prepare('payment_batches.payees', { ids: 'uuid[]' }, (orm, at) =>
  orm
    .select({
      ...getTableColumns(beneficiaries),
      lastAmountMinor: sql<Minor | null>`(select p.amount_minor from payments p
        where p.payee_id = any(array[beneficiaries.payee_id]) and p.status in ${sql.raw(paidPaymentsSql)}
        order by p.payee_id desc, p.id desc limit 1)`,
    })
    .from(beneficiaries)
    .where(sql`${beneficiaries.id} = any(${at.ids})`),
)
export type PayeeRow = typeof beneficiaries.$inferSelect & { lastAmountMinor: Minor | null }

/** Of a batch, and of its items. */
export const firstStatus = ({
  executeAt,
  approvalId,
}: Pick<BatchRow, 'executeAt' | 'approvalId'>): PaymentBatchPreview['status'] =>
  executeAt ? 'scheduled' : approvalId ? 'pending_approval' : 'processing'

/** An item as the Merkle tree binds it, and as the text of the approval names it. */
export const lineOf = (
  deps: Sealing,
  { payment, decision }: Accepted,
  { payees, nonce, index }: { payees: ReadonlyMap<Uuid, PayeeRow>; nonce: string; index: number },
): { line: BatchLine; leaf: string } => {
  const payee = payees.get(payment.beneficiaryId)
  if (!payee) throw new Error('an accepted payment has no beneficiary')
  const line: BatchLine = {
    beneficiaryId: payment.beneficiaryId,
    payeeName: payee.displayName,
    rail: payment.rail,
    destinationMask: payee.destinationMask,
    amountMinor: payment.amountMinor,
    isBeingChecked: isBeingChecked(deps.rails, payee),
    lastAmountMinor: payee.lastAmountMinor,
    reportedName: payee.reportedName,
    nameSource: payee.nameSource,
    verification: payee.verification,
    warnings: decision.warnings,
  }
  const { currency, accountReference, narrative, purposeCode } = payment
  const destinationDigest = digestOf(deps, nonce, payee)
  return { line, leaf: leafText({ ...line, index, destinationDigest, currency, accountReference, narrative, purposeCode }) }
}

type Decided = { batch: BatchRow; accepted: readonly Accepted[]; lines: readonly BatchLine[] }

/** The batch that a dry run would have created. */
export const presentPreview = (
  { batch, accepted, lines }: Decided,
  items: readonly KnownItem[],
  rows: readonly number[] | null,
): PaymentBatchPreview => {
  const rowAt = (index: number) => rows?.[index] ?? null
  const created = items.flatMap(({ isNew, input }) => (isNew ? [input.beneficiary_id] : []))
  return {
    status: firstStatus(batch),
    items_count: batch.itemsCount,
    total_minor: formatMinor(batch.totalMinor),
    currency: batch.currency,
    required_approvals: Math.max(0, ...accepted.map(({ decision }) => decision.requiredApprovals)),
    new_payees_count: new Set(created).size,
    items: accepted.map(({ payment, decision }, index) => {
      const isNew = created.includes(payment.beneficiaryId)
      // Written by presentDecision when the item was decided.
      const { warnings } = payment.snapshot.decision as Decision
      const [same, other] = [
        decision.warnings.find((warning) => warning.code === 'possible_duplicate'),
        decision.warnings.find((warning) => warning.code === 'name_differs'),
      ]
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
        warnings: warnings.map(({ code }) => code),
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
  }
}
