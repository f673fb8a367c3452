import { createHash } from 'node:crypto'
import type { Tx } from '../../../db/client.ts'
import { prepareInsertAll, prepareInsertOnce } from '../../../db/prepare-write.ts'
import { reconciliationDifferences, reconciliations } from '../../../db/tables/rails.ts'
import { audit } from '../../../events/audit.ts'
import { conflict } from '../../../lib/errors.ts'
import { newId, type Uuid } from '../../../lib/ids.ts'
import type { Provider } from '../../../lib/rail-names.ts'
import { alertAfterCommit } from '../../alerts.ts'
import { nameOfOperator, type Operator } from '../../operators.ts'
import { type Finding, recordAllSuspense } from '../../suspense/service.ts'
import type { ReconciliationRecord } from './queries.ts'
import type { Difference, Match, StatementMatch } from './rules.ts'

const insertRun = prepareInsertOnce('reconciliation.insert', reconciliations)

const insertAll = prepareInsertAll('reconciliation.insert_differences', reconciliationDifferences)

export type Comparison = {
  provider: Provider
  source: string
  /** The organisation's number and account at the provider that a statement names. */
  account?: string | null
  /** The same content is compared once. */
  content: string
  period: { start: Date; end: Date }
  lines: number
  result: Match | StatementMatch
  /** Kept for the next comparison. */
  totals?: Readonly<Record<string, string>>
  /** Lists what differs, and changes nothing. */
  report?: boolean
}

export const suspenseFor = (
  provider: Provider,
  { receipt, statedMinor }: Pick<Difference, 'receipt' | 'statedMinor'>,
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
  }
}

/** Taken as evidence of its payment or top-up. */
export const isEvidence = ({ kind, subject }: Difference): boolean =>
  kind === 'under_way' || (kind === 'reversed' && subject?.kind === 'payment')

const isUnexplained = ({ kind, subject }: Difference): boolean =>
  kind === 'not_in_our_books' || (kind === 'reversed' && subject?.kind !== 'payment')

/** A line that was accepted as evidence needs no person. */
const asEvidence = { by: 'statement', note: 'Taken as evidence.' }

/** Differences that are written at once: the lists of ten thousand, written in one turn, hold up every other request. */
const portion = 1_000

const insertDifferences = async (tx: Tx, reconciliationId: Uuid, all: readonly Difference[], report: boolean): Promise<void> => {
  for (let from = 0; from < all.length; from += portion)
    await insertPortion(tx, reconciliationId, all.slice(from, from + portion), report)
}

const insertPortion = (tx: Tx, reconciliationId: Uuid, differences: readonly Difference[], report: boolean): Promise<unknown> =>
  insertAll(
    tx.query,
    differences.map((difference) => {
      const { subject, kind, receipt, bookedMinor, statedMinor, reason, action, offer } = difference
      const closed = isEvidence(difference) && !report ? asEvidence : null
      return {
        ...{ id: newId(), reconciliationId, kind, receipt, bookedMinor, statedMinor, reason, action, offer },
        subjectKind: subject?.kind,
        subjectId: subject?.id,
        resolvedAt: closed && tx.at,
        resolvedBy: closed?.by,
        note: closed?.note,
        createdAt: tx.at,
      }
    }),
  )

/** Records a comparison of the books with what a provider says: its sums, and a row for each difference. */
export const recordComparison = async (
  tx: Tx,
  operator: Operator,
  { provider, source, account = null, content, period, lines, result, totals, report = false }: Comparison,
): Promise<ReconciliationRecord> => {
  const { at } = tx
  const run: ReconciliationRecord = {
    id: newId(),
    provider,
    source,
    account,
    // A statement that was compared without its account may be compared again.
    contentHash: createHash('sha256')
      .update(account === null ? content : `${account} ${content}`)
      .digest(),
    periodStart: period.start,
    periodEnd: period.end,
    lines,
    matched: result.matched,
    differences: result.differences.length,
    totals: {
      ...totals,
      booked_minor: result.bookedMinor.toString(),
      stated_minor: result.statedMinor.toString(),
      ...('charges' in result && { charges_minor: result.charges.minor.toString() }),
    },
    requestedBy: nameOfOperator(operator),
    createdAt: at,
  }
  if (!(await insertRun(tx, run))) throw conflict('This statement is already reconciled.')
  await insertDifferences(tx, run.id, result.differences, report)
  const unknown = report ? [] : result.differences.filter(isUnexplained)
  await recordAllSuspense(
    tx,
    unknown.map((difference) => suspenseFor(provider, difference)),
  )
  audit(tx, operator, 'admin.reconcile', {
    subject: run.id,
    after: { provider, source, lines, matched: run.matched, differences: run.differences, ...(report && { report }) },
  })
  const open = result.differences.filter((difference) => report || !isEvidence(difference)).length
  if (open > 0) alertAfterCommit(tx, 'reconciliation_difference', { subject: 'reconciliation', id: run.id, code: String(open) })
  return run
}
