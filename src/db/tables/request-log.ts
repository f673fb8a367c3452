import { index, integer, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { id, instant } from './columns.ts'

/** Refused, failed and changing requests of the last seven days, written in groups after the responses. Bodies are not stored. */
export const requestLog = pgTable(
  'request_log',
  {
    id: id(),
    accountId: uuid().notNull(),
    grantId: uuid(),
    operation: text().notNull(),
    method: text().notNull(),
    /** The path with its ids. Other parameters are replaced by their names, because they may be secrets. */
    path: text().notNull(),
    status: integer().notNull(),
    error: text(),
    message: text(),
    requestId: text().notNull(),
    ms: integer().notNull(),
    at: instant().notNull(),
  },
  (t) => [index('request_log_account').on(t.accountId, t.id), index('request_log_age').on(t.at)],
)
