import { type AnyColumn, type SQL, sql } from 'drizzle-orm'

/** `emailKey` in SQL; the indexes use this expression. */
export const emailKeySql = (column: string): string => `case when ${column} ~ '^[!-~]+$' then lower(${column}) else ${column} end`

export const emailKeyOf = (column: AnyColumn): SQL<string> =>
  sql`case when ${column} ~ '^[!-~]+$' then lower(${column}) else ${column} end`
