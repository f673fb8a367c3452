import { presenter } from '../../../http/presenter.ts'
import { formatId } from '../../../lib/ids.ts'
import { minor } from '../../../lib/money.ts'
import type { Decision } from '../../policies/schema.ts'
import type { BatchRecord, LineRow } from './queries.ts'
import { PaymentBatch, type PaymentBatchLines } from './schema.ts'

const shown = presenter(PaymentBatch)

export const presentBatch = ({ batch, counts }: BatchRecord): PaymentBatch =>
  shown(batch, {
    counts,
    initiated_by: {
      account_id: formatId('account', batch.initiatorAccountId),
      grant_id: batch.grantId && formatId('grant', batch.grantId),
    },
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
