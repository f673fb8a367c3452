import { and, eq, isNull } from 'drizzle-orm'
import type { Config } from '../../../config.ts'
import { first, inTx, type Tx } from '../../../db/client.ts'
import { prepare } from '../../../db/prepare.ts'
import { prepareWrite } from '../../../db/prepare-write.ts'
import { reconciliationDifferences, reconciliations } from '../../../db/tables/rails.ts'
import { audit } from '../../../events/audit.ts'
import { conflict, notFound, Refusal } from '../../../lib/errors.ts'
import { formatId, type Uuid } from '../../../lib/ids.ts'
import { forEachRow } from '../../for-each-row.ts'
import { nameOfOperator, type Operator } from '../../operators.ts'
import type { Parts } from '../../parts.ts'
import { recordAllSuspense } from '../../suspense/service.ts'
import { resolvePayment } from '../resolve-payment.ts'
import { type DifferenceRecord, findingOf, listDifferences, type ReconciliationRecord } from './differences.ts'

/** The `resolvedBy` of a difference that the service resolved, because its statement was evidence. */
export const resolvedByStatement = 'statement'

const differenceWithRun = prepare('reconciliation.difference', { id: 'uuid' }, (orm, param) =>
  orm
    .select({
      difference: reconciliationDifferences,
      provider: reconciliations.provider,
      source: reconciliations.source,
      account: reconciliations.account,
    })
    .from(reconciliationDifferences)
    .innerJoin(reconciliations, eq(reconciliations.id, reconciliationDifferences.reconciliationId))
    .where(eq(reconciliationDifferences.id, param.id)),
)

const closeRow = prepareWrite(
  'reconciliation.close_difference',
  { id: 'uuid', at: 'timestamptz', by: 'text', note: 'text' },
  (orm, param) =>
    orm
      .update(reconciliationDifferences)
      .set({ resolvedAt: param.at, resolvedBy: param.by, note: param.note })
      .where(and(eq(reconciliationDifferences.id, param.id), isNull(reconciliationDifferences.resolvedAt)))
      .returning(),
)

/** Returns undefined if the difference was already closed. */
export const closeDifference = async (tx: Tx, operator: Operator, id: Uuid, note: string, after: object = {}) => {
  const closed = await first(tx, closeRow, { id, at: tx.at, by: nameOfOperator(operator), note })
  if (closed) audit(tx, operator, 'admin.resolve_difference', { subject: id, after: { note, ...after } })
  return closed
}

/** Closes a difference whose movement is now booked. */
export const closeAsEvidence = async (tx: Tx, id: Uuid): Promise<void> => {
  await tx.run(closeRow, { id, at: tx.at, by: resolvedByStatement, note: 'Taken as evidence.' })
}

const alreadyResolved = (id: Uuid): Refusal =>
  conflict('This difference is already resolved.', 'decided', { id: formatId('reconciliation', id) })

/** Returns true if a second administrator has to agree. The difference then stays open. */
const acceptOffer = async (
  tx: Tx,
  config: Config,
  operator: Operator,
  { offer, subjectId, receipt }: DifferenceRecord,
  { source, account, note }: { source: string; account: string | null; note: string },
): Promise<boolean> => {
  if (offer === null || subjectId === null) throw conflict('This difference offers no outcome to accept.', 'no_offer')
  // Earlier releases did not record a statement's account.
  if (offer === 'failed' && account === null)
    throw conflict(
      'It is not known which account this statement was of. Reconcile it again, with the lines above its columns.',
      'no_offer',
    )
  const evidence = `${source}: ${note}`
  const input = { outcome: offer, evidence, ...(offer === 'succeeded' && receipt !== null && { provider_receipt: receipt }) }
  return (await resolvePayment(tx, config, operator, subjectId, input)).waitingId !== null
}

/**
 * With `accept`, the payment ends with the offered outcome, or the difference stays open until a second administrator agrees.
 * Without `accept`, the offered line counts as unexplained and goes to suspense. The payment's locks are taken first.
 */
export const resolveDifference = async (
  tx: Tx,
  config: Config,
  operator: Operator,
  id: Uuid,
  { note, accept = false }: { note: string; accept?: boolean },
): Promise<DifferenceRecord> => {
  const found = await first(tx, differenceWithRun, { id })
  if (!found) throw notFound()
  const { difference, provider, source, account } = found
  if (difference.resolvedAt !== null) throw alreadyResolved(id)
  if (accept && (await acceptOffer(tx, config, operator, difference, { source, account, note }))) return difference
  const closed = await closeDifference(tx, operator, id, note, accept ? { accepted: difference.offer } : {})
  if (!closed) throw alreadyResolved(id)
  if (!accept && difference.offer === 'succeeded') await recordAllSuspense(tx, [findingOf(provider, difference)])
  return closed
}

/** Returns how many payments ended with an offered outcome. */
export const acceptAll = async (
  deps: Parts,
  operator: Operator,
  { id: reconciliationId, differences: take }: ReconciliationRecord,
): Promise<number> => {
  const open = await listDifferences(deps.db, { reconciliationId, open: true }, { before: null, take })
  const input = { note: 'Accepted by the setting RECONCILIATION_RESOLVES.', accept: true }
  let accepted = 0
  const offered = open.filter(({ offer }) => offer !== null).reverse()
  await forEachRow(deps, 'reconciliation.accept', offered, async ({ id }) => {
    try {
      const { resolvedAt } = await inTx(deps.db, (tx) => resolveDifference(tx, deps.config, operator, id, input))
      if (resolvedAt !== null) accepted += 1
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
    }
  })
  return accepted
}
