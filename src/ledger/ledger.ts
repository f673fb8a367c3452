import { eq, sql } from 'drizzle-orm'
import type { QueryBuilder } from 'drizzle-orm/pg-core'
import { lockAccount, requireLocked } from '../db/account-lock.ts'
import { type Db, first, statement, type Tx } from '../db/client.ts'
import { prepare } from '../db/prepare.ts'
import { insertOnce, insertRow } from '../db/prepare-write.ts'
import { ledgerAccounts } from '../db/tables/ledger.ts'
import { Refusal } from '../lib/errors.ts'
import { newId, type Uuid } from '../lib/ids.ts'
import { assertPresent, fieldsOf } from '../lib/lists.ts'
import type { Minor } from '../lib/money.ts'

export type Balance = { availableMinor: Minor; heldMinor: Minor; currency: string }
export type Reference = { type: 'payment' | 'topup' | 'deposit' | 'adjustment' | 'suspense' | 'separation' | 'fee'; id: Uuid }
const systemAccounts = ['rail_clearing', 'topup_clearing', 'adjustments', 'suspense', 'fees'] as const
export type SystemAccount = (typeof systemAccounts)[number]

const available = 'posted_credits_minor - posted_debits_minor - pending_debits_minor'

const availableMinor = sql<Minor>`${ledgerAccounts.postedCreditsMinor} - ${ledgerAccounts.postedDebitsMinor} - ${ledgerAccounts.pendingDebitsMinor}`

const selectBalances = (orm: QueryBuilder) =>
  orm
    .select({
      ownerId: sql<Uuid>`${ledgerAccounts.ownerId}`,
      availableMinor,
      heldMinor: ledgerAccounts.pendingDebitsMinor,
      currency: ledgerAccounts.currency,
    })
    .from(ledgerAccounts)

const balances = prepare('ledger.balances', { owners: 'uuid[]' }, (orm, param) =>
  selectBalances(orm).where(sql`${ledgerAccounts.ownerId} = any(${param.owners})`),
)
const balance = prepare('ledger.balance', { owner: 'uuid' }, 'coalesced', (orm, param) =>
  selectBalances(orm).where(eq(ledgerAccounts.ownerId, param.owner)),
)

export const getBalances = async (db: Db, ownerIds: readonly Uuid[]): Promise<Map<Uuid, Balance>> => {
  const rows = await db.run(balances, { owners: ownerIds })
  return new Map(rows.map(({ ownerId, ...balance }) => [ownerId, balance]))
}

const missing = 'an account has no ledger account'

export const balanceIn = (balances: ReadonlyMap<Uuid, Balance>, ownerId: Uuid): Balance =>
  assertPresent(balances.get(ownerId), missing)

export const getBalance = async (db: Db, ownerId: Uuid): Promise<Balance> =>
  assertPresent(await first(db, balance, { owner: ownerId }), missing)

/** Must be the first lock of every writer that changes an account's money, its limits or the payments that count in them. */
export const lockBalance = async (tx: Tx, ownerId: Uuid): Promise<Balance> => {
  const [, balances] = await Promise.all([lockAccount(tx, ownerId), getBalances(tx, [ownerId])])
  return balanceIn(balances, ownerId)
}

const holdFunds = statement('ledger.hold')`
  with holds as (select * from unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::uuid[], $5::bigint[], $6::text[]) as h(id, owner, amount, reference, available_after, type)),
   moved as (
     update ledger_accounts a set pending_debits_minor = a.pending_debits_minor + t.amount
     from (select owner, sum(amount)::bigint as amount from holds group by owner) as t where a.owner_id = t.owner
     returning a.id, a.owner_id
   )
   insert into ledger_transfers (id, kind, debit_account_id, credit_account_id, amount_minor, reference_type, reference_id, customer_account_id, available_after_minor, created_at)
   select h.id, 'pending', moved.id,
     (select id from ledger_accounts where code = case h.type when 'fee' then 'fees' else 'rail_clearing' end),
     h.amount, h.type, h.reference, moved.id, h.available_after, $7
   from holds h join moved on moved.owner_id = h.owner`

/** A hold of a payment's amount or fee. `availableAfterMinor`: after this hold and the earlier ones of the same call. */
export type Hold = {
  type: 'payment' | 'fee'
  transferId: Uuid
  ownerId: Uuid
  amountMinor: Minor
  paymentId: Uuid
  availableAfterMinor: Minor
}

/** The caller has locked the owners and checked that their balances suffice; a schema constraint checks it again. */
export const holdAll = async (tx: Tx, holds: readonly Hold[]): Promise<void> => {
  if (holds.length === 0) return
  const owners = holds.map(({ ownerId }) => ownerId)
  requireLocked(tx, owners)
  await tx.query(holdFunds, [
    ...fieldsOf(holds, 'transferId', 'ownerId', 'amountMinor', 'paymentId', 'availableAfterMinor', 'type'),
    tx.at,
  ])
}

