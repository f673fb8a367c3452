import { eq, getTableColumns } from 'drizzle-orm'
import type { QueryBuilder } from 'drizzle-orm/pg-core'
import type { Config } from '../../config.ts'
import { type Db, first, type Tx } from '../../db/client.ts'
import { prepare } from '../../db/prepare.ts'
import { insertRows, updateRow } from '../../db/prepare-write.ts'
import { selectByStatus } from '../../db/select-rows.ts'
import { deposits } from '../../db/tables/deposits.ts'
import { suspenseItems } from '../../db/tables/rails.ts'
import { audit } from '../../events/audit.ts'
import { presenter } from '../../http/presenter.ts'
import { transferWithin } from '../../ledger/ledger.ts'
import { conflict, found } from '../../lib/errors.ts'
import { formatId, newId, type Uuid } from '../../lib/ids.ts'
import { assertPresent } from '../../lib/lists.ts'
import { formatMinor, type Minor } from '../../lib/money.ts'
import { receiptKey } from '../../lib/text.ts'
import type { Evidence } from '../../rails/rail.ts'
import { alertAfterCommit } from '../alerts.ts'
import { nameOfOperator, type Operator } from '../operators.ts'
import { isAgreed } from './adjustment-service.ts'
import { leaveSuspense, lockItem, noProposal, type SuspenseRecord, transferOf } from './items-service.ts'
import { alertConflict, findHolders, type ReceiptName, receiptOfItem, receiptTaken, writeClaims } from './receipts-service.ts'
import { presentSubject, type ResolveSuspense, SuspenseItem } from './schema.ts'

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

export const listSuspense = selectByStatus('suspense.list', suspenseItems, selectItems)

const itemById = prepare('suspense.by_id', { id: 'uuid' }, (orm, param) => selectItems(orm).where(eq(suspenseItems.id, param.id)))

export type SuspenseView = ReturnType<typeof selectItems>['_']['result'][number]

export const findSuspense = (db: Db, id: Uuid): Promise<SuspenseView | undefined> => first(db, itemById, { id })

export const getSuspense = async (db: Db, id: Uuid): Promise<SuspenseView> =>
  assertPresent(await findSuspense(db, id), 'an item of suspense that must exist is missing')

const shownSuspense = presenter(SuspenseItem)

export const presentSuspense = (item: SuspenseView): SuspenseItem =>
  shownSuspense(item, {
    ...presentSubject(item),
    booked: item.transferId !== null,
    proposal: item.proposedOutcome && item.proposedBy ? { outcome: item.proposedOutcome, by: item.proposedBy } : null,
  })

export type Finding = Pick<SuspenseRecord, 'rail' | 'direction' | 'reason'> &
  Partial<Pick<SuspenseRecord, 'attemptId' | 'deliveryId' | 'subjectKind' | 'subjectId' | 'amountMinor'>> & {
    receipt?: string | null
    /** Whether the provider may report the finding again, in another delivery. */
    isRepeated?: boolean
    /** Identifies a repeated finding that has no receipt. */
    digest?: string
    /** Whether to post the money to the suspense account, if its receipt is free. False while a hold covers the money. */
    book: boolean
    alerted?: boolean
  }

const rowOf = ({ receipt = null, digest = '', isRepeated, book, alerted: _, ...facts }: Finding, at: Date) => {
  const { rail, reason, attemptId = null, deliveryId, subjectKind = null, subjectId, amountMinor = null } = facts
  const source = attemptId ?? (isRepeated ? null : deliveryId) ?? subjectId ?? ''
  return {
    ...facts,
    id: newId(),
    ...{ attemptId, subjectKind, amountMinor, providerReceipt: receipt },
    transferId: book && (amountMinor ?? 0n) > 0n ? newId() : null,
    fingerprint: [rail, reason, source, receiptKey(receipt ?? digest)].join(':'),
    createdAt: at,
  }
}

/** Ignores case, because earlier versions wrote the receipt into the fingerprint in its original case. */
const unlessKnown = `where not exists (select from suspense_items k
    where k.provider_receipt in (x.provider_receipt, upper(x.provider_receipt), lower(x.provider_receipt))
      and upper(k.fingerprint) = upper(x.fingerprint))
  on conflict (fingerprint) do nothing returning id`

