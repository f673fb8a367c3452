import { and, eq, isNotNull, or, sql } from 'drizzle-orm'
import { type Principal, requireActiveAccount, requireFreshProof } from '../../auth/principal.ts'
import type { Config } from '../../config.ts'
import { lockAccount, lockFurtherAccounts, recordLocked } from '../../db/account-lock.ts'
import { first, type Tx } from '../../db/client.ts'
import { prepare } from '../../db/prepare.ts'
import { insertRow, updateRow } from '../../db/prepare-write.ts'
import { grants } from '../../db/tables/grants.ts'
import { installation } from '../../db/tables/installation.ts'
import { dashboardTokens, sessions } from '../../db/tables/sessions.ts'
import { members, workspaces } from '../../db/tables/workspaces.ts'
import { type Actor, audit } from '../../events/audit.ts'
import { found, notFound, Refusal } from '../../lib/errors.ts'
import { formatId, newId, type Uuid } from '../../lib/ids.ts'
import { effectiveTimeZone, zoneChangesAt } from '../../policy/calendar.ts'
import { requireBelowBound } from '../bounds.ts'
import { type Operator, refuseOwnAccount } from '../operators.ts'
import type { Parts } from '../parts.ts'
import type { OpenHolder } from '../ports.ts'
import {
  lockMembership,
  publishMemberEvent,
  publishWorkspaceEvent,
  publishWorkspaceStatusEvent,
  requireOpen,
} from './membership.ts'
import {
  activeOwners,
  findMembership,
  findWorkspace,
  lockWorkspace,
  lockWorkspaceShared,
  type WorkspaceMembership,
  type WorkspaceRecord,
} from './queries.ts'
import type { CreateWorkspace, UpdateWorkspace } from './schema.ts'

const defaultTimeZone = 'Africa/Nairobi'

/** Does not wait for its queries. */
const insertWorkspace = (
  tx: Tx,
  id: Uuid,
  ownerId: Uuid,
  workspace: Pick<typeof workspaces.$inferSelect, 'name' | 'kind' | 'timeZone' | 'balanceAccountId'> &
    Partial<Pick<Principal, 'originSessionId' | 'originGrantId'>>,
): void => {
  const { at } = tx
  const times = { createdAt: at, updatedAt: at }
  insertRow(tx, workspaces, { id, ...workspace, owningAccountId: ownerId, ...times })
  const owner = { accountId: ownerId, role: 'owner', decidingSince: at, requestingSince: at } as const
  insertRow(tx, members, { id: newId(), workspaceId: id, ...owner, ...times })
}

export const createPersonalWorkspace = (tx: Tx, accountId: Uuid): Uuid => {
  const workspace = { name: 'Personal', kind: 'personal', timeZone: defaultTimeZone, balanceAccountId: null } as const
  const id = newId()
  insertWorkspace(tx, id, accountId, workspace)
  return id
}

/** Setting the shown zone again changes nothing, so past days keep theirs. Setting the zone in effect cancels a change. */
const plannedZone = (workspace: WorkspaceRecord, to: string, at: Date) => {
  if ((workspace.nextTimeZone ?? workspace.timeZone) === to) return {}
  const timeZone = effectiveTimeZone(workspace, at)
  if (timeZone === to) return { nextTimeZone: null, nextTimeZoneFrom: null }
  return { timeZone, nextTimeZone: to, nextTimeZoneFrom: zoneChangesAt(at, timeZone, to) }
}

const grantWithPeriodLimit = prepare('workspaces.limited_lineage', { lineage: 'uuid[]' }, (orm, param) =>
  orm
    .select({ id: grants.id })
    .from(grants)
    .where(
      and(sql`${grants.id} = any(${param.lineage})`, or(isNotNull(grants.dailyLimitMinor), isNotNull(grants.monthlyLimitMinor))),
    )
    .limit(1),
)

/** Refuses keys with daily or monthly limits: by changing the zone, such a key could begin a new day or month. */
const requireUnlimitedDays = async (tx: Tx, { grant }: Principal): Promise<void> => {
  if (!grant || !(await first(tx, grantWithPeriodLimit, { lineage: grant.lineage }))) return
  throw new Refusal('forbidden', {
    message: 'A key with daily or monthly limits cannot change the time zone that they count in.',
  })
}

