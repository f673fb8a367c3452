import { createHash } from 'node:crypto'
import { eq } from 'drizzle-orm'
import { inTx, type Tx } from '../../db/client.ts'
import { reconciliationDifferences, reconciliations } from '../../db/tables/rails.ts'
import { audit } from '../../events/audit.ts'
import { conflict, invalidFields, notFound } from '../../lib/errors.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import type { Evidence } from '../../rails/rail.ts'
import type { Deps } from '../deps.ts'
import { nameOfOperator, type Operator } from '../operators.ts'
import { applyEvidence, openAttempt } from '../payments/lifecycle/attempts/evidence.ts'
import type { Subjects } from '../payments/lifecycle/attempts/subject.ts'
import { recordSuspense } from '../suspense/service.ts'
import { type DifferenceRecord, type ReconciliationRecord, readBooked } from './queries.ts'
import { type Difference, match, type StatementLine } from './rules.ts'
import { type Provider, readStatement } from './statement-rules.ts'

type ReconciliationDeps = Pick<Deps, 'alerts' | 'appendEvents' | 'clock' | 'config' | 'db'>

/** How far around a statement's first and last line our own times may lie: a completion is reported to us later than it happened. */
const edgeMs = 3_600_000

const within = (line: StatementLine[], edge: number) => ({
  start: new Date(Math.min(...line.map(({ at }) => at.getTime())) - edge),
  end: new Date(Math.max(...line.map(({ at }) => at.getTime())) + edge),
})

/** A statement is the provider's word: what it shows of an attempt that is still open ends it. */
const takeAsEvidence = async (
  deps: Pick<Deps, 'alerts' | 'appendEvents' | 'config' | 'db'>,
  subjects: Subjects,
  operator: Operator,
  difference: Difference,
): Promise<void> => {
  const { subject, attemptId, receipt, statedMinor } = difference
  if (!subject || attemptId === null || statedMinor === null) return
  const amountMinor = statedMinor < 0n ? -statedMinor : statedMinor
  const evidence: Evidence = { kind: 'succeeded', receipt, amountMinor }
  await inTx(deps.db, async (tx) => {
    const open = await openAttempt(tx, deps, subjects[subject.kind], { id: attemptId, subjectId: subject.id })
    await applyEvidence(tx, deps, open, evidence, { kind: 'operator', actor: operator })
  })
}

const putInSuspense = async (
  tx: Tx,
  deps: Pick<Deps, 'alerts'>,
  provider: Provider,
  difference: Difference,
  at: Date,
): Promise<void> => {
  const stated = difference.statedMinor ?? 0n
  await recordSuspense(tx, deps, {
    rail: provider,
    direction: stated >= 0n ? 'in' : 'out',
    reason: 'not_in_our_books',
    receipt: difference.receipt,
    amountMinor: stated < 0n ? -stated : stated,
    book: true,
    alerted: true,
    at,
  })
}

