import { createHash } from 'node:crypto'
import { and, desc, eq, gte, isNotNull, isNull } from 'drizzle-orm'
import { type Db, first, type Tx } from '../../../db/client.ts'
import { newestFirst } from '../../../db/list-queries.ts'
import { prepare } from '../../../db/prepare.ts'
import { insertOnce, insertRows } from '../../../db/prepare-write.ts'
import { selectRow } from '../../../db/select-rows.ts'
import { reconciliationDifferences, reconciliations } from '../../../db/tables/rails.ts'
import { audit } from '../../../events/audit.ts'
import type { PageRequest } from '../../../http/pagination.ts'
import { presenter } from '../../../http/presenter.ts'
import { conflict, type Refusal } from '../../../lib/errors.ts'
import { newId, type Uuid } from '../../../lib/ids.ts'
import { byChunks } from '../../../lib/lists.ts'
import { formatMinor, type Minor } from '../../../lib/money.ts'
import type { Provider } from '../../../lib/rail-names.ts'
import { alertAfterCommit } from '../../alerts.ts'
import { nameOfOperator, type Operator, timerOperator } from '../../operators.ts'
import { presentSubject } from '../../suspense/schema.ts'
import { type Finding, recordAllSuspense } from '../../suspense/service.ts'
import { differenceKinds } from './explanations.ts'
import type { Difference, Match, StatementMatch } from './matching-rules.ts'
import { Reconciliation, ReconciliationDifference } from './schema.ts'

/** Sources of comparisons by API. The source of a file is its name. */
export const providerSource = 'provider'
export const balanceSource = 'balance'

export type ReconciliationRecord = typeof reconciliations.$inferSelect
export type DifferenceRecord = typeof reconciliationDifferences.$inferSelect

/** Comparisons by the service itself. A file or an upload may have the same source, because people name those. */
export const isByService = eq(reconciliations.requestedBy, nameOfOperator(timerOperator))

const newest = prepare('reconciliation.newest', { provider: 'text', source: 'text' }, (orm, param) =>
  orm
    .select()
    .from(reconciliations)
    .where(and(eq(reconciliations.provider, param.provider), eq(reconciliations.source, param.source), isByService))
    .orderBy(desc(reconciliations.id))
    .limit(1),
)

/** The comparisons by the service itself of periods that ended after a time. */
export const recentComparisons = prepare(
  'reconciliation.recent',
  { provider: 'text', source: 'text', since: 'timestamptz' },
  (orm, param) =>
    orm
      .select()
      .from(reconciliations)
      .where(
        and(
          eq(reconciliations.provider, param.provider),
          eq(reconciliations.source, param.source),
          gte(reconciliations.periodEnd, param.since),
          isByService,
        ),
      ),
)

/** The newest comparison by the service itself. */
export const findComparison = (
  db: Db,
  provider: ReconciliationRecord['provider'],
  source: string,
): Promise<ReconciliationRecord | undefined> => first(db, newest, { provider, source })

const list = prepare('reconciliation.list', { before: 'uuid?', take: 'rows' }, 'pool', (orm, param) =>
  newestFirst(orm.select().from(reconciliations), { id: reconciliations.id }, param),
)

export const listReconciliations = (db: Db, page: PageRequest): Promise<ReconciliationRecord[]> => db.run(list, { ...page })

const differences = prepare(
  'reconciliation.differences',
  { reconciliationId: 'uuid?', open: 'flag?', resolved: 'flag?', before: 'uuid?', take: 'rows' },
  'pool',
  (orm, param) =>
    newestFirst(
      orm.select().from(reconciliationDifferences),
      { id: reconciliationDifferences.id },
      param,
      param.reconciliationId && eq(reconciliationDifferences.reconciliationId, param.reconciliationId),
      param.open && isNull(reconciliationDifferences.resolvedAt),
      param.resolved && isNotNull(reconciliationDifferences.resolvedAt),
    ),
)

export const listDifferences = (
  db: Db,
  filter: { reconciliationId?: Uuid | undefined; open?: boolean; resolved?: boolean },
  page: PageRequest,
): Promise<DifferenceRecord[]> => db.run(differences, { ...filter, ...page })

const shownRun = presenter(Reconciliation)

export const presentReconciliation = (run: ReconciliationRecord): Reconciliation =>
  shownRun(run, {
    booked_minor: run.totals.booked_minor ?? '0',
    stated_minor: run.totals.stated_minor ?? '0',
    charges_minor: formatMinor(run.chargesMinor ?? BigInt(run.totals.charges_minor ?? '0')),
    unproven: run.totals.unproven ?? null,
  })

