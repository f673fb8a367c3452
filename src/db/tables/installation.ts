import { sql } from 'drizzle-orm'
import { boolean, check, integer, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { bytes, instant } from './columns.ts'

/** Which installation these data belong to: one row, made at the first start. A copy, a standby and a restored backup have the same row. */
export const installation = pgTable(
  'installation',
  {
    one: boolean().primaryKey().default(true),
    id: uuid().notNull(),
    currency: text().notNull(),
    createdAt: instant().notNull(),
    /** When an operator confirmed that no process of a version before 0.4.0 serves any more. */
    upgradeFinishedAt: instant(),
  },
  (t) => [check('installation_one_check', sql`${t.one}`)],
)

/** The keys under which data may be stored. `rotate-keys` removes those under which nothing is stored any more. */
export const installationKeys = pgTable(
  'installation_keys',
  {
    ring: text().notNull(),
    keyId: text().notNull(),
    /** A code that only the key's holder can make: a different key under the same name is noticed. */
    checkValue: bytes().notNull(),
    createdAt: instant().notNull(),
  },
  (t) => [primaryKey({ columns: [t.ring, t.keyId] })],
)

/** When each sweep runs next, for all processes. */
export const schedules = pgTable('schedules', {
  name: text().primaryKey(),
  everySeconds: integer().notNull(),
  nextRunAt: instant().notNull(),
})

/** E-mails and wallets that may open an account where sign-up is by invitation: named by `npm run admin -- invite`. */
export const operatorInvitations = pgTable('operator_invitations', {
  /** A verified e-mail's key, or a wallet's CAIP-10 name in lowercase. */
  subjectKey: text().primaryKey(),
  invitedBy: text().notNull(),
  createdAt: instant().notNull(),
})

/** The dashboard's files by name, kept for open pages of a version that another one has replaced. */
export const dashboardFiles = pgTable('dashboard_files', {
  name: text().primaryKey(),
  content: bytes().notNull(),
  /** When a process first started without this file. Null: part of the version that started last. */
  replacedAt: instant(),
})
