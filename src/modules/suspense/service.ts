import { and, eq, getTableColumns, isNotNull, isNull, sql } from 'drizzle-orm'
import type { QueryBuilder } from 'drizzle-orm/pg-core'
import type { Config } from '../../config.ts'
import { type Db, first, type Tx } from '../../db/client.ts'
import { newestFirst } from '../../db/list-queries.ts'
import { prepare } from '../../db/prepare.ts'
import { insertRows, updateRow } from '../../db/prepare-write.ts'
import { selectRow } from '../../db/select-rows.ts'
import { deposits } from '../../db/tables/deposits.ts'
import { suspenseItems } from '../../db/tables/rails.ts'
import { audit } from '../../events/audit.ts'
import type { PageRequest } from '../../http/pagination.ts'
import { presenter } from '../../http/presenter.ts'
import { type SystemTransfer, transferWithin } from '../../ledger/ledger.ts'
import { conflict, found } from '../../lib/errors.ts'
import { formatId, newId, type Uuid } from '../../lib/ids.ts'
import { existing } from '../../lib/lists.ts'
import { formatMinor, type Minor } from '../../lib/money.ts'
import { receiptForms, receiptKey } from '../../lib/text.ts'
import type { Evidence } from '../../rails/rail.ts'
import { alertAfterCommit } from '../alerts.ts'
import { nameOfOperator, type Operator } from '../operators.ts'
import { mayDecideAlone } from './adjustment-service.ts'
import { type ResolveSuspense, SuspenseItem } from './schema.ts'

export type SuspenseRecord = typeof suspenseItems.$inferSelect

const selectItems = (orm: QueryBuilder) =>
  orm
    .select({
      ...getTableColumns(suspenseItems),
      senderName: deposits.payerName,
      paymentReference: deposits.reference,
      paidAt: deposits.paidAt,
    })
    .from(suspenseItems)
    .leftJoin(deposits, eq(deposits.suspenseId, suspenseItems.id))

const listItems = prepare(
  'suspense.list',
  { open: 'flag?', resolved: 'flag?', before: 'uuid?', take: 'rows' },
  (orm, at) =>
    newestFirst(
      selectItems(orm),
      { id: suspenseItems.id },
      at,
      at.open && isNull(suspenseItems.resolvedAt),
      at.resolved && isNotNull(suspenseItems.resolvedAt),
    ),
  'pool',
)

export const listSuspense = (db: Db, status: 'open' | 'resolved' | undefined, page: PageRequest): Promise<SuspenseView[]> =>
  db.run(listItems, { open: status === 'open', resolved: status === 'resolved', ...page })

const itemById = prepare('suspense.by_id', { id: 'uuid' }, (orm, at) => selectItems(orm).where(eq(suspenseItems.id, at.id)))

export type SuspenseView = ReturnType<typeof selectItems>['_']['result'][number]

export const findSuspense = (db: Db, id: Uuid): Promise<SuspenseView | undefined> => first(db, itemById, { id })

export const getSuspense = async (db: Db, id: Uuid): Promise<SuspenseView> =>
  existing(await findSuspense(db, id), 'an item of suspense that must exist is missing')

const incoming = prepare('suspense.incoming', { rails: 'text[]', receipts: 'text[]' }, (orm, at) =>
  orm
    .select()
    .from(suspenseItems)
    .where(
      and(
        sql`${suspenseItems.rail} = any(${at.rails})`,
        sql`${suspenseItems.providerReceipt} = any(${at.receipts})`,
        eq(suspenseItems.direction, 'in'),
      ),
    )
    .orderBy(suspenseItems.id)
    .limit(1),
)

export const findSuspenseOf = (db: Db, rails: readonly string[], receipt: string): Promise<SuspenseRecord | undefined> =>
  first(db, incoming, { rails, receipts: receiptForms(receipt) })

/** The payment or the top-up that something is about. */
export const presentSubject = ({ subjectKind, subjectId }: { subjectKind: string | null; subjectId: Uuid | null }) => {
  const idOf = (kind: 'payment' | 'topup') => (subjectKind === kind && subjectId !== null ? formatId(kind, subjectId) : null)
  return { payment_id: idOf('payment'), topup_id: idOf('topup') }
}

const shownSuspense = presenter(SuspenseItem)

export const presentSuspense = (item: SuspenseView): SuspenseItem =>
  shownSuspense(item, {
    ...presentSubject(item),
    booked: item.transferId !== null,
    proposal: item.proposedOutcome && item.proposedBy ? { outcome: item.proposedOutcome, by: item.proposedBy } : null,
  })

