import { and, count, eq, getTableColumns, gte, ilike, lte, or, type SQL, sql, sum } from 'drizzle-orm'
import type { QueryBuilder } from 'drizzle-orm/pg-core'
import { lockAccounts, requireLocked } from '../../db/account-lock.ts'
import {
  type ChangePosition,
  type ChangesQuery,
  changeParameters,
  changeValues,
  inOrderOfChange,
  readChanges,
} from '../../db/changes.ts'
import type { Database, Db, Tx } from '../../db/client.ts'
import { amongIds, containing, createdBetween, newestFirst, ownedBy } from '../../db/list-queries.ts'
import { approversSql, type NamedPerson, personNameSql } from '../../db/person-names-sql.ts'
import { type Placeholders, type Prepared, prepare, type RowOf, type Values } from '../../db/prepare.ts'
import { selectRow } from '../../db/select-rows.ts'
import { beneficiaries } from '../../db/tables/beneficiaries.ts'
import { namesSql } from '../../db/tables/columns.ts'
import { paymentBatches } from '../../db/tables/payment-batches.ts'
import { payments } from '../../db/tables/payments.ts'
import { balanceAccountSql, workspaces } from '../../db/tables/workspaces.ts'
import { underWayPaymentStatuses } from '../../db/transitions.ts'
import type { PageRequest } from '../../http/pagination.ts'
import { referenceKeySql } from '../../lib/account-reference.ts'
import { notFound } from '../../lib/errors.ts'
import { parseId, type Uuid } from '../../lib/ids.ts'
import { only } from '../../lib/lists.ts'
import type { Minor } from '../../lib/money.ts'
import { parseWithoutTrace } from '../../lib/packed-text.ts'
import { railNames } from '../../lib/rail-names.ts'
import { receiptForms } from '../../lib/text.ts'

export type PaymentRecord = Omit<typeof payments.$inferSelect, 'changed'>
export type PaymentStatus = PaymentRecord['status']

export const findPayment = selectRow('payments.by_id', payments, ['workspaceId', 'id'], { connection: 'coalesced' })

const readHolders = prepare('payments.holders', { ids: 'uuid[]' }, 'pool', (orm, param) =>
  orm
    .select({ accountId: payments.accountId, balanceAccountId: sql<Uuid>`${sql.raw(balanceAccountSql('workspaces'))}` })
    .from(payments)
    .innerJoin(workspaces, eq(workspaces.id, payments.workspaceId))
    .where(sql`${payments.id} = any(${param.ids})`),
)

const lockRows = prepare('payments.lock', { ids: 'uuid[]' }, 'pool', (orm, param) =>
  orm.select().from(payments).where(sql`${payments.id} = any(${param.ids})`).orderBy(payments.id).for('update'),
)

/**
 * Lock order: first the paying accounts, then the payment rows. If a workspace has since received its own balance, that account
 * is locked too, because it carries the limits now. Throws `not_found` if a payment does not exist.
 */
export const lockPaymentsWithAccounts = async (tx: Tx, ids: readonly Uuid[]): Promise<PaymentRecord[]> => {
  const holders = await tx.run(readHolders, { ids })
  if (holders.length !== ids.length) throw notFound()
  const exclusive = holders.flatMap(({ accountId, balanceAccountId }) => [accountId, balanceAccountId])
  const [, locked] = await Promise.all([lockAccounts(tx, { exclusive }), tx.run(lockRows, { ids })])
  return locked
}

const lockRow = selectRow('payments.lock_one', payments, ['workspaceId', 'id'], { lock: 'update' })

/** Locks a payment for a caller that has already locked the paying account. */
export const lockPaymentIn = async (tx: Tx, workspaceId: Uuid, id: Uuid): Promise<PaymentRecord | undefined> => {
  const locked = await lockRow(tx, { workspaceId, id })
  if (locked) requireLocked(tx, [locked.accountId])
  return locked
}

export const lockPaymentWithAccount = async (tx: Tx, id: Uuid): Promise<PaymentRecord> =>
  only(await lockPaymentsWithAccounts(tx, [id]))

const filters = {
  /** A single status: an index returns its payments in list order. */
  status: 'text?',
  statuses: 'text[]?',
  batchId: 'uuid?',
  firstItems: 'flag?',
  beneficiaryId: 'uuid?',
  purposeCode: 'text?',
  accountReference: 'text?',
  grantId: 'uuid?',
  initiatorAccountId: 'uuid?',
  mandateId: 'uuid?',
  idempotencyKey: 'text?',
  metadata: 'jsonb?',
  amountMinMinor: 'bigint?',
  amountMaxMinor: 'bigint?',
  createdAfter: 'timestamptz?',
  createdBefore: 'timestamptz?',
  pattern: 'text?',
  named: 'uuid[]?',
  receipts: 'text[]?',
  searchedId: 'uuid?',
  searchedAmount: 'bigint?',
} as const
const listParameters = { workspaceId: 'uuid', ...filters } as const
const pageParameters = { before: 'uuid?', take: 'rows' } as const

