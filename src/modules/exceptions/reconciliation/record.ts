import { createHash } from 'node:crypto'
import { statement, type Tx } from '../../../db/client.ts'
import { plainList, textList, timeList } from '../../../db/lists.ts'
import { prepareInsertOnce } from '../../../db/prepare-write.ts'
import { reconciliations } from '../../../db/tables/rails.ts'
import { audit } from '../../../events/audit.ts'
import { conflict } from '../../../lib/errors.ts'
import { newId, type Uuid } from '../../../lib/ids.ts'
import type { Provider } from '../../../lib/rail-names.ts'
import { alertAfterCommit } from '../../alerts.ts'
import { nameOfOperator, type Operator } from '../../operators.ts'
import type { Finding } from '../../suspense/rules.ts'
import { recordAllSuspense } from '../../suspense/service.ts'
import type { ReconciliationRecord } from './queries.ts'
import type { Difference, Match, StatementMatch } from './rules.ts'

const insertRun = prepareInsertOnce('reconciliation.insert', reconciliations)

/** One statement for a statement's thousand differences, which drizzle's insert cannot be prepared for: the number of its rows is not known. */
const insertAll = statement(
  'reconciliation.insert_differences',
  `insert into reconciliation_differences (reconciliation_id, created_at, id, kind, receipt, subject_kind, subject_id, booked_minor, stated_minor,
     reason, action, offer, resolved_at, resolved_by, note)
   select $1, $2, d.* from unnest($3::uuid[], $4::text[], $5::text[], $6::text[], $7::uuid[], $8::bigint[], $9::bigint[], $10::text[],
     $11::text[], $12::text[], $13::timestamptz[], $14::text[], $15::text[]) as d`,
)

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

const insertPortion = (tx: Tx, reconciliationId: Uuid, differences: readonly Difference[], report: boolean): Promise<unknown> => {
  const list = <Value>(read: (difference: Difference) => Value): Value[] => differences.map(read)
  const closed = list((difference) => isEvidence(difference) && !report)
  return tx.query(insertAll, [
    reconciliationId,
    tx.at,
    plainList(list(() => newId())),
    textList(list(({ kind }) => kind)),
    textList(list(({ receipt }) => receipt)),
    textList(list(({ subject }) => subject?.kind ?? null)),
    plainList(list(({ subject }) => subject?.id ?? null)),
    plainList(list(({ bookedMinor }) => bookedMinor)),
    plainList(list(({ statedMinor }) => statedMinor)),
    textList(list(({ reason }) => reason)),
    textList(list(({ action }) => action)),
    textList(list(({ offer }) => offer ?? null)),
    timeList(closed.map((is) => (is ? tx.at : null))),
    textList(closed.map((is) => (is ? asEvidence.by : null))),
    textList(closed.map((is) => (is ? asEvidence.note : null))),
  ])
}

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
    unknown.map((difference) => suspenseFor(provider, difference, at)),
  )
  await audit(tx, operator, at, {
    action: 'admin.reconcile',
    subject: { type: 'reconciliation', id: run.id },
    after: { provider, source, lines, matched: run.matched, differences: run.differences, ...(report && { report }) },
  })
  const open = result.differences.filter((difference) => report || !isEvidence(difference)).length
  if (open > 0) alertAfterCommit(tx, 'reconciliation_difference', { subject: 'reconciliation', id: run.id, code: String(open) })
  return run
}
