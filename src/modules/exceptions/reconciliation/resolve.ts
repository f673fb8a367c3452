import { and, eq, isNotNull, isNull } from 'drizzle-orm'
import type { Config } from '../../../config.ts'
import type { Database } from '../../../db/client.ts'
import { first, inTx, type Tx } from '../../../db/client.ts'
import { prepare } from '../../../db/prepare.ts'
import { prepareWrite } from '../../../db/prepare-write.ts'
import { reconciliationDifferences, reconciliations } from '../../../db/tables/rails.ts'
import { audit } from '../../../events/audit.ts'
import { conflict, notFound, Refusal } from '../../../lib/errors.ts'
import { formatId, type Uuid } from '../../../lib/ids.ts'
import { eachById } from '../../for-each-row.ts'
import { nameOfOperator, type Operator } from '../../operators.ts'
import { recordAllSuspense } from '../../suspense/service.ts'
import { resolvePayment } from '../resolve-payment.ts'
import type { DifferenceRecord, ReconciliationRecord } from './queries.ts'
import { suspenseFor } from './record.ts'

const withRun = prepare('reconciliation.difference', { id: 'uuid' }, (orm, at) =>
  orm
    .select({
      difference: reconciliationDifferences,
      provider: reconciliations.provider,
      source: reconciliations.source,
      account: reconciliations.account,
    })
    .from(reconciliationDifferences)
    .innerJoin(reconciliations, eq(reconciliations.id, reconciliationDifferences.reconciliationId))
    .where(eq(reconciliationDifferences.id, at.id)),
)

const offering = prepare('reconciliation.offering', { reconciliationId: 'uuid' }, (orm, at) =>
  orm
    .select({ id: reconciliationDifferences.id })
    .from(reconciliationDifferences)
    .where(and(eq(reconciliationDifferences.reconciliationId, at.reconciliationId), isNotNull(reconciliationDifferences.offer))),
)

const closeOpen = prepareWrite(
  'reconciliation.close_difference',
  { id: 'uuid', at: 'timestamptz', by: 'text', note: 'text' },
  (orm, at) =>
    orm
      .update(reconciliationDifferences)
      .set({ resolvedAt: at.at, resolvedBy: at.by, note: at.note })
      .where(and(eq(reconciliationDifferences.id, at.id), isNull(reconciliationDifferences.resolvedAt)))
      .returning(),
)

const alreadyResolved = (id: Uuid): Refusal =>
  conflict('This difference is already resolved.', 'decided', { id: formatId('reconciliation', id) })

/** Ends the payment as the statement shows. True while a second administrator has to agree: then the difference stays open. */
const acceptOffer = async (
  tx: Tx,
  config: Config,
  operator: Operator,
  { offer, subjectId, receipt }: DifferenceRecord,
  { source, account, note }: { source: string; account: string | null; note: string },
): Promise<boolean> => {
  if (offer === null || subjectId === null) throw conflict('This difference offers no outcome to accept.')
  // Earlier releases did not read whose statement it was.
  if (offer === 'failed' && account === null)
    throw conflict('It is not known which account this statement was of. Reconcile it again, with the lines above its columns.')
  const evidence = `${source}: ${note}`
  const input = { outcome: offer, evidence, ...(offer === 'succeeded' && receipt !== null && { provider_receipt: receipt }) }
  return (await resolvePayment(tx, config, operator, subjectId, input)).waitingId !== null
}

/**
 * Closes a difference. `accept`: with the outcome that it offers for its payment; it stays open while that waits for a second administrator.
 * Without, a line that was offered as that payment's is money that nothing here explains, and goes to suspense. The payment's locks are taken
 * first, as everywhere.
 */
export const resolveDifference = async (
  tx: Tx,
  config: Config,
  operator: Operator,
  id: Uuid,
  { note, accept }: { note: string; accept: boolean },
): Promise<DifferenceRecord> => {
  const found = await first(tx, withRun, { id })
  if (!found) throw notFound()
  const { difference, provider, source, account } = found
  if (difference.resolvedAt !== null) throw alreadyResolved(id)
  if (accept && (await acceptOffer(tx, config, operator, difference, { source, account, note }))) return difference
  const closed = await first(tx, closeOpen, { id, at: tx.at, by: nameOfOperator(operator), note })
  if (!closed) throw alreadyResolved(id)
  if (!accept && difference.offer === 'succeeded') await recordAllSuspense(tx, [suspenseFor(provider, difference)])
  audit(tx, operator, 'admin.resolve_difference', { subject: id, after: { note, ...(accept && { accepted: difference.offer }) } })
  return closed
}

/** Closes several with one note and without their offers: all of them, or none. */
export const resolveDifferences = (
  tx: Tx,
  config: Config,
  operator: Operator,
  ids: readonly Uuid[],
  note: string,
): Promise<DifferenceRecord[]> => eachById(ids, (id) => resolveDifference(tx, config, operator, id, { note, accept: false }))

/** Where a setting says so, every outcome that a statement offers is accepted. What is refused stays for a person. */
export const acceptAll = async (
  db: Database,
  config: Config,
  operator: Operator,
  run: Pick<ReconciliationRecord, 'id'>,
): Promise<void> => {
  const offered = await db.run(offering, { reconciliationId: run.id })
  const input = { note: 'Accepted by the setting RECONCILIATION_RESOLVES.', accept: true }
  for (const { id } of offered)
    await inTx(db, (tx) => resolveDifference(tx, config, operator, id, input)).catch((error: unknown) => {
      if (!(error instanceof Refusal)) throw error
    })
}