const store = async (
  deps: Pick<Deps, 'alerts' | 'clock' | 'db'>,
  statement: { provider: Provider; source: string; hash: Buffer; lines: StatementLine[]; operator: Operator },
  result: ReturnType<typeof match>,
): Promise<ReconciliationRecord> =>
  inTx(deps.db, async (tx) => {
    const { at } = tx
    const { start, end } = within(statement.lines, 0)
    const [run] = await tx.orm
      .insert(reconciliations)
      .values({
        id: newId(),
        provider: statement.provider,
        source: statement.source,
        contentHash: statement.hash,
        periodStart: start,
        periodEnd: end,
        lines: statement.lines.length,
        matched: result.matched,
        differences: result.differences.length,
        totals: { booked_minor: result.bookedMinor.toString(), stated_minor: result.statedMinor.toString() },
        requestedBy: nameOfOperator(statement.operator),
        createdAt: at,
      })
      .onConflictDoNothing()
      .returning()
    if (!run) throw conflict('This statement was reconciled before.')
    for (const difference of result.differences) {
      await tx.orm.insert(reconciliationDifferences).values({
        id: newId(),
        reconciliationId: run.id,
        kind: difference.kind,
        receipt: difference.receipt,
        subjectKind: difference.subject?.kind ?? null,
        subjectId: difference.subject?.id ?? null,
        bookedMinor: difference.bookedMinor,
        statedMinor: difference.statedMinor,
        reason: difference.reason,
        action: difference.action,
        createdAt: at,
        // What was taken as evidence needs no person.
        ...(difference.kind === 'under_way' && { resolvedAt: at, resolvedBy: 'statement', note: 'Taken as evidence.' }),
      })
      if (difference.kind === 'not_in_our_books') await putInSuspense(tx, deps, statement.provider, difference, at)
    }
    await audit(tx, statement.operator, at, {
      action: 'admin.reconcile',
      subject: { type: 'reconciliation', id: run.id },
      after: { provider: run.provider, source: run.source, lines: run.lines, matched: run.matched, differences: run.differences },
    })
    const open = result.differences.filter(({ kind }) => kind !== 'under_way').length
    if (open > 0) {
      const facts = { subject: 'reconciliation', id: run.id, code: String(open) }
      tx.afterCommit(() => deps.alerts.raise('reconciliation_difference', facts))
    }
    return run
  })

/** Holds a provider's statement against our books; every difference is a row with its reason and what to do. */
export const reconcileStatement = async (
  deps: ReconciliationDeps,
  subjects: Subjects,
  operator: Operator,
  statement: { source: string; text: string },
): Promise<ReconciliationRecord> => {
  const read = readStatement(statement.text)
  if ('problem' in read) throw invalidFields({ path: 'file', message: read.problem })
  return reconcileLines(deps, subjects, operator, { ...read, source: statement.source, content: statement.text })
}

export const reconcileLines = async (
  deps: ReconciliationDeps,
  subjects: Subjects,
  operator: Operator,
  { lines, provider, source, content }: { lines: StatementLine[]; provider: Provider; source: string; content: string },
): Promise<ReconciliationRecord> => {
  if (lines.length === 0) throw invalidFields({ path: 'file', message: 'it lists nothing that was completed' })
  const names = { receipts: lines.map(({ receipt }) => receipt), references: lines.flatMap(({ references }) => references) }
  const booked = await readBooked(deps.db, provider, within(lines, edgeMs), names)
  // Around the edges only what the statement names belongs to its period.
  const { start, end } = within(lines, 0)
  const listed = new Set(names.receipts)
  const ofPeriod = booked.filter(({ receipt, at, status }) =>
    (receipt !== null && listed.has(receipt)) || !['succeeded', 'returned'].includes(status) ? true : at >= start && at <= end,
  )
  const result = match(lines, ofPeriod, deps.config.CURRENCY)
  const hash = createHash('sha256').update(content).digest()
  const run = await store(deps, { provider, source, hash, lines, operator }, result)
  for (const difference of result.differences)
    if (difference.kind === 'under_way') await takeAsEvidence(deps, subjects, operator, difference)
  return run
}

export const resolveDifference = async (tx: Tx, operator: Operator, id: Uuid, note: string): Promise<DifferenceRecord> => {
  const [row] = await tx.orm.select().from(reconciliationDifferences).where(eq(reconciliationDifferences.id, id)).for('update')
  if (!row) throw notFound()
  if (row.resolvedAt !== null) throw conflict('This difference was resolved before.')
  const { at } = tx
  const resolved = { resolvedAt: at, resolvedBy: nameOfOperator(operator), note }
  await tx.orm.update(reconciliationDifferences).set(resolved).where(eq(reconciliationDifferences.id, id))
  await audit(tx, operator, at, { action: 'admin.resolve_difference', subject: { type: 'reconciliation', id }, after: { note } })
  return { ...row, ...resolved }
}
