import { isoTime, isoTimeOrNull } from '../../../lib/clock.ts'
import { formatId } from '../../../lib/ids.ts'
import type { DifferenceRecord, ReconciliationRecord } from './queries.ts'
import { differenceKinds } from './rules.ts'
import type { Reconciliation, ReconciliationDifference } from './schema.ts'

export const presentReconciliation = (run: ReconciliationRecord): Reconciliation => ({
  id: formatId('reconciliation', run.id),
  provider: run.provider,
  source: run.source,
  account: run.account,
  period_start: isoTime(run.periodStart),
  period_end: isoTime(run.periodEnd),
  lines: run.lines,
  matched: run.matched,
  differences: run.differences,
  booked_minor: run.totals.booked_minor ?? '0',
  stated_minor: run.totals.stated_minor ?? '0',
  charges_minor: run.totals.charges_minor ?? '0',
  unproven: run.totals.unproven ?? null,
  requested_by: run.requestedBy,
  created_at: isoTime(run.createdAt),
})

const signed = (amount: bigint | null): string | null => (amount === null ? null : amount.toString())

export const presentDifference = (row: DifferenceRecord): ReconciliationDifference => ({
  id: formatId('reconciliation', row.id),
  reconciliation_id: formatId('reconciliation', row.reconciliationId),
  kind: differenceKinds.find((kind) => kind === row.kind) ?? 'not_in_our_books',
  provider_receipt: row.receipt,
  payment_id: row.subjectKind === 'payment' && row.subjectId !== null ? formatId('payment', row.subjectId) : null,
  topup_id: row.subjectKind === 'topup' && row.subjectId !== null ? formatId('topup', row.subjectId) : null,
  booked_minor: signed(row.bookedMinor),
  stated_minor: signed(row.statedMinor),
  reason: row.reason,
  action: row.action,
  offered_outcome: row.offer,
  resolved_at: isoTimeOrNull(row.resolvedAt),
  resolved_by: row.resolvedBy,
  note: row.note,
  created_at: isoTime(row.createdAt),
})
