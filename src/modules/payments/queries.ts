import { and, desc, eq, getTableColumns, gt, gte, ilike, inArray, lt, lte, or, type SQL, sql } from 'drizzle-orm'
import { lockAccount } from '../../db/account-lock.ts'
import type { Database, Db, Tx } from '../../db/client.ts'
import { beneficiaries } from '../../db/tables/beneficiaries.ts'
import { payments } from '../../db/tables/payments.ts'
import { notFound } from '../../lib/errors.ts'
import { parseId, type Uuid } from '../../lib/ids.ts'
import type { Minor } from '../../lib/money.ts'
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

/** The account that pays: read without a lock, because that account's lock comes first. */
export const ownerOfPayment = async (db: Db, id: Uuid): Promise<Uuid | undefined> =>
  (await db.orm.select({ accountId: payments.accountId }).from(payments).where(eq(payments.id, id)))[0]?.accountId

/** The payment, locked. The caller already holds the owning ledger account's lock. */
export const lockPayment = async (tx: Tx, id: Uuid): Promise<PaymentRecord> => {
  const [payment] = await tx.orm.select().from(payments).where(eq(payments.id, id)).for('update')
  if (!payment) throw new Error('a payment that must exist is missing')
  return payment
}

/** The only way to lock a payment: its owning account first, then its row. Throws `not_found` for a payment that does not exist. */
export const lockPaymentWithAccount = async (tx: Tx, id: Uuid): Promise<PaymentRecord> => {
  const accountId = await ownerOfPayment(tx, id)
  if (!accountId) throw notFound()
  const [, payment] = await Promise.all([lockAccount(tx, accountId), lockPayment(tx, id)])
  return payment
}

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
