import { createHash } from 'node:crypto'
import type { Tx } from '../../db/client.ts'
import { prepareInsert, prepareInsertOnce } from '../../db/prepare-write.ts'
import { reconciliationDifferences, reconciliations } from '../../db/tables/rails.ts'
import { audit } from '../../events/audit.ts'
import { conflict } from '../../lib/errors.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import type { Provider } from '../../lib/rail-names.ts'
import { alertAfterCommit } from '../alerts.ts'
import { nameOfOperator, type Operator } from '../operators.ts'
import type { Finding } from '../suspense/rules.ts'
import { recordAllSuspense } from '../suspense/service.ts'
import type { Deps } from './deps.ts'
import type { ReconciliationRecord } from './queries.ts'
import type { Difference, Match } from './rules.ts'

const insertRun = prepareInsertOnce('reconciliation.insert', reconciliations)
const insertDifference = prepareInsert('reconciliation.insert_difference', reconciliationDifferences)

export type Comparison = {
  provider: Provider
  source: string
  /** The same content is compared once. */
  content: string
  period: { start: Date; end: Date }
  lines: number
  result: Match
  /** Kept for the next comparison. */
  totals?: Readonly<Record<string, string>>
  /** Lists what differs, and changes nothing. */
  report?: boolean
}

export const suspenseFor = (
  provider: Provider,
  { receipt, statedMinor }: Pick<Difference, 'receipt' | 'statedMinor'>,
  at: Date,
): Finding => {
  const stated = statedMinor ?? 0n
  return {
    rail: provider,
    direction: stated >= 0n ? 'in' : 'out',
    reason: 'not_in_our_books',
    receipt,
    amountMinor: stated < 0n ? -stated : stated,
    book: true,
    alerted: true,
    at,
  }
}

const insertDifferences = (tx: Tx, reconciliationId: Uuid, differences: readonly Difference[], report: boolean): void => {
  const { at } = tx
  for (const { kind, receipt, subject, bookedMinor, statedMinor, reason, action, offer } of differences)
    insertDifference(tx, {
      id: newId(),
      reconciliationId,
      kind,
      receipt,
      subjectKind: subject?.kind ?? null,
      subjectId: subject?.id ?? null,
      bookedMinor,
      statedMinor,
      reason,
      action,
      offer: offer ?? null,
      createdAt: at,
      // A line that was accepted as evidence needs no person.
      ...(kind === 'under_way' && !report && { resolvedAt: at, resolvedBy: 'statement', note: 'Taken as evidence.' }),
    })
}

/** Records a comparison of the books with what a provider says: its sums, and a row for each difference. */
export const recordComparison = async (
  tx: Tx,
  deps: Pick<Deps, 'alerts'>,
  operator: Operator,
  { provider, source, content, period, lines, result, totals, report = false }: Comparison,
): Promise<ReconciliationRecord> => {
  const { at } = tx
  const run: ReconciliationRecord = {
    id: newId(),
    provider,
    source,
    contentHash: createHash('sha256').update(content).digest(),
    periodStart: period.start,
    periodEnd: period.end,
    lines,
    matched: result.matched,
    differences: result.differences.length,
    totals: { ...totals, booked_minor: result.bookedMinor.toString(), stated_minor: result.statedMinor.toString() },
    requestedBy: nameOfOperator(operator),
    createdAt: at,
  }
  if (!(await insertRun(tx, run))) throw conflict('This statement is already reconciled.')
  insertDifferences(tx, run.id, result.differences, report)
  const unknown = report ? [] : result.differences.filter(({ kind }) => kind === 'not_in_our_books')
  await recordAllSuspense(
    tx,
    deps,
    unknown.map((difference) => suspenseFor(provider, difference, at)),
  )
  await audit(tx, operator, at, {
    action: 'admin.reconcile',
    subject: { type: 'reconciliation', id: run.id },
    after: { provider, source, lines, matched: run.matched, differences: run.differences, ...(report && { report }) },
  })
  const open = result.differences.filter(({ kind }) => report || kind !== 'under_way').length
  if (open > 0)
    alertAfterCommit(tx, deps, 'reconciliation_difference', { subject: 'reconciliation', id: run.id, code: String(open) })
  return run
}
