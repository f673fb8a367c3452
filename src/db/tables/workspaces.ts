import { sql } from 'drizzle-orm'
import { check, index, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { accounts } from './accounts.ts'
import { bytes, id, idOf, instant, oneOf, originSession } from './columns.ts'

export const roles = ['owner', 'admin', 'approver', 'member', 'viewer'] as const
export const memberStatuses = ['active', 'suspended'] as const
export const workspaceKinds = ['personal', 'team'] as const

export const workspaces = pgTable(
  'workspaces',
  {
    id: id(),
    name: text().notNull(),
    kind: text({ enum: workspaceKinds }).notNull(),
    timeZone: text().notNull(),
    /** A new time zone takes effect with the next local month, so that no limit's period is shortened or counted twice. */
    nextTimeZone: text(),
    nextTimeZoneFrom: instant(),
    owningAccountId: idOf(() => accounts.id).notNull(),
    /** By its members: the stop button. */
    frozenAt: instant(),
    freezeReason: text(),
    /** By an administrator; members cannot undo it. */
    suspendedAt: instant(),
    closedAt: instant(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
  },
  (t) => [
    uniqueIndex('workspaces_one_personal').on(t.owningAccountId).where(sql`${t.kind} = 'personal'`),
    index('workspaces_owner').on(t.owningAccountId),
    check('workspaces_kind_check', oneOf(t.kind, workspaceKinds)),
  ],
)

export const members = pgTable(
  'members',
  {
    id: id(),
    workspaceId: idOf(() => workspaces.id).notNull(),
    accountId: idOf(() => accounts.id).notNull(),
    role: text({ enum: roles }).notNull(),
    status: text({ enum: memberStatuses }).notNull().default('active'),
    /** When the account itself, not one of its grants, last acted in the workspace: its next session begins in the most recent one. */
    lastUsedAt: instant(),
    /** Since when, without a break, its role may decide approvals. Null: its role may not, or not recorded (then: since it joined). */
    decidingSince: instant(),
    /** The same for asking for payments. */
    requestingSince: instant(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
  },
  (t) => [
    uniqueIndex('members_workspace_account_key').on(t.workspaceId, t.accountId),
    index('members_account').on(t.accountId),
    check('members_role_check', oneOf(t.role, roles)),
    check('members_status_check', oneOf(t.status, memberStatuses)),
  ],
)

export const invitations = pgTable(
  'invitations',
  {
    id: id(),
    workspaceId: idOf(() => workspaces.id).notNull(),
    role: text({ enum: roles }).notNull(),
    email: text(),
    walletAddress: text(),
    tokenHash: bytes().notNull(),
    invitedBy: idOf(() => accounts.id).notNull(),
    acceptedBy: idOf(() => accounts.id),
    originSessionId: originSession(),
    /** The grant through which it was made. */
    originGrantId: uuid(),
    createdAt: instant().notNull(),
    expiresAt: instant().notNull(),
    acceptedAt: instant(),
    revokedAt: instant(),
  },
  (t) => [
    uniqueIndex('invitations_token_hash_key').on(t.tokenHash),
    index('invitations_workspace').on(t.workspaceId, t.id),
    index('invitations_invited_by').on(t.invitedBy),
    index('invitations_origin_session').on(t.originSessionId).where(sql`${t.originSessionId} is not null`),
  ],
)