export const updateWorkspace = async (tx: Tx, config: Config, principal: Principal, input: UpdateWorkspace) => {
  const { workspace, member } = await lockMembership(tx, principal, 'workspace.manage')
  requireOpen(workspace)
  if (input.time_zone !== undefined) await requireUnlimitedDays(tx, principal)
  const { at } = tx
  const zone = input.time_zone === undefined ? {} : plannedZone(workspace, input.time_zone, at)
  if ((input.name ?? workspace.name) === workspace.name && !('nextTimeZoneFrom' in zone)) return { workspace, member }
  // The zone determines when limits count anew.
  if ('nextTimeZoneFrom' in zone) requireFreshProof(principal, at)
  const changed = updateRow(tx, workspaces, workspace, { name: input.name ?? workspace.name, ...zone, updatedAt: at })
  const { name, timeZone, nextTimeZone } = workspace
  audit(tx, principal, 'workspace.update', {
    subject: workspace.id,
    before: { name, time_zone: timeZone, next_time_zone: nextTimeZone },
    after: { ...input, ...('nextTimeZoneFrom' in zone && { time_zone_from: zone.nextTimeZoneFrom ?? at }) },
  })
  return { workspace: await publishWorkspaceEvent(tx, config, 'workspace.updated', changed), member }
}

/** The caller may freeze the workspace, has locked it, and has found it unfrozen. */
export const freezeLocked = (tx: Tx, config: Config, actor: Actor, workspace: WorkspaceRecord, reason: string | undefined) => {
  const { id } = workspace
  updateRow(tx, workspaces, workspace, { frozenAt: tx.at, freezeReason: reason ?? null, updatedAt: tx.at })
  audit(tx, actor, 'workspace.freeze', { workspaceId: id, subject: id, after: { reason } })
  return publishWorkspaceStatusEvent(tx, config, workspace)
}

export const freezeWorkspace = async (tx: Tx, config: Config, principal: Principal, reason: string | undefined) => {
  const { workspace, member } = await lockMembership(tx, principal, 'workspace.manage')
  if (workspace.frozenAt) return { workspace, member }
  return { workspace: await freezeLocked(tx, config, principal, workspace, reason), member }
}

export const unfreezeWorkspace = async (tx: Tx, config: Config, principal: Principal): Promise<WorkspaceMembership> => {
  requireActiveAccount(principal)
  const { workspace, member } = await lockMembership(tx, principal, 'workspace.manage')
  if (workspace.suspendedAt) throw new Refusal('workspace_frozen', { message: 'An administrator suspended this workspace.' })
  if (!workspace.frozenAt) return { workspace, member }
  updateRow(tx, workspaces, workspace, { frozenAt: null, freezeReason: null, updatedAt: tx.at })
  audit(tx, principal, 'workspace.unfreeze', { subject: workspace.id, before: { reason: workspace.freezeReason } })
  return { workspace: await publishWorkspaceStatusEvent(tx, config, workspace), member }
}

/** Runs under the workspace's lock, so that a member who is being removed cannot switch back to it. */
export const switchWorkspace = async (tx: Tx, principal: Principal, to: Uuid): Promise<WorkspaceMembership> => {
  // The second query starts only after the first has its lock.
  const [workspace, member] = await Promise.all([
    first(tx, lockWorkspaceShared, { id: to }),
    findMembership(tx, to, principal.accountId),
  ])
  if (!workspace || !member) throw notFound('workspace_id')
  if (member.status === 'suspended') throw new Refusal('membership_suspended')
  const { kind, id } = principal.credential
  if (kind === 'dashboard') updateRow(tx, dashboardTokens, { id }, { workspaceId: to })
  else updateRow(tx, sessions, { id }, { workspaceId: to })
  updateRow(tx, members, member, { lastUsedAt: tx.at })
  audit(tx, principal, 'workspace.switch', { workspaceId: to, subject: id })
  return { workspace, member }
}

const lockOwnedTeams = prepare('workspaces.lock_owned', { accountId: 'uuid' }, (orm, param) =>
  orm
    .select({ id: workspaces.id })
    .from(workspaces)
    .innerJoin(members, eq(members.workspaceId, workspaces.id))
    .where(
      and(
        sql`${workspaces.kind} = 'team' and ${workspaces.closedAt} is null`,
        sql`${members.accountId} = ${param.accountId} and ${members.role} = 'owner' and ${members.status} = 'active'`,
      ),
    )
    .orderBy(workspaces.id)
    .for('no key update', { of: workspaces }),
)

