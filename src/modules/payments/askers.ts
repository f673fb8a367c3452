import { and, desc, eq, gt, gte, lt, lte, type SQL, sql } from 'drizzle-orm'
import { type Database, type Db, first } from '../../db/client.ts'
import { ownedBy } from '../../db/list-queries.ts'
import { prepare } from '../../db/prepare.ts'
import { payments } from '../../db/tables/payments.ts'
import type { PageRequest } from '../../http/pagination.ts'
import type { Uuid } from '../../lib/ids.ts'
import { listPayments, type PaymentRecord, type PaymentSearch, readMatching } from './queries.ts'

/** Who asked may have asked for few of very many payments. */
const askers: readonly string[] = ['grantId', 'initiatorAccountId']
const others: readonly string[] = ['statuses', 'createdAfter', 'createdBefore', 'amountMinMinor', 'amountMaxMinor']

const isByAsker = (search: PaymentSearch): boolean => {
  const given = Object.entries(search).flatMap(([name, value]) => (value === undefined || value === null ? [] : name))
  return given.some((name) => askers.includes(name)) && given.every((name) => askers.includes(name) || others.includes(name))
}

/** Keeps a condition from being looked up in an index. */
const checked = (condition: SQL | undefined): SQL | undefined => condition && sql`(${condition}) is true`

/** All of one asker, by the stretches of the table that may have some: `payments_askers` is only read as a bitmap. */
const list = prepare(
  'payments.list_of_asker',
  {
    workspaceId: 'uuid',
    grantId: 'uuid?',
    initiatorAccountId: 'uuid?',
    statuses: 'text[]?',
    createdAfter: 'timestamptz?',
    createdBefore: 'timestamptz?',
    amountMinMinor: 'bigint?',
    amountMaxMinor: 'bigint?',
    before: 'uuid?',
    take: 'rows',
  },
  (orm, at) =>
    orm
      .select()
      .from(payments)
      .where(
        and(
          at.grantId && eq(payments.grantId, at.grantId),
          at.initiatorAccountId && eq(payments.initiatorAccountId, at.initiatorAccountId),
          checked(eq(payments.workspaceId, at.workspaceId)),
          checked(at.before && lt(payments.id, at.before)),
          checked(at.statuses && sql`${payments.status} = any(${at.statuses})`),
          checked(at.createdAfter && gt(payments.createdAt, at.createdAfter)),
          checked(at.createdBefore && lt(payments.createdAt, at.createdBefore)),
          checked(at.amountMinMinor && gte(payments.amountMinor, at.amountMinMinor)),
          checked(at.amountMaxMinor && lte(payments.amountMinor, at.amountMaxMinor)),
        ),
      )
      .orderBy(desc(payments.id))
      .limit(at.take),
  'pool',
)

/** Who asks often fills a page among these; of who does not, a million payments have as few. */
const newestRead = 5_000

const placeBehind = prepare(
  'payments.place_behind',
  { workspaceId: 'uuid', before: 'uuid?', many: 'rows' },
  (orm, at) =>
    orm
      .select({ id: payments.id })
      .from(payments)
      .where(and(ownedBy(payments.workspaceId, at.workspaceId), at.before && lt(payments.id, at.before)))
      .orderBy(desc(payments.workspaceId), desc(payments.id))
      .limit(1)
      .offset(at.many),
  'pool',
)

/** A page of the payments that match, newest first. Of an asker who is not among the newest, the whole answer is read from the stretches. */
export const searchPayments = async (
  source: Db & Pick<Database, 'search'>,
  workspaceId: Uuid,
  page: PageRequest,
  search: PaymentSearch,
): Promise<PaymentRecord[]> => {
  const read = (newerThan?: Uuid) =>
    readMatching(source, workspaceId, search, (db, filter) => listPayments(db, workspaceId, page, { ...filter, newerThan }))
  if (!isByAsker(search)) return read()
  const place = await first(source, placeBehind, { workspaceId, before: page.before, many: newestRead })
  const newest = await read(place?.id)
  if (!place || newest.length >= page.take) return newest
  return source.search((db) => db.run(list, { workspaceId, ...search, ...page }), 'bitmaps')
}
