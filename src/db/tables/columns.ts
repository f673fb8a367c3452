import { type AnyColumn, type SQL, sql } from 'drizzle-orm'
import { bigint, customType, timestamp, uuid } from 'drizzle-orm/pg-core'

/** Milliseconds, as in a Date: a row that is read back has exactly the times that were written, so they can be compared. */
export const instant = () => timestamp({ withTimezone: true, precision: 3, mode: 'date' })
export const money = () => bigint({ mode: 'bigint' })
export const id = () => uuid().primaryKey()

export const bytes = customType<{ data: Buffer }>({ dataType: () => 'bytea' })
/** The 64-bit transaction id that never wraps: orders what readers see by commit safety (see events/README). */
export const transactionId = customType<{ data: bigint; driverData: string }>({ dataType: () => 'xid8' })

/** A check that a column has one of the values of its type's list. They are our own names, never input. */
export const oneOf = (column: AnyColumn, values: readonly string[]): SQL =>
  sql`${column} in ${sql.raw(`(${values.map((value) => `'${value}'`).join(', ')})`)}`
