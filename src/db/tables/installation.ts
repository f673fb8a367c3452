import { sql } from 'drizzle-orm'
import { boolean, check, integer, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { bytes, instant } from './columns.ts'

/** The installation's identity: one row, created at the first start. A copy, standby or restored backup has the same one. */
export const installation = pgTable(
  'installation',
  {
    one: boolean().primaryKey().default(true),
    id: uuid().notNull(),
    currency: text().notNull(),
    createdAt: instant().notNull(),
    /** When an operator confirmed that no process older than version 0.4.0 is running. */
    upgradeFinishedAt: instant(),
  },
  (t) => [check('installation_one_check', sql`${t.one}`)],
)

/** The keys under which data may be stored. `rotate-keys` removes keys that no data uses. */
export const installationKeys = pgTable(
  'installation_keys',
  {
    ring: text().notNull(),
    keyId: text().notNull(),
    /** A check value that only this key can produce, to detect a different key under the same name. */
    checkValue: bytes().notNull(),
    createdAt: instant().notNull(),
  },
  (t) => [primaryKey({ columns: [t.ring, t.keyId] })],
)

/** The next run of each sweep, shared by all processes. */
export const schedules = pgTable('schedules', {
  name: text().primaryKey(),
  everySeconds: integer().notNull(),
  nextRunAt: instant().notNull(),
})

/** E-mail addresses and wallets that may sign up if sign-up is by invitation. Set by `npm run admin -- invite`. */
export const operatorInvitations = pgTable('operator_invitations', {
  /** The key of a verified e-mail address, or a wallet's CAIP-10 name in lowercase. */
  subjectKey: text().primaryKey(),
  invitedBy: text().notNull(),
  createdAt: instant().notNull(),
})

/** The dashboard's files by name, retained for open pages of a replaced version. */
export const dashboardFiles = pgTable('dashboard_files', {
  name: text().primaryKey(),
  content: bytes().notNull(),
  /** When a process first started without this file. Null: part of the most recently started version. */
  replacedAt: instant(),
})
