import { boolean, check, index, jsonb, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { railNames } from '../../lib/rail-names.ts'
import { accounts } from './accounts.ts'
import { bytes, id, instant, oneOf } from './columns.ts'
import { workspaces } from './workspaces.ts'

/**
 * One destination of a workspace. Several beneficiaries may name it: lists and freezes apply to the destination, so a second name does not
 * avoid them.
 */
export const payees = pgTable(
  'payees',
  {
    id: id(),
    workspaceId: uuid()
      .notNull()
      .references(() => workspaces.id),
    fingerprint: bytes().notNull(),
    fingerprintKeyId: text().notNull(),
    frozenAt: instant(),
    createdAt: instant().notNull(),
  },
  (t) => [uniqueIndex('payees_fingerprint_key').on(t.workspaceId, t.fingerprint)],
)

export const beneficiaries = pgTable(
  'beneficiaries',
  {
    id: id(),
    workspaceId: uuid()
      .notNull()
      .references(() => workspaces.id),
    payeeId: uuid()
      .notNull()
      .references(() => payees.id),
    type: text().notNull(),
    displayName: text().notNull(),
    legalName: text(),
    paymentRail: text({ enum: railNames }).notNull(),
    destinationCiphertext: bytes().notNull(),
    destinationKeyId: text().notNull(),
    destinationMask: text().notNull(),
    accountReferenceRequired: boolean().notNull().default(false),
    metadata: jsonb().$type<Record<string, string>>().notNull().default({}),
    bankCode: text(),
    createdBy: uuid()
      .notNull()
      .references(() => accounts.id),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
    archivedAt: instant(),
  },
  (t) => [
    index('beneficiaries_workspace').on(t.workspaceId, t.id),
    index('beneficiaries_payee').on(t.payeeId),
    check('beneficiaries_rail_check', oneOf(t.paymentRail, railNames)),
  ],
)
