import { presenter } from '../../../http/presenter.ts'
import { formatId } from '../../../lib/ids.ts'
import type { DifferenceRecord, ReconciliationRecord } from './queries.ts'
import { differenceKinds } from './rules.ts'
import { Reconciliation, ReconciliationDifference } from './schema.ts'

const shownRun = presenter(Reconciliation)

export const presentReconciliation = (run: ReconciliationRecord): Reconciliation =>
  shownRun(run, {
    booked_minor: run.totals.booked_minor ?? '0',
    stated_minor: run.totals.stated_minor ?? '0',
    charges_minor: run.totals.charges_minor ?? '0',
    unproven: run.totals.unproven ?? null,
  })

const shownDifference = presenter(ReconciliationDifference)

export const presentDifference = (row: DifferenceRecord): ReconciliationDifference =>
  shownDifference(row, {
    kind: differenceKinds.find((kind) => kind === row.kind) ?? 'not_in_our_books',
    provider_receipt: row.receipt,
    payment_id: row.subjectKind === 'payment' && row.subjectId !== null ? formatId('payment', row.subjectId) : null,
    topup_id: row.subjectKind === 'topup' && row.subjectId !== null ? formatId('topup', row.subjectId) : null,
    offered_outcome: row.offer,
  })