const shownDifference = presenter(ReconciliationDifference)

export const presentDifference = (row: DifferenceRecord): ReconciliationDifference =>
  shownDifference(row, {
    kind: differenceKinds.find((kind) => kind === row.kind) ?? 'not_in_our_books',
    provider_receipt: row.receipt,
    ...presentSubject(row),
    offered_outcome: row.offer,
  })

/** Whether the difference proves how a payment or a top-up ended. Only a receipt proves a success after a failure. */
export const provesOutcome = (
  { kind, receipt }: { kind: string; receipt: string | null },
  subjectKind: string | null | undefined,
): boolean =>
  kind === 'under_way' || (kind === 'ended_otherwise' && receipt !== null) || (kind === 'reversed' && subjectKind === 'payment')

export type Comparison = {
  provider: Provider
  source: string
  account?: string | null
  content: string
  period: { start: Date; end: Date }
  lines: number
  result: Match | StatementMatch
  totals?: Readonly<Record<string, string>> | undefined
  chargesMinor?: Minor
  feesMinor: Minor
  report?: boolean
}

export const findingOf = (provider: Provider, { receipt, statedMinor }: Pick<Difference, 'receipt' | 'statedMinor'>): Finding => {
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

/** Excludes lines without a receipt, because nothing could prevent such a line from being booked twice. */
const isUnexplained = ({ kind, subject, receipt }: Difference): boolean =>
  receipt !== null && (kind === 'not_in_our_books' || (kind === 'reversed' && subject?.kind !== 'payment'))

/** Includes the account: a statement that was compared without its account may be compared again. */
const contentHashOf = ({ account, content }: Pick<Comparison, 'account' | 'content'>): Buffer =>
  createHash('sha256')
    .update(account ? `${account} ${content}` : content)
    .digest()

const byContent = selectRow('reconciliation.by_content', reconciliations, ['provider', 'contentHash'])

/** The earlier comparison of the same statement. */
export const findSameContent = (
  db: Db,
  { provider, ...compared }: Pick<Comparison, 'account' | 'content' | 'provider'>,
): Promise<ReconciliationRecord | undefined> => byContent(db, { provider, contentHash: contentHashOf(compared) })

export const alreadyReconciled = (): Refusal => conflict('This statement is already reconciled.', 'already_recorded')

export const recordComparison = async (
  tx: Tx,
  operator: Operator,
  { account = null, content, period, result, totals, chargesMinor, report = false, ...compared }: Comparison,
): Promise<ReconciliationRecord> => {
  const { provider, source, lines } = compared
  const run: ReconciliationRecord = {
    ...compared,
    id: newId(),
    account,
    contentHash: contentHashOf({ account, content }),
    periodStart: period.start,
    periodEnd: period.end,
    matched: result.matched,
    differences: result.differences.length,
    totals: {
      ...totals,
      booked_minor: result.bookedMinor.toString(),
      stated_minor: result.statedMinor.toString(),
      ...('charges' in result && { charges_minor: result.charges.minor.toString() }),
    },
    chargesMinor: 'charges' in result ? result.charges.minor : (chargesMinor ?? null),
    requestedBy: nameOfOperator(operator),
    createdAt: tx.at,
  }
  if (!(await insertOnce(tx, reconciliations, run))) throw alreadyReconciled()
  const rowOf = ({ subject, attemptId: _, ...difference }: Difference) => ({
    ...difference,
    id: newId(),
    reconciliationId: run.id,
    subjectKind: subject?.kind,
    subjectId: subject?.id,
    createdAt: tx.at,
  })
  await byChunks(result.differences, (rows) => insertRows(tx, reconciliationDifferences, rows.map(rowOf)))
  const unexplained = report ? [] : result.differences.filter(isUnexplained)
  const findings = unexplained.map((difference) => findingOf(provider, difference))
  await recordAllSuspense(tx, findings)
  audit(tx, operator, 'admin.reconcile', {
    subject: run.id,
    after: { provider, source, lines, matched: run.matched, differences: run.differences, ...(report && { report }) },
  })
  const open = result.differences.filter((each) => report || !provesOutcome(each, each.subject?.kind)).length
  if (open > 0) alertAfterCommit(tx, 'reconciliation_difference', { subject: 'reconciliation', id: run.id, code: String(open) })
  return run
}
