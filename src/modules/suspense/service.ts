import type { Config } from '../../config.ts'
import type { Tx } from '../../db/client.ts'
import { prepareInsertOnce, prepareUpdate } from '../../db/prepare-write.ts'
import { selectRow } from '../../db/select-rows.ts'
import { suspenseItems } from '../../db/tables/rails.ts'
import { audit } from '../../events/audit.ts'
import { type SystemTransfer, transferWithin } from '../../ledger/ledger.ts'
import { conflict, found } from '../../lib/errors.ts'
import { formatId, newId, type Uuid } from '../../lib/ids.ts'
import { formatMinor, type Minor } from '../../lib/money.ts'
import type { Evidence } from '../../rails/rail.ts'
import { alertAfterCommit } from '../alerts.ts'
import { eachById } from '../each-by-id.ts'
import { nameOfOperator, type Operator } from '../operators.ts'
import { mayDecideAlone } from './cost-service.ts'
import { getSuspense, type SuspenseRecord, type SuspenseView } from './queries.ts'
import { type Finding, suspenseOf } from './rules.ts'
import type { ResolveSuspense } from './schema.ts'

const insertItem = prepareInsertOnce('suspense.insert', suspenseItems, suspenseItems.fingerprint)
const resolveItem = prepareUpdate('suspense.resolve', suspenseItems, [
  'outcome',
  'note',
  'resolvedBy',
  'resolvedAt',
  'proposedOutcome',
  'proposedBy',
])
const proposeItem = prepareUpdate('suspense.propose', suspenseItems, ['proposedOutcome', 'proposedBy'])
/** Kept only where two people decided: what one decided alone counts for what it may move in a day. */
const noProposal = { proposedOutcome: null, proposedBy: null }
const lockItem = selectRow('suspense.lock', suspenseItems, ['id'], { lock: 'update' })

const booking = {
  in: { debit: 'topup_clearing', credit: 'suspense' },
  out: { debit: 'suspense', credit: 'rail_clearing' },
} as const

const fingerprintOf = ({ rail, reason, attemptId, deliveryId, isRepeated, receipt, subject }: Finding): string =>
  [rail, reason, attemptId ?? (isRepeated ? undefined : deliveryId) ?? subject?.id ?? '', receipt ?? ''].join(':')

type Entry = { id: Uuid; transferId: Uuid | null; finding: Finding }

const isBookable = ({ book, amountMinor }: Finding): boolean => book && (amountMinor ?? 0n) > 0n

/** Inserts the entries whose findings are new, and returns those. */
const insertEntries = async (tx: Tx, entries: readonly Entry[]): Promise<Entry[]> => {
  const inserted = await Promise.all(
    entries.map(({ id, transferId, finding }) =>
      insertItem(tx, {
        id,
        transferId,
        rail: finding.rail,
        direction: finding.direction,
        reason: finding.reason,
        fingerprint: fingerprintOf(finding),
        attemptId: finding.attemptId ?? null,
        deliveryId: finding.deliveryId ?? null,
        subjectKind: finding.subject?.kind ?? null,
        subjectId: finding.subject?.id ?? null,
        providerReceipt: finding.receipt ?? null,
        amountMinor: finding.amountMinor ?? null,
        createdAt: finding.at,
      }),
    ),
  )
  return entries.filter((_, index) => inserted[index])
}

const transferOf = ({ id, transferId, finding }: Entry): SystemTransfer[] =>
  transferId === null
    ? []
    : [
        {
          ...booking[finding.direction],
          id: transferId,
          amountMinor: finding.amountMinor ?? 0n,
          reference: { type: 'suspense', id },
          memo: finding.reason,
        },
      ]

/**
 * Records money that a provider reports as moved and that the service cannot book, and alerts an operator. A repeated finding is recorded
 * once. Takes no lock: it may be called under any. Returns the items that are new.
 */
export const recordAllSuspense = async (tx: Tx, findings: readonly Finding[]): Promise<Uuid[]> => {
  if (findings.length === 0) return []
  const { at } = tx
  const entries = findings.map((finding) => ({ id: newId(), transferId: isBookable(finding) ? newId() : null, finding }))
  const recorded = await insertEntries(tx, entries)
  await transferWithin(tx, recorded.flatMap(transferOf), at)
  for (const { id, finding } of recorded) {
    const { rail, direction, reason, amountMinor = null, receipt = null } = finding
    const amount = amountMinor === null ? null : formatMinor(amountMinor)
    const after = { rail, direction, reason, provider_receipt: receipt, amount_minor: amount }
    audit(tx, { accountId: null, origin: null, way: 'rail' }, 'suspense.record', { subject: id, after })
    if (finding.alerted) continue
    const attempt = finding.attemptId === undefined ? {} : { attempt: finding.attemptId }
    alertAfterCommit(tx, 'suspense', {
      subject: finding.subject?.kind ?? finding.rail,
      id,
      ...attempt,
      code: finding.reason,
    })
  }
  return recorded.map(({ id }) => id)
}