/** Kept only where two people decided: what one decided alone counts for what it may move in a day. */
const noProposal = { proposedOutcome: null, proposedBy: null }
const lockItem = selectRow('suspense.lock', suspenseItems, ['id'], { lock: 'update' })

export type Finding = Pick<SuspenseRecord, 'rail' | 'direction' | 'reason'> &
  Partial<Pick<SuspenseRecord, 'attemptId' | 'deliveryId' | 'subjectKind' | 'subjectId' | 'amountMinor'>> & {
    receipt?: string | null
    /** The provider may tell it again, in another delivery. */
    isRepeated?: boolean
    /** Posts it to the suspense account. False while a hold still covers the money. */
    book: boolean
    alerted?: boolean
  }

const rowOf = ({ receipt = null, isRepeated, book, alerted: _, ...facts }: Finding, at: Date) => {
  const { rail, reason, attemptId = null, deliveryId, subjectId, amountMinor = null } = facts
  const source = attemptId ?? (isRepeated ? null : deliveryId) ?? subjectId ?? ''
  return {
    ...facts,
    id: newId(),
    ...{ attemptId, amountMinor, providerReceipt: receipt },
    transferId: book && (amountMinor ?? 0n) > 0n ? newId() : null,
    fingerprint: [rail, reason, source, receiptKey(receipt ?? '')].join(':'),
    createdAt: at,
  }
}

type Item = Pick<SuspenseRecord, 'id' | 'direction' | 'amountMinor'>

/** Moves an item's money from where it came in or went out, or back. `other`: the account to use instead. */
const transferOf = (
  { id, direction, amountMinor }: Item,
  { transferId, leaves = false, memo, other }: { transferId: Uuid; leaves?: boolean; memo: string; other?: 'adjustments' },
): SystemTransfer => {
  const clearing = other ?? (direction === 'in' ? 'topup_clearing' : 'rail_clearing')
  const [debit, credit] = (direction === 'in') === leaves ? (['suspense', clearing] as const) : ([clearing, 'suspense'] as const)
  return { id: transferId, debit, credit, amountMinor: amountMinor ?? 0n, reference: { type: 'suspense', id }, memo }
}

/** Earlier versions wrote the receipt into the fingerprint in the case that it came in. */
const unlessKnown = `where not exists (select from suspense_items k
    where k.provider_receipt in (x.provider_receipt, upper(x.provider_receipt), lower(x.provider_receipt))
      and upper(k.fingerprint) = upper(x.fingerprint))
  on conflict (fingerprint) do nothing returning id`

/** Records each finding once, in whatever case its receipt is printed, with an alert. Takes no lock. Returns the items that are new. */
export const recordAllSuspense = async (tx: Tx, findings: readonly Finding[]): Promise<Uuid[]> => {
  if (findings.length === 0) return []
  const found = findings.map((finding) => ({ finding, row: rowOf(finding, tx.at) }))
  const inserted = await insertRows<typeof suspenseItems, { id: Uuid }>(
    tx,
    suspenseItems,
    found.map(({ row }) => row),
    unlessKnown,
  )
  const ids = new Set(inserted.map(({ id }) => id))
  const recorded = found.filter(({ row }) => ids.has(row.id))
  await transferWithin(
    tx,
    recorded.flatMap(({ row: { transferId, ...item } }) =>
      transferId === null ? [] : [transferOf(item, { transferId, memo: item.reason })],
    ),
  )
  for (const { row, finding } of recorded) {
    const { id, rail, direction, reason, amountMinor, attemptId, providerReceipt: provider_receipt, subjectKind } = row
    const amount_minor = amountMinor === null ? null : formatMinor(amountMinor)
    const after = { rail, direction, reason, provider_receipt, amount_minor }
    audit(tx, { accountId: null, origin: null, way: 'rail' }, 'suspense.record', { subject: id, after })
    if (finding.alerted) continue
    const attempt = attemptId === null ? {} : { attempt: attemptId }
    alertAfterCommit(tx, 'suspense', { subject: subjectKind ?? rail, id, ...attempt, code: reason })
  }
  return [...ids]
}

export const recordSuspense = async (tx: Tx, finding: Finding): Promise<Uuid | undefined> =>
  (await recordAllSuspense(tx, [finding]))[0]

type DisputedAttempt = { id: Uuid; kind: 'payment' | 'topup'; subjectId: Uuid; rail: string; amountMinor: Minor }

