import { type AnyColumn, type SQL, sql } from 'drizzle-orm'
import { type AnyPgColumn, bigint, customType, timestamp, uuid } from 'drizzle-orm/pg-core'
import { type PackedKind, pack, unpack } from '../../lib/packed-text.ts'

/** Milliseconds, as in a Date: a row that is read back has exactly the times that were written, so they can be compared. */
export const instant = () => timestamp({ withTimezone: true, precision: 3, mode: 'date' })
export const money = () => bigint({ mode: 'bigint' })
export const id = () => uuid().primaryKey()
/** The id of a row that must exist. */
export const idOf = (column: () => AnyPgColumn) => uuid().references(column)

export const bytes = customType<{ data: Buffer }>({ dataType: () => 'bytea' })
/** A JSON document that is packed: no statement can look into it. */
export const packedJson = <T>(kind: PackedKind) =>
  customType<{ data: T; driverData: Buffer }>({
    dataType: () => 'bytea',
    toDriver: (value) => pack(kind, JSON.stringify(value)),
    fromDriver: (bytes) => JSON.parse(unpack(bytes)) as T,
  })()

/** The 64-bit transaction id that never wraps: orders what readers see by commit safety (see events/README). */
export const transactionId = customType<{ data: bigint; driverData: string }>({ dataType: () => 'xid8' })

/** For `in …`: names from our own lists, never input. */
export const namesSql = (names: readonly string[]): string => `(${names.map((name) => `'${name}'`).join(', ')})`

/** A column has one of these values, from the list of its type. */
export const oneOf = (column: AnyColumn, values: readonly string[]): SQL => sql`${column} in ${sql.raw(namesSql(values))}`

/** A column has none of these values. */
export const noneOf = (column: AnyColumn, values: readonly string[]): SQL => sql`${column} not in ${sql.raw(namesSql(values))}`

/** `emailKey` in SQL, as the indexes have it. */
export const emailKeyOf = (column: AnyColumn): SQL<string> =>
  sql`case when ${column} ~ '^[!-~]+$' then lower(${column}) else ${column} end`
