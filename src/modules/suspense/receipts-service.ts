import { lockNames } from '../../db/account-lock.ts'
import { statement, type Tx } from '../../db/client.ts'
import { insertRows, updateRow } from '../../db/prepare-write.ts'
import { receiptClaims, type receiptDirections, type receiptOwnerKinds, suspenseItems } from '../../db/tables/rails.ts'
import { audit } from '../../events/audit.ts'
import { conflict, type Refusal } from '../../lib/errors.ts'
import { formatId, type Uuid } from '../../lib/ids.ts'
import { fieldsOf } from '../../lib/lists.ts'
import type { Minor } from '../../lib/money.ts'
import { allRails, booksOf, providerOf, providers } from '../../lib/rail-names.ts'
import { receiptKey } from '../../lib/text.ts'
import { deliveryOperator, nameOfOperator } from '../operators.ts'
import { endAssigned, leaveSuspense, lockItem, noProposal, type SuspenseRecord } from './items-service.ts'
import { raiseProviderAlert } from './provider-alerts-service.ts'

/** A receipt names one transaction of a provider. A payout, a deposit and a payout's return may have the same receipt. */
export type ReceiptName = { rail: string; direction: (typeof receiptDirections)[number]; receipt: string }

type Owner = { kind: (typeof receiptOwnerKinds)[number]; id: Uuid }

/** `credits`: the account that receives the money, and the account's top-up. */
export type ReceiptClaim = ReceiptName & {
  owner: Owner
  amountMinor: Minor | null
  credits?: { accountId: Uuid; topupId: Uuid | null }
}

/** `isOpen`: whether the holder is a suspense item that still waits for a person. */
export type ReceiptHolder = Owner & { amountMinor: Minor | null; isOpen: boolean }

/** The provider of a rail. Findings from a statement name the provider itself. */
const providerOfBook = (book: string): string => {
  const rail = allRails.find((each) => each === book)
  return rail ? providerOf(rail) : book
}
const booksAt = (name: string): readonly string[] => {
  const provider = providers.find((each) => each === name)
  return provider ? booksOf(provider) : [name]
}

const keyOf = ({ rail, direction, receipt }: ReceiptName): string => `${providerOfBook(rail)}:${direction}:${receiptKey(receipt)}`

const forms = '(x.receipt, upper(x.receipt), lower(x.receipt))'

/** Finds holders by claims, and by rows of earlier releases, which wrote no claims. */
const holdersQuery = statement('receipts.holders')`
  select x.direction, upper(x.receipt) as receipt, h.kind, h.id, h."amountMinor", 
     coalesce((select s.resolved_at is null from suspense_items s where h.kind = 'suspense' and s.id = h.id), false) as "isOpen",
     (select s.outcome from suspense_items s where h.kind = 'suspense' and s.id = h.id) as outcome
   from unnest($3::text[], $4::text[]) as x(direction, receipt)
   cross join lateral (
     select c.owner_kind as kind, c.owner_id as id, c.amount_minor as "amountMinor" from receipt_claims c
     where c.provider = $1 and c.direction = x.direction and c.receipt_key = upper(x.receipt)
     union all
     select 'payment', p.id, p.amount_minor from payments p where p.rail = any($2::text[]) and p.provider_receipt in ${forms}
       and (x.direction = 'out' or (x.direction = 'return' and p.status = 'returned'))
     union all
     select 'topup', t.id, t.received_minor from topups t
     where x.direction = 'in' and t.method = any($2::text[]) and t.provider_receipt in ${forms} and t.deposit_code is null
     union all
     select 'deposit', d.id, d.amount_minor from deposits d
     where x.direction = 'in' and d.rail = any($2::text[]) and d.receipt in ${forms} and d.state = 'credited'
     union all
     select 'suspense', i.id, i.amount_minor from suspense_items i
     where i.rail = any($2::text[]) and i.provider_receipt in ${forms} and i.transfer_id is not null
       and x.direction = case when i.direction = 'out' then 'out' when i.subject_kind = 'payment' then 'return' else 'in' end
       and (i.resolved_at is null or i.outcome in ('assigned', 'adjusted'))) as h`

