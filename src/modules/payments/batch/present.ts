import { isoTime, isoTimeOrNull } from '../../../lib/clock.ts'
import { formatId } from '../../../lib/ids.ts'
import { formatMinor, minor } from '../../../lib/money.ts'
import type { Decision } from '../../policies/schema.ts'
import type { BatchRecord, LineRow } from './queries.ts'
import type { PaymentBatch, PaymentBatchLines } from './schema.ts'

export const presentBatch = ({ batch, counts }: BatchRecord): PaymentBatch => ({
  id: formatId('payment_batch', batch.id),
  workspace_id: formatId('workspace', batch.workspaceId),
  name: batch.name,
  status: batch.status,
  items_count: batch.itemsCount,
  total_minor: formatMinor(batch.totalMinor),
  currency: batch.currency,
  merkle_root: batch.merkleRoot,
  counts,
  execute_at: isoTimeOrNull(batch.executeAt),
  approval_id: batch.approvalId && formatId('approval', batch.approvalId),
  initiated_by: {
    account_id: formatId('account', batch.initiatorAccountId),
    grant_id: batch.grantId && formatId('grant', batch.grantId),
  },
  idempotency_key: batch.idempotencyKey,
  metadata: batch.metadata,
  created_at: isoTime(batch.createdAt),
  updated_at: isoTime(batch.updatedAt),
  completed_at: isoTimeOrNull(batch.completedAt),
})

const givenName = (warnings: Decision['warnings']): string | null =>
  warnings.find((warning) => warning.code === 'name_differs')?.given_name ?? null

export const presentLines = ({ batch }: BatchRecord, lines: readonly LineRow[]): PaymentBatchLines => ({
  batch_id: formatId('payment_batch', batch.id),
  merkle_root: batch.merkleRoot,
  lines: lines.map(({ id, row, leaf, snapshot, verification, lastAmountMinor }) => ({
    payment_id: formatId('payment', id),
    row,
    leaf: leaf ?? '',
    verification,
    // Written by presentDecision when the payment was created.
    given_name: givenName((snapshot.decision as Decision).warnings),
    last_amount_minor: minor(lastAmountMinor),
  })),
})
