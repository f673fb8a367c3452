import { createHash } from 'node:crypto'
import type { Tx } from '../../../db/client.ts'
import { prepareInsertAll, prepareInsertOnce } from '../../../db/prepare-write.ts'
import { reconciliationDifferences, reconciliations } from '../../../db/tables/rails.ts'
import { audit } from '../../../events/audit.ts'
import { conflict } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
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
  totals?: Readonly<Record<string, string>> | undefined
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

/** Differences that are written at once: the lists of ten thousand, written in one turn, hold up every other request. */
const portion = 1_000

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
  const isClosed = (difference: Difference) => !report && isEvidence(difference)
  const rowOf = ({ subject, attemptId: _, ...difference }: Difference) => ({
    ...difference,
    id: newId(),
    reconciliationId: run.id,
    subjectKind: subject?.kind,
    subjectId: subject?.id,
    createdAt: at,
  })
  for (let from = 0; from < result.differences.length; from += portion)
    await insertAll(
      tx.query,
      result.differences
        .slice(from, from + portion)
        // A line that was accepted as evidence needs no person.
        .map((each) => ({
          ...rowOf(each),
          ...(isClosed(each) && { resolvedAt: at, resolvedBy: 'statement', note: 'Taken as evidence.' }),
        })),
    )
  const unexplained = report ? [] : result.differences.filter(isUnexplained)
  await recordAllSuspense(
    tx,
    unexplained.map((difference) => suspenseFor(provider, difference)),
  )
  audit(tx, operator, 'admin.reconcile', {
    subject: run.id,
    after: { provider, source, lines, matched: run.matched, differences: run.differences, ...(report && { report }) },
  })
  const open = result.differences.filter((difference) => !isClosed(difference)).length
  if (open > 0) alertAfterCommit(tx, 'reconciliation_difference', { subject: 'reconciliation', id: run.id, code: String(open) })
  return run
}
