import { isoTime, isoTimeOrNull } from '../../lib/clock.ts'
import { formatId } from '../../lib/ids.ts'
import { formatMinor } from '../../lib/money.ts'
import type { AdjustmentRecord } from './queries.ts'
import type { Adjustment } from './schema.ts'

export const presentAdjustment = (adjustment: AdjustmentRecord): Adjustment => ({
  id: formatId('ledger', adjustment.id),
  kind: adjustment.kind,
  status: adjustment.status,
  account_id: formatId('account', adjustment.accountId),
  payment_id: adjustment.paymentId === null ? null : formatId('payment', adjustment.paymentId),
  direction: adjustment.amountMinor > 0n ? 'credit' : 'debit',
  amount_minor: formatMinor(adjustment.amountMinor > 0n ? adjustment.amountMinor : -adjustment.amountMinor),
  currency: adjustment.currency,
  reason: adjustment.reason,
  requested_by: adjustment.requestedBy,
  decided_by: adjustment.decidedBy,
  created_at: isoTime(adjustment.createdAt),
  decided_at: isoTimeOrNull(adjustment.decidedAt),
})