type HolderRow = ReceiptHolder & Pick<ReceiptName, 'direction' | 'receipt'> & Pick<SuspenseRecord, 'outcome'>

/** An explained item has no receipt: it never moved this money, or the money was booked elsewhere. */
const isFree = ({ outcome }: HolderRow): boolean => outcome === 'explained'

/**
 * Locks the receipts in sorted order and reads the holders of each. Claims on one receipt may belong to different accounts. Lock
 * order of the caller: account, receipt, deposit, suspense item.
 */
const readHolders = async (tx: Tx, names: readonly ReceiptName[]): Promise<Map<string, HolderRow[]>> => {
  if (names.length === 0) return new Map()
  const byProvider = Map.groupBy(names, ({ rail }) => providerOfBook(rail))
  const locks = names.map(({ rail, receipt }) => `receipt:${providerOfBook(rail)}:${receiptKey(receipt)}`)
  const [, ...found] = await Promise.all([
    lockNames(tx, ...locks),
    ...[...byProvider].map(async ([provider, own]) =>
      (await tx.query<HolderRow>(holdersQuery, [provider, booksAt(provider), ...fieldsOf(own, 'direction', 'receipt')])).map(
        (row) => ({ ...row, key: keyOf({ ...row, rail: provider }) }),
      ),
    ),
  ])
  return Map.groupBy(
    found.flat().filter((row) => !isFree(row)),
    ({ key }) => key,
  )
}

const otherHolders = (holders: readonly HolderRow[] = [], { id }: Pick<Owner, 'id'>): HolderRow[] =>
  holders.filter((each, index) => each.id !== id && holders.findIndex((other) => other.id === each.id) === index)

/**
 * For rows that have a receipt without a claim, in the order of `claims`: `another` if a second row has the receipt too, `given`
 * if the row is an item whose money went to the second row, undefined if the receipt may be claimed.
 */
export const earlierHolders = async (tx: Tx, claims: readonly ReceiptClaim[]): Promise<('another' | 'given' | undefined)[]> => {
  const holders = await readHolders(tx, claims)
  return claims.map((claim) => {
    const rows = holders.get(keyOf(claim)) ?? []
    const others = otherHolders(rows, claim.owner).filter(({ kind, isOpen }) => kind !== 'suspense' || isOpen)
    if (others.length === 0) return undefined
    return rows.some(({ id, kind, isOpen }) => id === claim.owner.id && kind === 'suspense' && !isOpen) ? 'given' : 'another'
  })
}

/** Locks the receipts and returns the conflicting holder of each, in the same order. */
export const findHolders = async (
  tx: Tx,
  asked: readonly (ReceiptName & { except: Uuid })[],
): Promise<(ReceiptHolder | undefined)[]> => {
  const holders = await readHolders(tx, asked)
  return asked.map((name) => otherHolders(holders.get(keyOf(name)), { id: name.except })[0])
}

/** An open item gives up its receipt to the account credited with the same money. Items never take receipts from others. */
export const yieldsTo = (holder: ReceiptHolder, { owner, amountMinor }: Pick<ReceiptClaim, 'owner' | 'amountMinor'>): boolean =>
  holder.kind === 'suspense' && holder.isOpen && owner.kind !== 'suspense' && holder.amountMinor === amountMinor

/** Returns the money to its source, where the receipt's new holder books it. False if a person already ended the item. */
const endItem = async (tx: Tx, { id }: ReceiptHolder, { owner, credits }: ReceiptClaim): Promise<boolean> => {
  const item = await lockItem(tx, { id })
  if (!item || item.resolvedAt !== null) return false
  await leaveSuspense(tx, item, credits ? 'assigned' : 'explained')
  if (credits) await endAssigned(tx, deliveryOperator, item, { ...credits, note: 'The provider named whose money it is.' })
  else {
    const note = `It was booked: ${owner.kind === 'payment' ? formatId('payment', owner.id) : owner.kind}.`
    const resolved = { resolvedBy: nameOfOperator(deliveryOperator), resolvedAt: tx.at, ...noProposal }
    updateRow(tx, suspenseItems, { id }, { outcome: 'explained', note, ...resolved })
    audit(tx, deliveryOperator, 'admin.resolve_suspense', { subject: id, after: { outcome: 'explained', note } })
  }
  return true
}

