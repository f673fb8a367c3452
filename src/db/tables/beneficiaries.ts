import { sql } from 'drizzle-orm'
import { boolean, check, foreignKey, index, integer, jsonb, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { hasAccounts, railNames } from '../../lib/rail-names.ts'
import { nameSources, verificationStatuses } from '../../lib/verification.ts'
import { creatorColumns } from './accounts.ts'
import { bytes, id, idOf, instant, oneOf } from './columns.ts'
import { workspaces } from './workspaces.ts'

/**
 * One destination of a workspace, behind one or more beneficiaries. Beneficiary lists and freezes apply to the payee, so adding a
 * second beneficiary does not bypass them. An account at a paybill is a payee of its own, below the payee of the paybill.
 */
export const payees = pgTable(
  'payees',
  {
    id: id(),
    workspaceId: idOf(() => workspaces.id).notNull(),
    fingerprint: bytes().notNull(),
    fingerprintKeyId: text().notNull(),
    /** For an account at a paybill: the payee of the paybill itself. */
    paybillId: uuid(),
    /** The account number at the paybill, in the form of `referenceKey`. */
    referenceKey: text(),
    frozenAt: instant(),
    createdAt: instant().notNull(),
  },
  (t) => [
    foreignKey({ columns: [t.paybillId], foreignColumns: [t.id], name: 'payees_paybill_fk' }),
    uniqueIndex('payees_fingerprint_key').on(t.workspaceId, t.fingerprint),
    uniqueIndex('payees_account_key').on(t.paybillId, t.referenceKey).where(sql`${t.paybillId} is not null`),
    check('payees_account_check', sql`num_nonnulls(${t.paybillId}, ${t.referenceKey}) in (0, 2)`),
  ],
)

export const beneficiaries = pgTable(
  'beneficiaries',
  {
    id: id(),
    workspaceId: idOf(() => workspaces.id).notNull(),
    payeeId: idOf(() => payees.id).notNull(),
    type: text().notNull(),
    displayName: text().notNull(),
    legalName: text(),
    paymentRail: text({ enum: railNames }).notNull(),
    destinationCiphertext: bytes().notNull(),
    destinationKeyId: text().notNull(),
    destinationMask: text().notNull(),
    accountReferenceRequired: boolean().notNull().default(false),
    /** For a paybill only: the account number, part of the destination and used by every payment to the beneficiary. */
    accountReference: text(),
    metadata: jsonb().$type<Record<string, string>>().notNull().default({}),
    bankCode: text(),
    ...creatorColumns(),
    /** When the name was last changed. Null once a person has confirmed it. */
    changedAt: instant(),
    /** Result of comparing the name that the rail reported with the beneficiary's name. */
    verification: text({ enum: verificationStatuses }).notNull().default('unverified'),
    /** The reported name as displayed: shortened until a payment to the account has succeeded. */
    reportedName: text(),
    nameSource: text({ enum: nameSources }),
    nameCheckedAt: instant(),
    /** When the next name check is due. The row serves as its own queue entry. */
    nameCheckDueAt: instant(),
    /** Number of consecutive name checks that the rail has not answered. */
    nameChecks: integer().notNull().default(0),
    /** A name from a payment's result that has not been compared yet. */
    resultName: text(),
    /** Another payee with a similar name. */
    similarToId: uuid(),
    /** When a person last confirmed the beneficiary. Null if a key or an agent has created or renamed it since. */
    confirmedAt: instant(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
    archivedAt: instant(),
  },
  (t) => [
    index('beneficiaries_workspace').on(t.workspaceId, t.id),
    index('beneficiaries_verification').on(t.workspaceId, t.verification, t.id),
    index('beneficiaries_payee').on(t.payeeId),
    index('beneficiaries_made_by').on(t.createdByGrantId, t.id).where(sql`${t.createdByGrantId} is not null`),
    index('beneficiaries_changed_by').on(t.changedByGrantId, t.id).where(sql`${t.changedByGrantId} is not null`),
    index('beneficiaries_proposed').on(t.workspaceId, t.id).where(sql`${t.confirmedAt} is null`),
    index('beneficiaries_name_checks').on(t.nameCheckDueAt).where(sql`${t.nameCheckDueAt} is not null`),
    index('beneficiaries_name_turns').on(t.workspaceId, t.nameCheckDueAt).where(sql`${t.nameCheckDueAt} is not null`),
    index('beneficiaries_other_name')
      .on(t.workspaceId, t.id)
      .where(sql`${t.verification} = 'no_match' and ${t.archivedAt} is null`),
    check('beneficiaries_verification_check', oneOf(t.verification, verificationStatuses)),
    check('beneficiaries_rail_check', oneOf(t.paymentRail, railNames)),
    check(
      'beneficiaries_account_reference_check',
      sql`${t.accountReference} is null or ${oneOf(t.paymentRail, railNames.filter(hasAccounts))}`,
    ),
  ],
)

/** All name checks of payees. The beneficiary's own row has the latest result. */
export const beneficiaryVerifications = pgTable(
  'beneficiary_verifications',
  {
    id: id(),
    workspaceId: uuid().notNull(),
    /** The owning account, for the limit on name checks per day. */
    accountId: uuid().notNull(),
    beneficiaryId: idOf(() => beneficiaries.id).notNull(),
    /** `unverified`: the rail did not answer, or a payment reported a name that has not been compared yet. */
    status: text({ enum: verificationStatuses }).notNull(),
    /** The name as displayed: see `beneficiaries`. */
    name: text(),
    source: text({ enum: nameSources }),
    /** The payment whose result reported the name. Null for a lookup. */
    paymentId: uuid(),
    checkedAt: instant().notNull(),
  },
  (t) => [
    index('beneficiary_verifications_beneficiary').on(t.beneficiaryId, t.id),
    index('beneficiary_verifications_account').on(t.accountId, t.checkedAt),
    check('beneficiary_verifications_status_check', oneOf(t.status, verificationStatuses)),
  ],
)
