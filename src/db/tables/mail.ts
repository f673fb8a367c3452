import { sql } from 'drizzle-orm'
import { boolean, check, index, integer, jsonb, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { accounts } from './accounts.ts'
import { bytes, id, idOf, instant, oneOf } from './columns.ts'

export const languages = ['en', 'sw'] as const

/** A person's notification settings and language. Without a row: all notifications, in English. */
export const notificationSettings = pgTable(
  'notification_settings',
  {
    accountId: idOf(() => accounts.id).primaryKey(),
    approvalsEmail: boolean().notNull(),
    approvalsPush: boolean().notNull(),
    listsEmail: boolean().notNull(),
    balanceEmail: boolean().notNull(),
    policiesEmail: boolean().notNull(),
    language: text({ enum: languages }).notNull(),
    updatedAt: instant().notNull(),
  },
  (t) => [check('notification_settings_language_check', oneOf(t.language, languages))],
)

export const mailStates = ['due', 'sent', 'given_up', 'refused'] as const

/** The queue takes mails from these in turn. A cause that belongs to neither a workspace nor an account takes a turn of its own. */
export const mailTenantSql = 'coalesce(workspace_id, account_id, id)'

/**
 * A mail to a person, written in the transaction of its cause and sent after the commit. A row without an address represents the
 * cause and is later replaced by one row for each address of each recipient.
 */
export const mails = pgTable(
  'mails',
  {
    id: id(),
    /** Null: a cause, or an invitation to an address without an account. */
    accountId: idOf(() => accounts.id),
    workspaceId: uuid(),
    /** Identifies the cause, so that each address gets one mail per cause, however often the cause is found. */
    cause: text().notNull(),
    kind: text().notNull(),
    subjectKind: text(),
    subjectId: uuid(),
    /** The address, and the secret in an invitation's link. Null: a cause, or deleted after the retention period. */
    addressCiphertext: bytes(),
    addressKeyId: text(),
    language: text({ enum: languages }).notNull(),
    /** Values for the text, such as names and amounts. Never a secret or a destination. */
    content: jsonb().notNull(),
    state: text({ enum: mailStates }).notNull(),
    /** Time of the next try. Null once the mail was sent or abandoned. */
    dueAt: instant(),
    tries: integer().notNull().default(0),
    createdAt: instant().notNull(),
    endedAt: instant(),
  },
  (t) => [
    uniqueIndex('mails_cause_key').on(t.cause),
    index('mails_due').on(t.dueAt).where(sql`${t.dueAt} is not null`),
    index('mails_turns').on(sql.raw(mailTenantSql), t.dueAt).where(sql`${t.dueAt} is not null`),
    index('mails_subject').on(t.subjectId).where(sql`${t.subjectId} is not null`),
    index('mails_account').on(t.accountId).where(sql`${t.accountId} is not null`),
    index('mails_ended').on(t.endedAt).where(sql`${t.addressCiphertext} is not null`),
    check('mails_state_check', oneOf(t.state, mailStates)),
    check('mails_due_check', sql`(${t.state} = 'due') = (${t.dueAt} is not null)`),
  ],
)