export type PaymentFilter = Values<typeof filters>

/** A search as requested, before its text is matched against the names of beneficiaries. */
export type PaymentSearch = Omit<
  PaymentFilter,
  'status' | 'statuses' | 'pattern' | 'named' | 'receipts' | 'searchedId' | 'searchedAmount'
> & {
  statuses?: readonly PaymentStatus[]
  /** `amount`: the text parsed as an amount, if possible. */
  search?: { text: string; amount: Minor | undefined }
}

const namedLike = prepare('payments.named_like', { workspaceId: 'uuid', pattern: 'text' }, (orm, param) =>
  orm
    .select({ id: beneficiaries.id })
    .from(beneficiaries)
    .where(and(eq(beneficiaries.workspaceId, param.workspaceId), ilike(beneficiaries.displayName, param.pattern))),
)

/** Matches names first: Postgres then knows how few payments match, and combines indexes instead of scanning the workspace. */
export const readMatching = <T>(
  db: Db & Pick<Database, 'search'>,
  workspaceId: Uuid,
  { search, statuses, ...others }: PaymentSearch,
  read: (db: Db, filter: PaymentFilter) => Promise<T>,
): Promise<T> => {
  const filter = { ...others, ...(statuses?.length === 1 ? { status: statuses[0] } : { statuses }) }
  if (search === undefined) return read(db, filter)
  const { text, amount: searchedAmount } = search
  return db.search(async (searching) => {
    const pattern = containing(text)
    const named = await searching.run(namedLike, { workspaceId, pattern })
    return read(searching, {
      ...filter,
      pattern,
      ...(named.length > 0 && { named: named.map(({ id }) => id) }),
      receipts: receiptForms(text),
      searchedId: parseId('payment', text.toLowerCase()),
      searchedAmount,
    })
  })
}

/** Must be the same expression as in the index payments_search, so that Postgres uses the index. */
const referenceAndNarrative = sql`(coalesce(${payments.accountReference}, '') || ' ' || coalesce(${payments.narrative}, ''))`

/** Each alternative of this `or` has its own index. */
const textCondition = (param: Placeholders<typeof listParameters>): SQL | undefined =>
  param.pattern &&
  or(
    sql`${referenceAndNarrative} ilike ${param.pattern}`,
    param.named && sql`${payments.beneficiaryId} = any(${param.named})`,
    param.receipts &&
      sql`${payments.rail} in ${sql.raw(namesSql(railNames))} and ${payments.providerReceipt} = any(${param.receipts})`,
    param.searchedId && eq(payments.id, param.searchedId),
    param.searchedAmount && eq(payments.amountMinor, param.searchedAmount),
  )

/** The conditions shared by the list of payments, its totals and its export. */
const matching = (param: Placeholders<typeof listParameters>, ordered = true): SQL | undefined => {
  const isOfOne = [
    param.batchId,
    param.beneficiaryId,
    param.accountReference,
    param.purposeCode,
    param.mandateId,
    param.idempotencyKey,
  ].some((found) => found !== undefined)
  const inTime = {
    id: payments.id,
    at: payments.createdAt,
    owner: { column: payments.workspaceId, id: param.workspaceId },
    unordered: !ordered && !isOfOne,
  }
  return and(
    ownedBy(payments.workspaceId, param.workspaceId),
    param.status && eq(payments.status, param.status),
    param.statuses && sql`${payments.status} = any(${param.statuses})`,
    param.batchId && eq(payments.batchId, param.batchId),
    param.firstItems && sql`coalesce(${payments.batchIndex}, 0) = 0`,
    param.purposeCode && eq(payments.purposeCode, param.purposeCode),
    param.beneficiaryId && eq(payments.beneficiaryId, param.beneficiaryId),
    param.accountReference &&
      sql`${sql.raw(referenceKeySql('payments.account_reference'))} = upper(replace(${param.accountReference}, ' ', ''))`,
    param.grantId && eq(payments.grantId, param.grantId),
    param.initiatorAccountId && eq(payments.initiatorAccountId, param.initiatorAccountId),
    param.mandateId && eq(payments.mandateId, param.mandateId),
    param.idempotencyKey && eq(payments.idempotencyKey, param.idempotencyKey),
    param.metadata && sql`${payments.metadata} @> ${param.metadata}`,
    param.amountMinMinor && gte(payments.amountMinor, param.amountMinMinor),
    param.amountMaxMinor && lte(payments.amountMinor, param.amountMaxMinor),
    textCondition(param),
    createdBetween(inTime, param.createdAfter, param.createdBefore),
  )
}

