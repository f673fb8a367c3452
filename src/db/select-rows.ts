import {
  type AnyColumn,
  and,
  asc,
  eq,
  getTableColumns,
  type InferSelectModel,
  isNotNull,
  isNull,
  type SQL,
  sql,
} from 'drizzle-orm'
import type { PgColumn, PgTable, QueryBuilder } from 'drizzle-orm/pg-core'
import type { Uuid } from '../lib/ids.ts'
import { type Db, first } from './client.ts'
import { newestFirst, ownedBy, type Selected } from './list-queries.ts'
import { type Parameters, type Placeholders, prepare, type RowOf, type Select } from './prepare.ts'
import type { ConnectionMode } from './statement.ts'

type Row<T extends PgTable> = InferSelectModel<T>
type Column<T extends PgTable> = keyof Row<T> & string
type Key<T extends PgTable, Name extends Column<T>> = { [Each in Name]: NonNullable<Row<T>[Each]> }
const columnsOf = (table: PgTable): Readonly<Record<string, PgColumn>> => getTableColumns(table)

const kindOf = (column: AnyColumn | undefined): Parameters[string] => {
  const type = column?.getSQLType()
  if (type === 'uuid' || type === 'text' || type === 'bytea') return type
  if (type === 'integer') return 'int'
  throw new Error(`no row is found by a column of the type ${type}`)
}

const parametersOf = (table: PgTable, names: readonly string[]): Parameters =>
  Object.fromEntries(names.map((name) => [name, kindOf(columnsOf(table)[name])]))

const whereEqual = (orm: QueryBuilder, table: PgTable, param: Placeholders<Parameters>) =>
  orm
    .select()
    .from(table)
    .where(and(...Object.entries(columnsOf(table)).flatMap(([name, column]) => (param[name] ? [eq(column, param[name])] : []))))

export const selectRow = <T extends PgTable, const Name extends Column<T>>(
  name: string,
  table: T,
  names: readonly Name[],
  { connection = 'record', lock }: { connection?: ConnectionMode; lock?: 'update' | 'no key update' | 'share' } = {},
): ((db: Db, key: Key<T, Name>) => Promise<Row<T> | undefined>) => {
  const query = prepare(name, parametersOf(table, names), connection, (orm, param) => {
    const rows = whereEqual(orm, table, param)
    return lock ? rows.for(lock) : rows
  })
  return async (db, key) => (await first(db, query, key)) as Row<T> | undefined
}

/** Selects rows by equality, oldest first. */
export const selectRows = <T extends PgTable & { id: PgColumn }, const Name extends Column<T>>(
  name: string,
  table: T,
  names: readonly Name[],
  connection: ConnectionMode = 'record',
): ((db: Db, key: Key<T, Name>) => Promise<Row<T>[]>) => {
  const query = prepare(name, parametersOf(table, names), connection, (orm, param) =>
    whereEqual(orm, table, param).orderBy(asc(table.id)),
  )
  return async (db, key) => (await db.run(query, key)) as Row<T>[]
}

/** Selects rows that have one of several values in a column, in no particular order. */
export const selectAmong = <T extends PgTable, const Name extends Column<T>>(
  name: string,
  table: T,
  column: Name,
  connection: ConnectionMode = 'record',
): ((db: Db, values: readonly NonNullable<Row<T>[Name]>[]) => Promise<Row<T>[]>) => {
  const among = columnsOf(table)[column]
  const untyped: PgTable = table
  const parameters = { values: `${kindOf(among)}[]` } as Parameters
  const query = prepare(name, parameters, connection, (orm, param) =>
    orm.select().from(untyped).where(sql`${among} = any(${param.values})`),
  )
  return async (db, values) => (values.length === 0 ? [] : ((await db.run(query, { values })) as Row<T>[]))
}

/** Selects rows by a list of ids, as `build` says. An empty list needs no query. */
export const selectByIds = <B extends Select>(name: string, build: (orm: QueryBuilder, ids: SQL) => B) => {
  const query = prepare(name, { ids: 'uuid[]' }, (orm, param) => build(orm, param.ids))
  return async (db: Db, ids: readonly Uuid[]): Promise<RowOf<typeof query>[]> => (ids.length === 0 ? [] : db.run(query, { ids }))
}

export const selectPage = <T extends PgTable & { id: PgColumn }>(
  name: string,
  table: T,
  owner: PgColumn,
): ((db: Db, ownerId: Uuid, page: { before: Uuid | null; take: number }) => Promise<Row<T>[]>) => {
  const untyped: PgTable = table
  const query = prepare(name, { owner: 'uuid', before: 'uuid?', take: 'rows' }, 'page', (orm, param) =>
    newestFirst(orm.select().from(untyped), { owner, id: table.id }, param, ownedBy(owner, param.owner)),
  )
  return async (db, ownerId, page) => (await db.run(query, { owner: ownerId, ...page })) as Row<T>[]
}

/** Lists records that wait for a person, newest first. A record is open while its `resolvedAt` is null. */
export const selectByStatus = <Query extends Select>(
  name: string,
  { id, resolvedAt }: { id: PgColumn; resolvedAt: PgColumn },
  select: (orm: QueryBuilder) => Selected<Query>,
) => {
  const parameters = { open: 'flag?', resolved: 'flag?', before: 'uuid?', take: 'rows' } as const
  const query = prepare(name, parameters, 'pool', (orm, param) =>
    newestFirst(select(orm), { id }, param, param.open && isNull(resolvedAt), param.resolved && isNotNull(resolvedAt)),
  )
  return (db: Db, status: 'open' | 'resolved' | undefined, page: { before: Uuid | null; take: number }) =>
    db.run(query, { open: status === 'open', resolved: status === 'resolved', ...page })
}