type Row = ReturnType<typeof rowOf>

/** Books only money whose receipt is free and occurs once in this call. A second amount under a receipt is reported. */
const withoutTaken = async (tx: Tx, rows: readonly Row[]): Promise<{ rows: Row[]; names: Map<Uuid, ReceiptName> }> => {
  const named = rows.flatMap((row) => {
    const name = receiptOfItem(row)
    return name ? [{ ...name, row, except: row.id }] : []
  })
  const holders = await findHolders(tx, named)
  const names = new Map<Uuid, ReceiptName>()
  const keys = new Set<string>()
  for (const [index, { row, except: _, ...name }] of named.entries()) {
    const holder = holders[index]
    const key = `${name.direction}:${receiptKey(name.receipt)}`
    if (holder) await alertConflict(tx, holder, { ...name, amountMinor: row.amountMinor })
    else if (!keys.has(key)) names.set(row.id, name)
    keys.add(key)
  }
  const isTaken = ({ id, providerReceipt }: Row) => providerReceipt !== null && !names.has(id)
  return { rows: rows.map((row) => (isTaken(row) ? { ...row, transferId: null } : row)), names }
}

/**
 * Records each finding once, regardless of its receipt's case, with an alert. Locks only the receipts. Returns the ids of new
 * items.
 */
export const recordAllSuspense = async (tx: Tx, findings: readonly Finding[]): Promise<Uuid[]> => {
  if (findings.length === 0) return []
  const stated = findings.map((finding) => rowOf(finding, tx.at))
  const { rows, names } = await withoutTaken(tx, stated)
  const inserted = await insertRows<typeof suspenseItems, { id: Uuid }>(tx, suspenseItems, rows, unlessKnown)
  const ids = new Set(inserted.map(({ id }) => id))
  const recorded = rows.flatMap((row, index) => (ids.has(row.id) ? [{ row, alerted: findings[index]?.alerted === true }] : []))
  const transfers = recorded.flatMap(({ row: { transferId, ...item } }) =>
    transferId === null ? [] : [transferOf(item, { transferId, memo: item.reason })],
  )
  await transferWithin(tx, transfers)
  const claims = recorded.flatMap(({ row: { id, amountMinor } }) => {
    const name = names.get(id)
    return name ? [{ ...name, owner: { kind: 'suspense' as const, id }, amountMinor }] : []
  })
  writeClaims(tx, claims)
  for (const { row, alerted } of recorded) {
    const { id, rail, direction, reason, amountMinor, attemptId, providerReceipt: provider_receipt } = row
    const subject = { attempt_id: attemptId, subject_kind: row.subjectKind ?? null, subject_id: row.subjectId ?? null }
    const amount_minor = amountMinor === null ? null : formatMinor(amountMinor)
    const after = { rail, direction, reason, provider_receipt, amount_minor, ...subject }
    audit(tx, { accountId: null, origin: null, way: 'rail' }, 'suspense.record', { subject: id, after })
    if (alerted) continue
    const attempt = attemptId === null ? {} : { attempt: attemptId }
    alertAfterCommit(tx, 'suspense', { subject: 'suspense', id, ...attempt, code: reason })
  }
  return [...ids]
}

export const recordSuspense = async (tx: Tx, finding: Finding): Promise<Uuid | undefined> =>
  (await recordAllSuspense(tx, [finding]))[0]

/** `paidReceipt`: the receipt of the payment or the top-up. */
type DisputedAttempt = {
  attempt: { id: Uuid; kind: 'payment' | 'topup'; subjectId: Uuid; rail: string; amountMinor: Minor }
  paidReceipt: string | null
}

/**
 * A payment's hold still covers its money, so nothing is booked. A top-up's uncredited money is missing in our books, so it is
 * booked. A taken receipt is already booked. The hold of a superseded attempt belongs to its successor.
 */
