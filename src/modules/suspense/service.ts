import type { Tx } from '../../db/client.ts'
import { suspenseItems } from '../../db/tables/rails.ts'
import { transferWithin } from '../../ledger/ledger.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import type { Minor } from '../../lib/money.ts'
import type { Evidence } from '../../rails/rail.ts'
import { alertAfterCommit } from '../alerts.ts'
import type { Deps } from '../deps.ts'
import { type Finding, suspenseOf } from './rules.ts'

const fingerprintOf = ({ rail, reason, attemptId, deliveryId, receipt, subject }: Finding): string =>
  [rail, reason, attemptId ?? deliveryId ?? subject?.id ?? '', receipt ?? ''].join(':')

/**
 * Records money that a provider says it moved and that nothing here can be booked for, and alerts an operator. The same finding is
 * recorded once, however often it is repeated. Takes no lock: it may be called under any.
 */
export const recordSuspense = async (tx: Tx, deps: Deps, finding: Finding): Promise<Uuid | null> => {
  const id = newId()
  const { rail, direction, reason, amountMinor = null, at } = finding
  const [recorded] = await tx.orm
    .insert(suspenseItems)
    .values({
      id,
      rail,
      direction,
      reason,
      fingerprint: fingerprintOf(finding),
      attemptId: finding.attemptId ?? null,
      deliveryId: finding.deliveryId ?? null,
      subjectKind: finding.subject?.kind ?? null,
      subjectId: finding.subject?.id ?? null,
      providerReceipt: finding.receipt ?? null,
      amountMinor,
      createdAt: at,
    })
    .onConflictDoNothing({ target: suspenseItems.fingerprint })
    .returning({ id: suspenseItems.id })
  if (!recorded) return null
  if (finding.book && amountMinor !== null && amountMinor > 0n) {
    const sides =
      direction === 'in'
        ? ({ debit: 'topup_clearing', credit: 'suspense' } as const)
        : ({ debit: 'suspense', credit: 'rail_clearing' } as const)
    const transferId = await transferWithin(tx, {
      ...sides,
      amountMinor,
      reference: { type: 'suspense', id },
      memo: reason,
      at,
    })
    await tx.query('update suspense_items set transfer_id = $2 where id = $1', [id, transferId])
  }
  if (finding.alerted) return id
  const attempt = finding.attemptId === undefined ? {} : { attempt: finding.attemptId }
  alertAfterCommit(tx, deps, 'suspense', { subject: finding.subject?.kind ?? rail, id, ...attempt, code: reason })
  return id
}

type Doubted = { id: Uuid; kind: 'payment' | 'topup'; subjectId: Uuid; rail: string; amountMinor: Minor }

/** Records what evidence that could not be applied says of money; the caller has raised the alert about it. */
export const recordDoubtful = async (
  tx: Tx,
  deps: Deps,
  attempt: Doubted,
  verdict: string,
  evidence: Evidence,
): Promise<void> => {
  const left = suspenseOf(attempt, verdict, evidence)
  if (!left) return
  const subject = { kind: attempt.kind, id: attempt.subjectId }
  await recordSuspense(tx, deps, { ...left, rail: attempt.rail, attemptId: attempt.id, subject, alerted: true, at: tx.at })
}
