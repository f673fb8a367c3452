import { type AnyColumn, type SQL, sql } from 'drizzle-orm'
import { type AnyPgColumn, bigint, customType, timestamp, uuid } from 'drizzle-orm/pg-core'
import { type PackedKind, pack, unpack } from '../../lib/packed-text.ts'

/** Milliseconds, as in a Date: a row that is read back has exactly the times that were written. */
export const instant = () => timestamp({ withTimezone: true, precision: 3, mode: 'date' })
export const money = () => bigint({ mode: 'bigint' })
export const id = () => uuid().primaryKey()
export const idOf = (column: () => AnyPgColumn) => uuid().references(column)
/** The session that made the row, as a plain id: the session's row may be gone. Null: not recorded, or no session. */
export const originSession = () => uuid()

export const bytes = customType<{ data: Buffer }>({ dataType: () => 'bytea' })
/** A packed JSON document. Queries cannot look into it. */
export const packedJson = <T>(kind: PackedKind) =>
  customType<{ data: T; driverData: Buffer }>({
    dataType: () => 'bytea',
    toDriver: (value) => pack(kind, JSON.stringify(value)),
    fromDriver: (bytes) => JSON.parse(unpack(bytes)) as T,
  })()

/** The 64-bit transaction id, which never wraps: readers see rows in its order (events/README.md). */
export const transactionId = customType<{ data: bigint; driverData: string }>({ dataType: () => 'xid8' })

/** The transaction of the row's last change, set by a trigger. '0' in rows without a change since the column was added. */
export const changedIn = () => transactionId().notNull().default(sql`pg_current_xact_id()`)

/** A list for `in …`. Names come from our own lists, never from input. */
export const namesSql = (names: readonly string[]): string => `(${names.map((name) => `'${name}'`).join(', ')})`

export const oneOf = (column: AnyColumn, values: readonly string[]): SQL => sql`${column} in ${sql.raw(namesSql(values))}`

export const noneOf = (column: AnyColumn, values: readonly string[]): SQL => sql`${column} not in ${sql.raw(namesSql(values))}`

/** `emailKey` in SQL, as the indexes have it. */
export const emailKeyOf = (column: AnyColumn): SQL<string> =>
  sql`case when ${column} ~ '^[!-~]+$' then lower(${column}) else ${column} end`