const suspenseOf = (
  { attempt: { kind, amountMinor: sent }, paidReceipt }: DisputedAttempt,
  verdict: string,
  evidence: Evidence,
): Pick<Finding, 'direction' | 'reason' | 'receipt' | 'amountMinor' | 'book'> | null => {
  const direction = kind === 'topup' || evidence.kind === 'returned' ? 'in' : 'out'
  // Nothing is booked, because a person has to find out how much moved.
  const contradiction = { direction, reason: 'contradiction', book: false } as const
  if (evidence.kind === 'unknown') return evidence.moved && verdict === 'contradiction' ? contradiction : null
  if (evidence.kind !== 'succeeded' && evidence.kind !== 'returned') return null
  const { receipt, amountMinor } = evidence
  if (verdict === 'account_closed') {
    const own = paidReceipt ?? receipt
    return { direction, reason: verdict, receipt: own, amountMinor: amountMinor ?? sent, book: own !== null }
  }
  const isOther = amountMinor !== null && amountMinor !== sent
  if (evidence.kind === 'returned') {
    // A return has the receipt of its payout.
    const of = { receipt: paidReceipt ?? receipt, amountMinor }
    if (verdict === 'contradiction') return { ...contradiction, ...of }
    if (verdict === 'mismatch' && evidence.isUnread) return { direction, reason: 'unreadable_amount', ...of, book: false }
    if (verdict !== 'mismatch' || amountMinor === null) return null
    return { direction, reason: 'amount_mismatch', ...of, book: isOther }
  }
  if (verdict === 'suspense')
    return { direction, reason: 'superseded_attempt', receipt, amountMinor: amountMinor ?? sent, book: true }
  // A disputed attempt's own amount waits for the answer to a query. Another amount is a further finding.
  if (verdict !== 'mismatch' && verdict !== 'contradiction' && !(verdict === 'disputed' && isOther)) return null
  const reason = verdict === 'contradiction' ? verdict : isOther ? 'amount_mismatch' : 'receipt_taken'
  return { direction, reason, receipt, amountMinor, book: kind === 'topup' && receipt !== null && reason !== 'receipt_taken' }
}

/** Records the money in evidence that could not be applied. The caller has raised the alert, except for a closed account. */
export const recordUnapplied = async (tx: Tx, disputed: DisputedAttempt, verdict: string, evidence: Evidence): Promise<void> => {
  const finding = suspenseOf(disputed, verdict, evidence)
  if (!finding) return
  const { id: attemptId, kind: subjectKind, subjectId, rail } = disputed.attempt
  await recordSuspense(tx, { ...finding, rail, attemptId, subjectKind, subjectId, alerted: verdict !== 'account_closed' })
}

/** Locks an item's receipt, then the item. Throws if the item is resolved, or if another holder has the receipt. */
export const lockOpenItem = async (tx: Tx, id: Uuid, { allowTakenReceipt = false } = {}): Promise<SuspenseRecord> => {
  const name = receiptOfItem(found(await findSuspense(tx, id)))
  const [holder] = name ? await findHolders(tx, [{ ...name, except: id }]) : []
  const item = found(await lockItem(tx, { id }))
  if (item.resolvedAt !== null) throw conflict('This item is already resolved.', 'decided', { id: formatId('suspense', id) })
  if (holder && !allowTakenReceipt) throw receiptTaken(item.providerReceipt, holder)
  return item
}

/** An item that one person may not move alone stays open until a second person makes the same decision. */
export const resolveSuspense = async (
  tx: Tx,
  config: Config,
  operator: Operator,
  id: Uuid,
  { outcome, note }: ResolveSuspense,
): Promise<SuspenseView> => {
  const item = await lockOpenItem(tx, id, { allowTakenReceipt: outcome !== 'adjusted' })
  const { at } = tx
  const by = nameOfOperator(operator)
  const movesNothing = item.transferId === null || outcome === 'adjusted'
  const asked = item.proposedOutcome === outcome ? item.proposedBy : null
  const ends = movesNothing || (await isAgreed(tx, config, operator, item.amountMinor ?? 0n, asked))
  if (ends) {
    await leaveSuspense(tx, item, outcome)
    const proposal = asked !== null && asked !== by ? { proposedOutcome: outcome, proposedBy: asked } : noProposal
    updateRow(tx, suspenseItems, { id }, { outcome, note, resolvedBy: by, resolvedAt: at, ...proposal })
  } else updateRow(tx, suspenseItems, { id }, { proposedOutcome: outcome, proposedBy: by })
  const action = ends ? 'admin.resolve_suspense' : 'admin.resolve_suspense_request'
  audit(tx, operator, action, { subject: id, after: { outcome, note } })
  return getSuspense(tx, id)
}
