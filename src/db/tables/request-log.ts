import { index, integer, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { id, instant } from './columns.ts'

/** Refused, failed and changing requests of seven days, written in groups after the answers. No bodies and no foreign keys. */
export const requestLog = pgTable(
  'request_log',
  {
    id: id(),
    accountId: uuid().notNull(),
    grantId: uuid(),
    operation: text().notNull(),
    method: text().notNull(),
    /** The path with its ids. Any other parameter is replaced by its name, because it may be a secret. */
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
