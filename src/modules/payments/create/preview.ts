import { isoTime } from '../../../lib/clock.ts'
import { formatId, type Uuid } from '../../../lib/ids.ts'
import { formatMinor } from '../../../lib/money.ts'
import type { Decision } from '../../policies/schema.ts'
import type { BatchLine } from '../approvals/batch-message.ts'
import type { BatchRow } from '../batch/queries.ts'
import type { PaymentBatchPreview } from '../batch/schema.ts'
import type { KnownItem } from './batch-items.ts'
import type { Accepted } from './decide.ts'

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
    status: batch.executeAt ? 'scheduled' : batch.approvalId ? 'pending_approval' : 'processing',
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
