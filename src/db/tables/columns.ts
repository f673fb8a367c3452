import { type AnyColumn, type SQL, sql } from 'drizzle-orm'
import { type AnyPgColumn, bigint, customType, timestamp, uuid } from 'drizzle-orm/pg-core'
import { type PackedKind, pack, unpack } from '../../lib/packed-text.ts'

/** Millisecond precision, like a Date, so that a row is read back with exactly the times that were written. */
export const instant = () => timestamp({ withTimezone: true, precision: 3, mode: 'date' })
export const money = () => bigint({ mode: 'bigint' })
export const id = () => uuid().primaryKey()
export const idOf = (column: () => AnyPgColumn) => uuid().references(column)
/** The session that created the row. Not a foreign key, because sessions are deleted. Null: no session, or not recorded. */
export const originSession = () => uuid()

export const bytes = customType<{ data: Buffer }>({ dataType: () => 'bytea' })
/** A compressed JSON document, which queries cannot search. */
export const packedJson = <T>(kind: PackedKind) =>
  customType<{ data: T; driverData: Buffer }>({
    dataType: () => 'bytea',
    toDriver: (value) => pack(kind, JSON.stringify(value)),
    fromDriver: (bytes) => JSON.parse(unpack(bytes)) as T,
  })()

/** A 64-bit transaction id, which never wraps. Readers see rows in this order (events/README.md). */
export const transactionId = customType<{ data: bigint; driverData: string }>({ dataType: () => 'xid8' })

/** The transaction of the row's last change, set by a trigger. '0': no change since the column was added. */
export const changedIn = () => transactionId().notNull().default(sql`pg_current_xact_id()`)

/** A list for `in …`. Names must come from our own constants, never from input. */
export const namesSql = (names: readonly string[]): string => `(${names.map((name) => `'${name}'`).join(', ')})`

export const oneOf = (column: AnyColumn, values: readonly string[]): SQL => sql`${column} in ${sql.raw(namesSql(values))}`

export const noneOf = (column: AnyColumn, values: readonly string[]): SQL => sql`${column} not in ${sql.raw(namesSql(values))}`

/** The SQL form of `emailKey`, exactly as in the indexes. */
export const emailKeyOf = (column: AnyColumn): SQL<string> =>
  sql`case when ${column} ~ '^[!-~]+$' then lower(${column}) else ${column} end`
