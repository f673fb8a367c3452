import { type AnyColumn, type SQL, sql } from 'drizzle-orm'
import { bigint, customType, timestamp, uuid } from 'drizzle-orm/pg-core'

/** Milliseconds, as in a Date: a row that is read back has exactly the times that were written, so they can be compared. */
export const instant = () => timestamp({ withTimezone: true, precision: 3, mode: 'date' })
export const money = () => bigint({ mode: 'bigint' })
export const id = () => uuid().primaryKey()

export const bytes = customType<{ data: Buffer }>({ dataType: () => 'bytea' })
/** The 64-bit transaction id that never wraps: orders what readers see by commit safety (see events/README). */
export const transactionId = customType<{ data: bigint; driverData: string }>({ dataType: () => 'xid8' })

/** For `in …`: names from our own lists, never input. */
export const namesSql = (names: readonly string[]): string => `(${names.map((name) => `'${name}'`).join(', ')})`

/** A column has one of these values, from the list of its type. */
export const oneOf = (column: AnyColumn, values: readonly string[]): SQL => sql`${column} in ${sql.raw(namesSql(values))}`
