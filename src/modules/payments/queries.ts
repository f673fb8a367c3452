import { and, desc, eq, getTableColumns, gt, gte, ilike, inArray, lt, lte, or, type SQL, sql } from 'drizzle-orm'
import { lockAccounts } from '../../db/account-lock.ts'
import { type Database, type Db, statement, type Tx } from '../../db/client.ts'
import { plainList } from '../../db/lists.ts'
import { beneficiaries } from '../../db/tables/beneficiaries.ts'
import { payments } from '../../db/tables/payments.ts'
import { notFound } from '../../lib/errors.ts'
import { parseId, type Uuid } from '../../lib/ids.ts'
import type { Minor } from '../../lib/money.ts'
import { only } from '../../lib/only.ts'
import { railNames } from '../../lib/rail-names.ts'

export type PaymentRecord = typeof payments.$inferSelect
export type PaymentStatus = PaymentRecord['status']

export const findPayment = async (db: Db, workspaceId: Uuid, id: Uuid): Promise<PaymentRecord | undefined> =>
  (
    await db.orm
      .select()
      .from(payments)
      .where(and(eq(payments.workspaceId, workspaceId), eq(payments.id, id)))
  )[0]

const readOwners = statement('payments.owners', 'select id, account_id as "accountId" from payments where id = any($1::uuid[])')

/** The payments, locked. The caller already holds the owning ledger accounts' locks. */
const lockPayments = (tx: Tx, ids: readonly Uuid[]): Promise<PaymentRecord[]> =>
  tx.orm
    .select()
    .from(payments)
    .where(sql`${payments.id} = any(${plainList(ids)}::uuid[])`)
    .orderBy(payments.id)
    .for('update')
    // A drizzle query is sent when it is awaited; this one is sent before the next.
    .execute()

/** The only way to lock payments: their owning accounts first, then their rows. Throws `not_found` for a payment that does not exist. */
export const lockPaymentsWithAccounts = async (tx: Tx, ids: readonly Uuid[]): Promise<PaymentRecord[]> => {
  const owners = await tx.query<{ accountId: Uuid }>(readOwners, [plainList(ids)])
  if (owners.length !== ids.length) throw notFound()
  const [, locked] = await Promise.all([
    lockAccounts(tx, { exclusive: owners.map(({ accountId }) => accountId) }),
    lockPayments(tx, ids),
  ])
  return locked
}

export const lockPaymentWithAccount = async (tx: Tx, id: Uuid): Promise<PaymentRecord> =>
  only(await lockPaymentsWithAccounts(tx, [id]))

/** The text that a person searches for, and the beneficiaries whose names contain it. */
type SearchedText = { text: string; beneficiaryIds: readonly Uuid[] }

export type PaymentFilter = {
  statuses?: readonly PaymentStatus[]
  beneficiaryId?: Uuid
  grantId?: Uuid
  initiatorAccountId?: Uuid
  mandateId?: Uuid
  metadata?: Readonly<Record<string, string>>
  amountMinMinor?: Minor
  amountMaxMinor?: Minor
  text?: SearchedText
  createdAfter?: Date
  createdBefore?: Date
}

/** The filter of a request: its text has not been looked up among the beneficiaries yet. */
export type PaymentSearch = Omit<PaymentFilter, 'text'> & { text?: string }

const patternOf = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`

/**
 * Keys select payments directly; only a text is searched for. The beneficiaries with that text in their names are read first: then Postgres
 * knows how few payments they have, and combines the indexes instead of reading the whole workspace.
 */
export const readMatching = <T>(
  db: Db & Pick<Database, 'search'>,
  workspaceId: Uuid,
  { text, ...filter }: PaymentSearch,
  read: (db: Db, filter: PaymentFilter) => Promise<T>,
): Promise<T> => {
  if (text === undefined) return read(db, filter)
  return db.search(async (searching) => {
    const named = await searching.orm
      .select({ id: beneficiaries.id })
      .from(beneficiaries)
      .where(and(eq(beneficiaries.workspaceId, workspaceId), ilike(beneficiaries.displayName, patternOf(text))))
    return read(searching, { ...filter, text: { text, beneficiaryIds: named.map(({ id }) => id) } })
  })
}

/** The expression of the index payments_search: both must be the same text. */
const searched = sql`(coalesce(${payments.accountReference}, '') || ' ' || coalesce(${payments.narrative}, ''))`

/** Each alternative has an index. */
const textCondition = ({ text, beneficiaryIds }: SearchedText): SQL | undefined => {
  const id = parseId('payment', text.toLowerCase())
  return or(
    sql`${searched} ilike ${patternOf(text)}`,
    beneficiaryIds.length > 0 ? sql`${payments.beneficiaryId} = any(${sql.param(beneficiaryIds)}::uuid[])` : undefined,
    and(inArray(payments.rail, railNames), eq(payments.providerReceipt, text)),
    id ? eq(payments.id, id) : undefined,
  )
}

/** The payments of a workspace that match a filter: one definition for the list, its totals and its export. */
export const matching = (workspaceId: Uuid, filter: PaymentFilter) =>
  and(
    eq(payments.workspaceId, workspaceId),
    filter.statuses ? inArray(payments.status, [...filter.statuses]) : undefined,
    filter.beneficiaryId ? eq(payments.beneficiaryId, filter.beneficiaryId) : undefined,
    filter.grantId ? eq(payments.grantId, filter.grantId) : undefined,
    filter.initiatorAccountId ? eq(payments.initiatorAccountId, filter.initiatorAccountId) : undefined,
    filter.mandateId ? eq(payments.mandateId, filter.mandateId) : undefined,
    filter.metadata ? sql`${payments.metadata} @> ${JSON.stringify(filter.metadata)}::jsonb` : undefined,
    filter.amountMinMinor === undefined ? undefined : gte(payments.amountMinor, filter.amountMinMinor),
    filter.amountMaxMinor === undefined ? undefined : lte(payments.amountMinor, filter.amountMaxMinor),
    filter.text ? textCondition(filter.text) : undefined,
    filter.createdAfter ? gt(payments.createdAt, filter.createdAfter) : undefined,
    filter.createdBefore ? lt(payments.createdAt, filter.createdBefore) : undefined,
  )

export const listPayments = (
  db: Db,
  workspaceId: Uuid,
  page: { before: Uuid | null; take: number },
  filter: PaymentFilter,
): Promise<PaymentRecord[]> =>
  db.orm
    .select()
    .from(payments)
    .where(and(matching(workspaceId, filter), page.before ? lt(payments.id, page.before) : undefined))
    .orderBy(desc(payments.id))
    .limit(page.take)

/** The same with the payee's name, for readers outside this service. */
export const listPaymentsWithPayee = (
  db: Db,
  workspaceId: Uuid,
  page: { before: Uuid | null; take: number },
  filter: PaymentFilter,
): Promise<(PaymentRecord & { payee: string })[]> =>
  db.orm
    .select({ ...getTableColumns(payments), payee: beneficiaries.displayName })
    .from(payments)
    .innerJoin(beneficiaries, eq(beneficiaries.id, payments.beneficiaryId))
    .where(and(matching(workspaceId, filter), page.before ? lt(payments.id, page.before) : undefined))
    .orderBy(desc(payments.id))
    .limit(page.take)