/**
 * Only a suspense item gives up its claim. Under the lock, no other conflict can occur. It would produce a null owner, which the
 * column rejects, and roll the transaction back.
 */
const handOver = `on conflict (provider, direction, receipt_key) do update
  set owner_kind = excluded.owner_kind, amount_minor = excluded.amount_minor, claimed_at = excluded.claimed_at,
     owner_id = case when t.owner_kind = 'suspense' or t.owner_id = excluded.owner_id then excluded.owner_id end`

const rowOf = (tx: Tx, { rail, direction, receipt, owner, amountMinor }: ReceiptClaim) => ({
  ...{ provider: providerOfBook(rail), direction, receiptKey: receiptKey(receipt), amountMinor },
  ...{ ownerKind: owner.kind, ownerId: owner.id, claimedAt: tx.at },
})

/** Claims receipts for owners that the caller has found to be entitled to them. */
export const writeClaims = (tx: Tx, claims: readonly ReceiptClaim[]): void => {
  if (claims.length === 0) return
  const byKey = new Map(claims.map((claim) => [keyOf(claim), rowOf(tx, claim)]))
  const rows = [...byKey.values()].sort((one, other) => (one.receiptKey < other.receiptKey ? -1 : 1))
  tx.defer(insertRows(tx, receiptClaims, rows, handOver))
}

/** A second amount under one receipt is not booked. A person asks the provider which amount is right. */
export const alertConflict = async (
  tx: Tx,
  { kind, id, amountMinor: known }: ReceiptHolder,
  { rail, receipt, amountMinor }: Pick<ReceiptClaim, 'rail' | 'receipt' | 'amountMinor'>,
): Promise<void> => {
  if (amountMinor === null || known === null || amountMinor === known) return
  await raiseProviderAlert(tx, { rail, subjectKind: kind, subjectId: id, word: 'another_amount', receipt, amountMinor })
}

/**
 * The only way to claim a receipt, in the transaction that uses it. Returns the refused owners, each with the receipt's holder. A
 * refused owner claims nothing. An open item of the same money ends here. A call may name a receipt only once.
 */
export const claimReceipts = async (tx: Tx, claims: readonly ReceiptClaim[]): Promise<Map<Uuid, ReceiptHolder>> => {
  if (claims.length === 0) return new Map()
  const holders = await readHolders(tx, claims)
  const refused = new Map<Uuid, ReceiptHolder>()
  const judged = claims.map((claim) => ({ claim, others: otherHolders(holders.get(keyOf(claim)), claim.owner) }))
  for (const { claim, others } of judged) {
    const [holder] = others
    if (!holder || (others.length === 1 && yieldsTo(holder, claim))) continue
    refused.set(claim.owner.id, holder)
    await alertConflict(tx, holder, claim)
  }
  for (const { claim, others } of judged)
    for (const holder of refused.has(claim.owner.id) ? [] : others)
      if (!(await endItem(tx, holder, claim))) refused.set(claim.owner.id, holder)
  const granted = claims.filter(({ owner }) => !refused.has(owner.id))
  writeClaims(tx, granted)
  return refused
}

/** The name of a suspense item's receipt. Undefined if the item books nothing or has no receipt. */
export const receiptOfItem = (
  item: Pick<SuspenseRecord, 'rail' | 'direction' | 'subjectKind' | 'providerReceipt' | 'transferId'>,
): ReceiptName | undefined => {
  const { rail, direction, subjectKind, providerReceipt: receipt, transferId } = item
  if (receipt === null || transferId === null) return undefined
  return { rail, direction: direction === 'in' && subjectKind === 'payment' ? 'return' : direction, receipt }
}

export const receiptTaken = (receipt: string | null, { kind, id }: ReceiptHolder): Refusal =>
  conflict(
    `The receipt ${receipt ?? ''} is booked already${kind === 'deposit' ? ' as a deposit' : ''}.`,
    'provider_receipt',
    kind === 'deposit' ? {} : { id: formatId(kind, id) },
  )