const inOrder = { owner: payments.workspaceId, id: payments.id }

const readSnapshot = (bytes: Buffer) => parseWithoutTrace(bytes) as PaymentRecord['snapshot']
export const listedSnapshot = sql`${payments.snapshot}`.mapWith(readSnapshot)
/** Columns of a listed payment. Its snapshot omits the trace of the decision. */
const listedColumns = { ...getTableColumns(payments), snapshot: listedSnapshot }

const selectPage = (orm: QueryBuilder, param: Placeholders<typeof listParameters & typeof pageParameters>) => {
  if (!param.status) return newestFirst(orm.select(listedColumns).from(payments), inOrder, param, matching(param))
  const ids = newestFirst(orm.select({ id: payments.id }).from(payments), inOrder, param, matching(param))
  return newestFirst(
    orm.select(listedColumns).from(payments),
    { id: payments.id },
    { before: undefined, take: param.take },
    amongIds(payments.id, ids),
  )
}

const list = prepare('payments.list', { ...listParameters, ...pageParameters }, 'page', selectPage)
const listRare = prepare('payments.list_rare', { ...listParameters, ...pageParameters }, 'pool', selectPage)

/** Filters without an index: one index per filter would slow every payment more than it would speed up these searches. */
const withoutIndex = ['grantId', 'initiatorAccountId', 'metadata', 'amountMinMinor', 'amountMaxMinor'] as const

/** Without an index, a list may scan very many payments, so it does not use the connection that all other lists share. */
export const listPayments = (db: Db, workspaceId: Uuid, page: PageRequest, filter: PaymentFilter): Promise<PaymentRecord[]> =>
  db.run(withoutIndex.some((name) => filter[name] !== undefined) ? listRare : list, { workspaceId, ...filter, ...page })

const selectNamed = (orm: QueryBuilder) =>
  orm
    .select({
      ...listedColumns,
      payee: beneficiaries.displayName,
      batchName: paymentBatches.name,
      initiatorName: sql<string | null>`${sql.raw(personNameSql('payments.initiator_account_id'))}`,
      approvers: sql<NamedPerson[]>`${sql.raw(approversSql('payments.approval_id'))}`,
    })
    .from(payments)
    .innerJoin(beneficiaries, eq(beneficiaries.id, payments.beneficiaryId))
    .leftJoin(paymentBatches, eq(paymentBatches.id, payments.batchId))

export const namedPayments = prepare('payments.list_with_payee', { ...listParameters, ...pageParameters }, 'pool', (orm, param) =>
  newestFirst(selectNamed(orm), inOrder, param, matching(param)),
)

const changeScope = { ...listParameters, ...changeParameters } as const

const changedPayments = prepare('payments.changes', changeScope, 'pool', (orm, param) =>
  inOrderOfChange(orm.select(listedColumns).from(payments), payments, param, matching(param)),
)

const changedNamedPayments = prepare('payments.changes_with_payee', changeScope, 'pool', (orm, param) =>
  inOrderOfChange(selectNamed(orm), payments, param, matching(param)),
)

const readChangesBy =
  <Row>(statement: Prepared<Values<typeof changeScope>, Row>) =>
  (db: Database, query: ChangesQuery, search: PaymentSearch) =>
    readChanges(db, 'payments', query, (request) =>
      readMatching(db, query.workspaceId, search, (source, filter) =>
        source.run(statement, { workspaceId: query.workspaceId, ...filter, ...changeValues(request) }),
      ),
    )

export const readChangedPayments = readChangesBy(changedPayments)
const readChangedNamed = readChangesBy(changedNamedPayments)

export const pagesOfChanges = (db: Database, workspaceId: Uuid, since: Date, search: PaymentSearch) => {
  let from: ChangePosition | undefined
  return async ({ take }: { take: number }): Promise<readonly NamedPayment[]> => {
    const { rows, settledAtStart } = await readChangedNamed(db, { workspaceId, since, from, take }, search)
    const last = rows.at(-1)
    if (last) from = { transaction: String(last.changed), id: last.id, settledAtStart }
    return rows
  }
}

export type NamedPayment = RowOf<typeof namedPayments>

/** The only definition of spent: the money has left or is being sent. */
export const spending: readonly PaymentStatus[] = [...underWayPaymentStatuses, 'succeeded']

export const totals = prepare('payments.totals', { ...listParameters, starts: 'timestamptz[]' }, 'pool', (orm, param) =>
  orm
    .select({
      status: payments.status,
      day: sql<number | null>`case when ${payments.status} in ${sql.raw(namesSql(spending))}
          then nullif(width_bucket(${payments.createdAt}, ${param.starts}), 0) end`,
      count: count(),
      amount: sum(payments.amountMinor),
    })
    .from(payments)
    .where(matching(param, false))
    .groupBy(sql`1, 2`),
)