export const recordSuspense = async (tx: Tx, finding: Finding): Promise<Uuid | undefined> =>
  (await recordAllSuspense(tx, [finding]))[0]

type DisputedAttempt = { id: Uuid; kind: 'payment' | 'topup'; subjectId: Uuid; rail: string; amountMinor: Minor }

/** Records the money in evidence that could not be applied; the caller has raised the alert about it. */
export const recordDoubtful = async (tx: Tx, attempt: DisputedAttempt, verdict: string, evidence: Evidence): Promise<void> => {
  const left = suspenseOf(attempt, verdict, evidence)
  if (!left) return
  const subject = { kind: attempt.kind, id: attempt.subjectId }
  await recordSuspense(tx, { ...left, rail: attempt.rail, attemptId: attempt.id, subject, alerted: true, at: tx.at })
}

/** The other side of a resolved item's money: the adjustment that was made for it, or the account where it came from. */
export const leaveSuspense = async (
  tx: Tx,
  item: SuspenseRecord,
  outcome: NonNullable<SuspenseRecord['outcome']>,
): Promise<void> => {
  const { id, direction, amountMinor, transferId } = item
  if (transferId === null || amountMinor === null) return
  const other = outcome === 'adjusted' ? 'adjustments' : direction === 'in' ? 'topup_clearing' : 'rail_clearing'
  const sides =
    direction === 'in' ? ({ debit: 'suspense', credit: other } as const) : ({ debit: other, credit: 'suspense' } as const)
  await transferWithin(tx, [{ ...sides, id: newId(), amountMinor, reference: { type: 'suspense', id }, memo: outcome }], tx.at)
}

/** The item under its lock. Throws for one that was resolved before. */
export const openSuspense = async (tx: Tx, id: Uuid): Promise<SuspenseRecord> => {
  const item = found(await lockItem(tx, { id }))
  if (item.resolvedAt !== null) throw conflict('This item is already resolved.', 'decided', { id: formatId('suspense', id) })
  return item
}

/** Ends an item whose money the caller moves from suspense to an account. */
export const endAssigned = (tx: Tx, item: SuspenseRecord, by: string, note: string): void =>
  resolveItem(tx, item.id, { outcome: 'assigned', note, resolvedBy: by, resolvedAt: tx.at, ...noProposal })

/** Records one decision about several items: all of them, or none. */
export const resolveSuspenseItems = (
  tx: Tx,
  config: Config,
  operator: Operator,
  ids: readonly Uuid[],
  decision: ResolveSuspense,
): Promise<SuspenseView[]> => eachById(ids, (id) => resolveSuspense(tx, config, operator, id, decision))

/** Records a person's decision about the money; what one person may not move alone stays open until a second one decides the same. */
export const resolveSuspense = async (
  tx: Tx,
  config: Config,
  operator: Operator,
  id: Uuid,
  { outcome, note }: ResolveSuspense,
): Promise<SuspenseView> => {
  const item = await openSuspense(tx, id)
  const { at } = tx
  const by = nameOfOperator(operator)
  const isSecond = item.proposedOutcome === outcome && item.proposedBy !== by
  const movesNothing = item.transferId === null || outcome === 'adjusted'
  const isAgreed = movesNothing || isSecond || (await mayDecideAlone(tx, config, operator, item.amountMinor ?? 0n))
  if (isAgreed) {
    await leaveSuspense(tx, item, outcome)
    const proposal = isSecond ? { proposedOutcome: outcome, proposedBy: item.proposedBy } : noProposal
    resolveItem(tx, id, { outcome, note, resolvedBy: by, resolvedAt: at, ...proposal })
  } else proposeItem(tx, id, { proposedOutcome: outcome, proposedBy: by })
  const action = isAgreed ? 'admin.resolve_suspense' : 'admin.resolve_suspense_request'
  audit(tx, operator, action, { subject: id, after: { outcome, note } })
  return getSuspense(tx, id)
}