/** A team needs an owner: it has its own money, and somebody must be able to lift a freeze. */
export const requireOtherOwners = async (tx: Tx, accountId: Uuid): Promise<void> => {
  for (const { id } of await tx.run(lockOwnedTeams, { accountId })) {
    const owners = await tx.run(activeOwners, { workspaceId: id })
    if (owners.every((owner) => owner.accountId === accountId))
      throw new Refusal('last_owner', {
        message: `This account is the last active owner of ${formatId('workspace', id)}: make another member its owner first.`,
      })
  }
}

const setSuspended =
  (suspended: boolean) =>
  async (tx: Tx, deps: Pick<Parts, 'config'>, operator: Operator, id: Uuid, reason?: string): Promise<WorkspaceRecord> => {
    const unlocked = found(await findWorkspace(tx, id))
    await lockFurtherAccounts(tx, unlocked.balanceAccountId)
    const workspace = found(await first(tx, lockWorkspace, { id }))
    if ((workspace.suspendedAt !== null) === suspended) return workspace
    if (!suspended) await refuseOwnAccount(tx, operator, workspace.balanceAccountId)
    updateRow(tx, workspaces, { id }, { suspendedAt: suspended ? tx.at : null, updatedAt: tx.at })
    audit(tx, operator, suspended ? 'admin.workspace_suspend' : 'admin.workspace_reinstate', {
      workspaceId: id,
      subject: id,
      after: { reason },
    })
    return publishWorkspaceStatusEvent(tx, deps.config, workspace)
  }

/** Suspends a workspace. Its members cannot lift the suspension. */
export const suspendWorkspace = setSuspended(true)

/** Lifts a suspension. A freeze by the workspace's members remains. */
export const reinstateWorkspace = setSuspended(false)

const readUpgrade = prepare('installation.upgrade', {}, (orm) =>
  orm.select({ finishedAt: installation.upgradeFinishedAt }).from(installation),
)

/** A version before 0.4.0 would pay a team's payments from its owner's balance, so none of its processes may run any more. */
export const requireFinishedUpgrade = async (tx: Tx): Promise<void> => {
  const installed = await first(tx, readUpgrade, {})
  if (installed?.finishedAt !== null) return
  throw new Refusal('unavailable', {
    message: 'This service is being upgraded: try again when the operator has finished the upgrade.',
    details: { reason: 'upgrade_running' },
    headers: { 'retry-after': '60' },
  })
}

/** Makes the workspace draw on `holder` instead of its owner's balance. */
export const giveOwnBalance = (tx: Tx, id: Uuid, holder: Uuid): void =>
  void updateRow(tx, workspaces, { id }, { balanceAccountId: holder, separatedAt: tx.at, updatedAt: tx.at })

export const createWorkspace = async (
  tx: Tx,
  config: Config,
  openHolder: OpenHolder,
  principal: Principal,
  input: CreateWorkspace,
) => {
  const { accountId, originSessionId, originGrantId } = principal
  await lockAccount(tx, accountId)
  await requireBelowBound(tx, 'workspaces', accountId)
  await requireFinishedUpgrade(tx)
  const timeZone = input.time_zone ?? defaultTimeZone
  const id = newId()
  const balanceAccountId = openHolder(tx, config, id)
  recordLocked(tx, [balanceAccountId])
  const origin = { originSessionId, originGrantId }
  insertWorkspace(tx, id, accountId, { name: input.name, kind: 'team', timeZone, balanceAccountId, ...origin })
  const [workspace, member] = await Promise.all([findWorkspace(tx, id), findMembership(tx, id, accountId)])
  if (!workspace || !member) throw new Error('a new workspace has no owner')
  await publishWorkspaceEvent(tx, config, 'workspace.updated', workspace)
  await publishMemberEvent(tx, 'member.joined', member)
  const after = { name: input.name, time_zone: timeZone, owning_account: formatId('account', accountId) }
  audit(tx, principal, 'workspace.create', { workspaceId: id, subject: id, after })
  return { workspace, member }
}
