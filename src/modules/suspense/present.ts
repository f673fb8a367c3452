import { isoTime, isoTimeOrNull } from '../../lib/clock.ts'
import { formatId } from '../../lib/ids.ts'
import { formatMinor } from '../../lib/money.ts'
import type { AdjustmentRecord, SuspenseView } from './queries.ts'
import type { Adjustment, SuspenseItem } from './schema.ts'

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

export const presentSuspense = (item: SuspenseView): SuspenseItem => ({
  id: formatId('suspense', item.id),
  rail: item.rail,
  direction: item.direction,
  reason: item.reason,
  sender_name: item.deposit?.payerName ?? null,
  payment_reference: item.deposit?.reference ?? null,
  paid_at: isoTimeOrNull(item.deposit?.paidAt ?? null),
  payment_id: item.subjectKind === 'payment' && item.subjectId !== null ? formatId('payment', item.subjectId) : null,
  topup_id: item.subjectKind === 'topup' && item.subjectId !== null ? formatId('topup', item.subjectId) : null,
  provider_receipt: item.providerReceipt,
  amount_minor: item.amountMinor === null ? null : formatMinor(item.amountMinor),
  booked: item.transferId !== null,
  outcome: item.outcome,
  note: item.note,
  resolved_by: item.resolvedBy,
  proposal: item.proposedOutcome && item.proposedBy ? { outcome: item.proposedOutcome, by: item.proposedBy } : null,
  created_at: isoTime(item.createdAt),
  resolved_at: isoTimeOrNull(item.resolvedAt),
})