/**
 * A payment's hold still covers its money, so nothing is booked; a top-up's money that is not credited is missing in our books, so it is booked.
 * A receipt of something else is booked with that already. The hold of a superseded attempt belongs to the attempt that followed it.
 */
const suspenseOf = (
  { kind, amountMinor: sent }: DisputedAttempt,
  verdict: string,
  evidence: Evidence,
): Pick<Finding, 'direction' | 'reason' | 'receipt' | 'amountMinor' | 'book'> | null => {
  const direction = kind === 'topup' || evidence.kind === 'returned' ? 'in' : 'out'
  // How much moved is for a person to find out: nothing is booked.
  const contradiction = { direction, reason: 'contradiction', book: false } as const
  if (evidence.kind === 'unknown') return evidence.moved && verdict === 'contradiction' ? contradiction : null
  if (evidence.kind !== 'succeeded' && evidence.kind !== 'returned') return null
  const { receipt, amountMinor } = evidence
  const isOther = amountMinor !== null && amountMinor !== sent
  if (evidence.kind === 'returned') {
    if (verdict === 'contradiction') return { ...contradiction, receipt, amountMinor }
    if (verdict !== 'mismatch' || amountMinor === null) return null
    return { direction, reason: 'amount_mismatch', receipt, amountMinor, book: isOther }
  }
  if (verdict === 'suspense')
    return { direction, reason: 'superseded_attempt', receipt, amountMinor: amountMinor ?? sent, book: true }
  // Of an attempt in dispute, the right amount waits for the answer to a query; another one is one more finding.
  if (verdict !== 'mismatch' && verdict !== 'contradiction' && !(verdict === 'disputed' && isOther)) return null
  const reason = verdict === 'contradiction' ? verdict : isOther ? 'amount_mismatch' : 'receipt_taken'
  return { direction, reason, receipt, amountMinor, book: kind === 'topup' && receipt !== null && reason !== 'receipt_taken' }
}

/** Records the money in evidence that could not be applied. The caller has raised the alert. */
export const recordDoubtful = async (tx: Tx, attempt: DisputedAttempt, verdict: string, evidence: Evidence): Promise<void> => {
  const left = suspenseOf(attempt, verdict, evidence)
  if (!left) return
  const { id: attemptId, kind: subjectKind, subjectId, rail } = attempt
  await recordSuspense(tx, { ...left, rail, attemptId, subjectKind, subjectId, alerted: true })
}

/** Moves a resolved item's money to the adjustment that was made for it, or back to where it came from. */
export const leaveSuspense = async (
  tx: Tx,
  item: SuspenseRecord,
  outcome: NonNullable<SuspenseRecord['outcome']>,
): Promise<void> => {
  if (item.transferId === null || item.amountMinor === null) return
  const other = outcome === 'adjusted' ? { other: 'adjustments' as const } : {}
  await transferWithin(tx, [transferOf(item, { transferId: newId(), leaves: true, memo: outcome, ...other })])
}

/** Locks it. Throws for one that was resolved before. */
export const openSuspense = async (tx: Tx, id: Uuid): Promise<SuspenseRecord> => {
  const item = found(await lockItem(tx, { id }))
  if (item.resolvedAt !== null) throw conflict('This item is already resolved.', 'decided', { id: formatId('suspense', id) })
  return item
}

/** Ends an item whose money the caller has moved to an account. */
export const endAssigned = (
  tx: Tx,
  operator: Operator,
  { id }: SuspenseRecord,
  { accountId, topupId, note }: { accountId: Uuid; topupId: Uuid | null; note: string },
): void => {
  const resolved = { resolvedBy: nameOfOperator(operator), resolvedAt: tx.at, ...noProposal }
  updateRow(tx, suspenseItems, { id }, { outcome: 'assigned', note, ...resolved })
  const after = { account_id: formatId('account', accountId), topup_id: topupId && formatId('topup', topupId), note }
  audit(tx, operator, 'admin.assign_suspense', { subject: id, after })
}

/** What one person may not move alone stays open until a second one decides the same. */
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
    updateRow(tx, suspenseItems, { id }, { outcome, note, resolvedBy: by, resolvedAt: at, ...proposal })
  } else updateRow(tx, suspenseItems, { id }, { proposedOutcome: outcome, proposedBy: by })
  const action = isAgreed ? 'admin.resolve_suspense' : 'admin.resolve_suspense_request'
  audit(tx, operator, action, { subject: id, after: { outcome, note } })
  return getSuspense(tx, id)
}
