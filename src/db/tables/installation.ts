import { sql } from 'drizzle-orm'
import { boolean, check, integer, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { bytes, instant } from './columns.ts'

/** The identity of the installation: one row, made at the first start. A copy, a standby and a restored backup share it. */
export const installation = pgTable(
  'installation',
  {
    one: boolean().primaryKey().default(true),
    id: uuid().notNull(),
    currency: text().notNull(),
    createdAt: instant().notNull(),
    /** When an operator confirmed that no process of a version before 0.4.0 runs. */
    upgradeFinishedAt: instant(),
  },
  (t) => [check('installation_one_check', sql`${t.one}`)],
)

/** The keys under which data may be stored. `rotate-keys` removes those without data. */
export const installationKeys = pgTable(
  'installation_keys',
  {
    ring: text().notNull(),
    keyId: text().notNull(),
    /** A code that only the key's holder can make. It detects a different key under the same name. */
    checkValue: bytes().notNull(),
    createdAt: instant().notNull(),
  },
  (t) => [primaryKey({ columns: [t.ring, t.keyId] })],
)

/** The next run of each sweep, for all processes. */
export const schedules = pgTable('schedules', {
  name: text().primaryKey(),
  everySeconds: integer().notNull(),
  nextRunAt: instant().notNull(),
})

/** E-mails and wallets that may open an account if sign-up is by invitation. Set by `npm run admin -- invite`. */
export const operatorInvitations = pgTable('operator_invitations', {
  /** A verified e-mail's key, or a wallet's CAIP-10 name in lowercase. */
  subjectKey: text().primaryKey(),
  invitedBy: text().notNull(),
  createdAt: instant().notNull(),
})

/** The dashboard's files by name, kept for open pages of a replaced version. */
export const dashboardFiles = pgTable('dashboard_files', {
  name: text().primaryKey(),
  content: bytes().notNull(),
  /** When a process first started without this file. Null: part of the version that started last. */
  replacedAt: instant(),
})
