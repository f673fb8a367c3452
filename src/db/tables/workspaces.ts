import { sql } from 'drizzle-orm'
import { bigint, boolean, check, index, pgTable, primaryKey, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { accounts } from './accounts.ts'
import { bytes, emailKeyOf, id, idOf, instant, money, oneOf, originSession } from './columns.ts'

export const roles = ['owner', 'admin', 'approver', 'member', 'viewer', 'auditor'] as const
export const memberStatuses = ['active', 'suspended'] as const
export const workspaceKinds = ['personal', 'team'] as const

export const workspaces = pgTable(
  'workspaces',
  {
    id: id(),
    name: text().notNull(),
    kind: text({ enum: workspaceKinds }).notNull(),
    timeZone: text().notNull(),
    /** A new time zone takes effect at the next local month, so that no limit's period is shortened or counted twice. */
    nextTimeZone: text(),
    nextTimeZoneFrom: instant(),
    owningAccountId: idOf(() => accounts.id).notNull(),
    /** The account that holds the balance. Null: the owning account, as in a personal workspace or a 0.3.0 shared balance. */
    balanceAccountId: uuid(),
    /** When the balance was separated from the owner's. Null: never. */
    separatedAt: instant(),
    originSessionId: originSession(),
    /** The grant through which the workspace was created. */
    originGrantId: uuid(),
    /** When a member froze the workspace. */
    frozenAt: instant(),
    freezeReason: text(),
    /** When an administrator suspended the workspace. Members cannot lift a suspension. */
    suspendedAt: instant(),
    closedAt: instant(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
  },
  (t) => [
    uniqueIndex('workspaces_one_personal').on(t.owningAccountId).where(sql`${t.kind} = 'personal'`),
    index('workspaces_owner').on(t.owningAccountId),
    check('workspaces_kind_check', oneOf(t.kind, workspaceKinds)),
    check('workspaces_next_time_zone_check', sql`(${t.nextTimeZone} is null) = (${t.nextTimeZoneFrom} is null)`),
  ],
)

/** The account that holds the balance of workspace `w`, used for locks, limits, charges, holds and credits. */
export const balanceAccountSql = (w: string): string => `coalesce(${w}.balance_account_id, ${w}.owning_account_id)`

/** All accounts on which the workspace's payments hold money. Payments from before a separation settle on the owner's account. */
export const balanceAccountsSql = (w: string): string =>
  `unnest(case when ${w}.separated_at is null then array[${balanceAccountSql(w)}] else array[${w}.balance_account_id, ${w}.owning_account_id] end)`

/** The account that people know behind a ledger account: the team's owner if it holds a team's balance, or the account itself. */
export const owningAccountSql = (account: string): string =>
  `coalesce((select w.owning_account_id from accounts h join workspaces w on w.id = h.holder_of_workspace_id where h.id = ${account}), ${account})`

export const members = pgTable(
  'members',
  {
    id: id(),
    workspaceId: idOf(() => workspaces.id).notNull(),
    accountId: idOf(() => accounts.id).notNull(),
    role: text({ enum: roles }).notNull(),
    status: text({ enum: memberStatuses }).notNull().default('active'),
    /** When the person, not one of their grants, last acted in this workspace. Their next session starts in the latest one. */
    lastUsedAt: instant(),
    /** Since when the member has continuously had a role that decides approvals. Null: no such role, or not recorded. */
    decidingSince: instant(),
    /** Since when the member has continuously had a role that requests payments. Null: no such role, or not recorded. */
    requestingSince: instant(),
    invitationId: uuid(),
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
    /** The grant through which the invitation was created. */
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
    // Finds whether a new person is invited, if sign-up is by invitation.
    index('invitations_email')
      .on(sql`(${emailKeyOf(t.email)})`)
      .where(sql`${t.acceptedAt} is null and ${t.revokedAt} is null`),
    index('invitations_wallet')
      .on(sql`right(lower(${t.walletAddress}), 42)`)
      .where(sql`${t.acceptedAt} is null and ${t.revokedAt} is null`),
    index('invitations_origin_session').on(t.originSessionId).where(sql`${t.originSessionId} is not null`),
  ],
)

/** Earlier time zones, so that days of past periods never change. Append-only, by a trigger. The latest is in `workspaces`. */
export const workspaceTimeZones = pgTable(
  'workspace_time_zones',
  { workspaceId: idOf(() => workspaces.id).notNull(), fromAt: instant().notNull(), timeZone: text().notNull() },
  (t) => [primaryKey({ columns: [t.workspaceId, t.fromAt] })],
)

export const separationOutcomes = ['separated', 'withdrawn'] as const

/** A request to move part of a shared balance to the workspace. Open until it has an outcome. Only one can be open. */
export const balanceSeparations = pgTable(
  'balance_separations',
  {
    id: id(),
    workspaceId: idOf(() => workspaces.id).notNull(),
    accountId: uuid().notNull(),
    amountMinor: money().notNull(),
    requestedBy: uuid().notNull(),
    /** The message that confirms the separation, byte for byte. */
    message: text().notNull(),
    requestedAt: instant().notNull(),
    effectiveAt: instant().notNull(),
    outcome: text({ enum: separationOutcomes }),
    endedAt: instant(),
    endedBy: uuid(),
  },
  (t) => [
    uniqueIndex('balance_separations_open_key').on(t.workspaceId).where(sql`${t.outcome} is null`),
    index('balance_separations_due').on(t.effectiveAt).where(sql`${t.outcome} is null`),
    check('balance_separations_amount_check', sql`${t.amountMinor} >= 0`),
    check('balance_separations_outcome_check', sql`(${t.outcome} is null) = (${t.endedAt} is null)`),
  ],
)

/** An approver's confirmation, for a workspace whose rule it satisfies. */
export const separationConfirmations = pgTable(
  'separation_confirmations',
  {
    separationId: idOf(() => balanceSeparations.id).notNull(),
    workspaceId: idOf(() => workspaces.id).notNull(),
    accountId: idOf(() => accounts.id).notNull(),
    signed: boolean().notNull(),
    signer: text(),
    signature: text(),
    confirmedAt: instant().notNull(),
  },
  (t) => [primaryKey({ columns: [t.separationId, t.workspaceId, t.accountId], name: 'separation_confirmations_key' })],
)

export const sessionActKinds = ['member', 'role', 'workspace', 'widened', 'loosened'] as const

/** Acts in a session whose rows do not record the session's id. When the session ends, they can then be undone or listed. */
export const sessionActs = pgTable(
  'session_acts',
  {
    id: id(),
    accountId: idOf(() => accounts.id).notNull(),
    sessionId: uuid().notNull(),
    grantId: uuid(),
    workspaceId: uuid().notNull(),
    kind: text({ enum: sessionActKinds }).notNull(),
    /** The affected member, workspace, grant or policy. */
    recordId: uuid().notNull(),
    before: text(),
    after: text(),
    createdAt: instant().notNull(),
  },
  (t) => [index('session_acts_session').on(t.sessionId, t.id), check('session_acts_kind_check', oneOf(t.kind, sessionActKinds))],
)

/** Due times for which a workspace was warned that its balance does not cover its scheduled payments. */
export const balanceShortages = pgTable(
  'balance_shortages',
  {
    workspaceId: idOf(() => workspaces.id).notNull(),
    dueAt: instant().notNull(),
    /** How many hours before the due time the warning was sent: 48 or 4. */
    hours: bigint({ mode: 'number' }).notNull(),
    missingMinor: money().notNull(),
    scheduledMinor: money().notNull(),
    toldAt: instant().notNull(),
  },
  (t) => [primaryKey({ columns: [t.workspaceId, t.dueAt, t.hours] })],
)
