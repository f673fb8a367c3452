import { presenter } from '../../../http/presenter.ts'
import { isoTime } from '../../../lib/clock.ts'
import { formatId, type Uuid } from '../../../lib/ids.ts'
import { formatMinor } from '../../../lib/money.ts'
import type { BatchLine } from '../approvals/message.ts'
import type { BatchRow } from '../batch/queries.ts'
import { PaymentBatchPreview } from '../batch/schema.ts'
import type { BatchRequest } from '../request.ts'
import type { KnownItem } from './batch-items.ts'
import type { Accepted } from './decide.ts'

const shownPreview = presenter(PaymentBatchPreview)

export type ComposedBatch = {
  batch: BatchRow & { status: PaymentBatchPreview['status'] }
  accepted: readonly Accepted[]
  lines: readonly BatchLine[]
}

/** The answer to a dry run. */
export const presentPreview = (
  { batch, accepted, lines }: ComposedBatch,
  items: readonly KnownItem[],
  request: Pick<BatchRequest, 'rows' | 'warnings'>,
): PaymentBatchPreview => {
  const rowAt = (index: number) => request.rows?.[index] ?? null
  const created = new Set(items.flatMap(({ isNew, input }) => (isNew ? [input.beneficiary_id] : [])))
  return shownPreview(batch, {
    fees_minor: formatMinor(batch.feesMinor ?? 0n),
    required_approvals: Math.max(0, ...accepted.map(({ decision }) => decision.requiredApprovals)),
    new_payees_count: created.size,
    warnings: request.warnings,
    items: accepted.map(({ payment, decision }, index) => {
      const isNew = created.has(payment.beneficiaryId)
      const same = decision.warnings.find((warning) => warning.code === 'possible_duplicate')
      const other = decision.warnings.find((warning) => warning.code === 'name_differs')
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
        warnings: decision.warnings.map(({ code }) => code),
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
  })
}