const endStatement = statement('ledger.end_holds')`
  with held as (
     select e.id, e.kind, e.place, h.id as hold, h.debit_account_id, h.credit_account_id, h.amount_minor, h.reference_type, h.reference_id, h.customer_account_id
     from unnest($1::uuid[], $2::uuid[], $3::text[]) with ordinality as e(id, hold, kind, place)
       join ledger_transfers h on h.id = e.hold and h.kind = 'pending'
   ), moved as (
     update ledger_accounts a set pending_debits_minor = a.pending_debits_minor - t.held, posted_debits_minor = a.posted_debits_minor + t.posted
     from (select debit_account_id, sum(amount_minor)::bigint as held, coalesce(sum(amount_minor) filter (where kind = 'post'), 0)::bigint as posted
           from held group by debit_account_id) as t where a.id = t.debit_account_id
     returning a.id, a.posted_credits_minor - a.posted_debits_minor - a.pending_debits_minor as available_minor, a.pending_debits_minor as held_minor, a.currency
   ), after as (
     select held.*,
       (moved.available_minor - coalesce(sum(held.amount_minor) filter (where held.kind = 'void') over later, 0))::bigint as available_minor,
       (moved.held_minor + coalesce(sum(held.amount_minor) over later, 0))::bigint as held_minor, moved.currency
     from held join moved on moved.id = held.debit_account_id
     window later as (partition by held.debit_account_id order by held.place rows between 1 following and unbounded following)
   ), written as (
     insert into ledger_transfers (id, kind, pending_id, debit_account_id, credit_account_id, amount_minor, reference_type, reference_id, customer_account_id, available_after_minor, created_at)
     select id, kind, hold, debit_account_id, credit_account_id, amount_minor, reference_type, reference_id, customer_account_id, available_minor, $4 from after
   )
   select available_minor as "availableMinor", held_minor as "heldMinor", currency from after order by place`

/** `post`: the held money has left. `void`: the money is available again. */
export type HoldEnd = { kind: 'post' | 'void'; holdId: Uuid; ownerId: Uuid }

/** Ends holds, each passed once. Returns each owner's final balance. The caller has locked the owners. */
export const endHolds = async (tx: Tx, ends: readonly HoldEnd[]): Promise<ReadonlyMap<Uuid, Balance>> => {
  if (ends.length === 0) return new Map()
  const owners = ends.map(({ ownerId }) => ownerId)
  requireLocked(tx, owners)
  const rows = await tx.query<Balance>(endStatement, [ends.map(() => newId()), ...fieldsOf(ends, 'holdId', 'kind'), tx.at])
  if (rows.length !== ends.length) throw new Error('there is no such hold')
  return new Map(rows.map((row, index) => [(ends[index] as HoldEnd).ownerId, row]))
}

const directTransfer = statement('ledger.direct')`
  with moved as (
     update ledger_accounts set posted_credits_minor = posted_credits_minor + $2, posted_debits_minor = posted_debits_minor + $3
     where owner_id = $1 and ${available} + $2 - $3 >= 0
     returning id, ${available} as available_minor, pending_debits_minor as held_minor, currency
   ), system as (select id from ledger_accounts where code = $4),
   written as (
     insert into ledger_transfers (id, kind, debit_account_id, credit_account_id, amount_minor, reference_type, reference_id, customer_account_id, available_after_minor, memo, created_at)
     select $5, 'direct', case when $2 > 0 then system.id else moved.id end, case when $2 > 0 then moved.id else system.id end,
       greatest($2::bigint, $3::bigint), $6, $7, moved.id, moved.available_minor, $8, $9 from moved, system
   )
   select available_minor as "availableMinor", held_minor as "heldMinor", currency from moved`

/** Credits (above 0) or debits (below 0) a customer against a system account. Throws `insufficient_funds`. */
export const transfer = async (
  tx: Tx,
  {
    ownerId,
    amountMinor,
    against,
    reference: { type, id },
    memo = null,
  }: { ownerId: Uuid; amountMinor: Minor; against: SystemAccount; reference: Reference; memo?: string | null },
): Promise<{ transferId: Uuid; balance: Balance }> => {
  await lockAccount(tx, ownerId)
  if (amountMinor === 0n) throw new RangeError('a transfer moves something')
  const transferId = newId()
  const [credit, debit] = amountMinor > 0n ? [amountMinor, 0n] : [0n, -amountMinor]
  const values = [ownerId, credit, debit, against, transferId, type, id, memo, tx.at]
  const [balance] = await tx.query<Balance>(directTransfer, values)
  if (!balance) throw new Refusal('insufficient_funds')
  return { transferId, balance }
}

const systemTransfer = statement('ledger.system')`
  insert into ledger_transfers (id, kind, debit_account_id, credit_account_id, amount_minor, reference_type, reference_id, memo, created_at)
   select m.id, 'direct', d.id, c.id, m.amount, m.type, m.reference, m.memo, $8
   from unnest($1::uuid[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::uuid[], $7::text[]) as m(id, debit, credit, amount, type, reference, memo)
     join ledger_accounts d on d.code = m.debit join ledger_accounts c on c.code = m.credit`

export type SystemTransfer = {
  id: Uuid
  debit: SystemAccount
  credit: SystemAccount
  amountMinor: Minor
  reference: Reference
  memo: string
}

/** Moves money between system accounts. Takes no lock, because no customer's balance changes. */
export const transferWithin = async (tx: Tx, moves: readonly SystemTransfer[]): Promise<void> => {
  if (moves.length === 0) return
  await tx.query(systemTransfer, [
    ...fieldsOf(moves, 'id', 'debit', 'credit', 'amountMinor'),
    moves.map(({ reference }) => reference.type),
    moves.map(({ reference }) => reference.id),
    ...fieldsOf(moves, 'memo'),
    tx.at,
  ])
}

export const openSystemAccounts = async (db: Db, currency: string, at: Date): Promise<void> => {
  for (const kind of systemAccounts)
    await insertOnce(db, ledgerAccounts, { id: newId(), kind, code: kind, currency, createdAt: at }, ledgerAccounts.code)
}

export const openCustomerAccount = (tx: Tx, ownerId: Uuid, currency: string, at: Date): void =>
  insertRow(tx, ledgerAccounts, { id: ownerId, kind: 'customer', ownerId, code: `customer:${ownerId}`, currency, createdAt: at })
