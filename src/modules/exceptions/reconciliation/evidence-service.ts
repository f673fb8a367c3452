import { and, eq, isNull, like, ne, or } from 'drizzle-orm'
import { type Database, type Db, first, inTx, type Tx } from '../../../db/client.ts'
import { prepare } from '../../../db/prepare.ts'
import { prepareWrite } from '../../../db/prepare-write.ts'
import { reconciliationDifferences } from '../../../db/tables/rails.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { only } from '../../../lib/lists.ts'
import type { Evidence } from '../../../rails/rail.ts'
import { alertAfterCommit } from '../../alerts.ts'
import { attemptsOf, type EvidenceVerdict } from '../../attempts/attempt.ts'
import { forEachRow } from '../../for-each-row.ts'
import type { Operator } from '../../operators.ts'
import type { Parts } from '../../parts.ts'
import { lockPaymentWithAccount } from '../../payments/queries.ts'
import { settlePayments } from '../../payments/settle.ts'
import { applyEvidence, lockAttempt } from '../../sending/evidence.ts'
import { type DifferenceRecord, listDifferences, provesOutcome, type ReconciliationRecord } from './differences.ts'
import type { Difference } from './matching-rules.ts'
import { acceptAll, closeAsEvidence, resolvedByStatement } from './resolve-difference.ts'

/** `attemptId`: the newest attempt. `note`: null until the evidence is judged. */
type EvidenceDifference = Pick<DifferenceRecord, 'id' | 'kind' | 'note' | 'receipt' | 'statedMinor'> &
  Pick<Difference, 'attemptId' | 'subject'>

/** The open differences of a comparison that are evidence, in the order of the statement. */
const listOpenEvidence = async (db: Db, { id, differences }: ReconciliationRecord): Promise<EvidenceDifference[]> => {
  const open = await listDifferences(db, { reconciliationId: id, open: true }, { before: null, take: differences })
  const evident = open.filter((each) => provesOutcome(each, each.subjectKind)).reverse()
  const subjectIds = evident.flatMap(({ subjectId }) => subjectId ?? [])
  const attempts = await attemptsOf(db, subjectIds)
  return evident.map(({ subjectKind: kind, subjectId, ...row }) => ({
    ...row,
    subject: subjectId !== null && (kind === 'payment' || kind === 'topup') ? { kind, id: subjectId } : null,
    attemptId: attempts.findLast((attempt) => attempt.subjectId === subjectId)?.id ?? null,
  }))
}

/** The note shows that the evidence was judged, so that it is not judged again. The difference waits for an operator. */
const noteWhyOpen = prepareWrite('reconciliation.note_difference', { id: 'uuid', note: 'text' }, (orm, param) =>
  orm
    .update(reconciliationDifferences)
    .set({ note: param.note })
    .where(and(eq(reconciliationDifferences.id, param.id), isNull(reconciliationDifferences.resolvedAt))),
)

/** Settles a payment without an attempt: the statement names it, so it was sent by an attempt among the lost writes. */
const takeWithoutAttempt = async (tx: Tx, operator: Operator, id: Uuid, evidence: Evidence): Promise<EvidenceVerdict> => {
  const payment = await lockPaymentWithAccount(tx, id)
  const source = { kind: 'operator', actor: operator } as const
  const { verdict } = only(await settlePayments(tx, [{ payment, evidence, source }]))
  if (verdict === 'mismatch' || verdict === 'contradiction')
    alertAfterCommit(tx, 'evidence_mismatch', { subject: 'payment', id, code: verdict })
  return verdict
}

/** Release 0.4.0 told operators to "Book it: …" by an adjustment, which claims no receipt. */
const leftToOperator = prepare('reconciliation.left_to_operator', { subjectId: 'uuid' }, (orm, param) =>
  orm
    .select({ id: reconciliationDifferences.id })
    .from(reconciliationDifferences)
    .where(
      and(
        eq(reconciliationDifferences.subjectId, param.subjectId),
        eq(reconciliationDifferences.kind, 'ended_otherwise'),
        or(ne(reconciliationDifferences.resolvedBy, resolvedByStatement), like(reconciliationDifferences.action, 'Book it:%')),
      ),
    )
    .limit(1),
)

const judgeDifference = async (tx: Tx, operator: Operator, difference: EvidenceDifference): Promise<EvidenceVerdict> => {
  const { kind, subject, attemptId, receipt, statedMinor } = difference
  if (!subject || statedMinor === null || (attemptId === null && subject.kind === 'topup')) return 'inconclusive'
  // An operator may have booked the same movement already, so no statement books it a second time.
  if (kind === 'ended_otherwise' && (await first(tx, leftToOperator, { subjectId: subject.id }))) return 'inconclusive'
  const amountMinor = statedMinor < 0n ? -statedMinor : statedMinor
  const evidence: Evidence =
    kind === 'reversed'
      ? { kind: 'returned', receipt, amountMinor, message: 'The provider has sent the money back.' }
      : { kind: 'succeeded', receipt, amountMinor }
  const source = { kind: 'operator', actor: operator } as const
  if (attemptId === null) return takeWithoutAttempt(tx, operator, subject.id, evidence)
  const locked = await lockAttempt(tx, { id: attemptId, kind: subject.kind, subjectId: subject.id })
  return only(await applyEvidence(tx, [{ locked, evidence, source }]))
}

/** Books a difference as evidence and closes it, or notes why it stays open. */
const takeAsEvidence = (db: Database, operator: Operator, difference: EvidenceDifference): Promise<void> =>
  inTx(db, async (tx) => {
    const { id, kind, subject } = difference
    const verdict = await judgeDifference(tx, operator, difference)
    // A callback may have settled the payment since, or credited a failed top-up. A repeated return may be a second return, and a
    // repeated late success waits for an operator, so both stay open.
    const mayBeBooked = kind === 'under_way' || (kind === 'ended_otherwise' && subject?.kind === 'topup')
    const isBooked = verdict === 'applied' || (verdict === 'repeated' && mayBeBooked)
    await (isBooked ? closeAsEvidence(tx, id) : tx.run(noteWhyOpen, { id, note: `Not booked: ${verdict}.` }))
  })

/**
 * Books what a comparison proves, each difference once: a run that was interrupted continues with the rest. A difference that fails
 * is reported and does not stop the others. Returns how many differences were to be judged, and how many were closed.
 */
export const takeEvidence = async (deps: Parts, operator: Operator, run: ReconciliationRecord): Promise<number> => {
  if (run.differences === 0) return 0
  const waiting = (await listOpenEvidence(deps.db, run)).filter(({ note }) => note === null)
  await forEachRow(deps, 'reconciliation.evidence', waiting, (difference) => takeAsEvidence(deps.db, operator, difference))
  const left = waiting.length > 0 ? (await listOpenEvidence(deps.db, run)).length : 0
  if (left > 0) deps.alerts.raise('reconciliation_difference', { subject: 'reconciliation', id: run.id, code: String(left) })
  const accepted = deps.config.RECONCILIATION_RESOLVES ? await acceptAll(deps, operator, run) : 0
  return waiting.length + accepted
}
