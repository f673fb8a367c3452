import { isDeepStrictEqual } from 'node:util'
import { effectivePermissions, type Permission, permissions, undelegable } from '../../auth/permissions.ts'
import { type Principal, requireActiveAccount, requireFreshProof } from '../../auth/principal.ts'
import { lockFurtherAccounts } from '../../db/account-lock.ts'
import { statement, type Tx } from '../../db/client.ts'
import { grantLife } from '../../db/credential-life.ts'
import { insertRow, updateRow, updateRows } from '../../db/prepare-write.ts'
import { grants } from '../../db/tables/grants.ts'
import { appendEvents } from '../../events/append.ts'
import { audit } from '../../events/audit.ts'
import { isoTimeOrNull } from '../../lib/clock.ts'
import { conflict, found, invalidFields, Refusal } from '../../lib/errors.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import { controlContradictions } from '../../policy/limits.ts'
import { everyPayee, totalStart } from '../../policy/scope-sql.ts'
import { requireAllowable } from '../beneficiaries/queries.ts'
import { requireBelowBound } from '../bounds.ts'
import { recordSessionAct } from '../session-acts.ts'
import { lockMembership, requireMembership } from '../workspaces/membership.ts'
import { withState } from '../workspaces/present.ts'
import { findWorkspace, type MemberRecord } from '../workspaces/queries.ts'
import {
  type Controls,
  type ControlsChange,
  changeControls,
  isWider,
  refuseLimitedAccountManager,
  widens,
} from './control-rules.ts'
import { presentControls } from './present.ts'
import {
  derivesFrom,
  type GrantRecord,
  lastFreezes,
  lockActive,
  lockGrantOfWorkspace,
  lockGrants,
  lockShared,
} from './queries.ts'
import type { Grant } from './schema.ts'
import { viewGrant, viewGrantsById } from './view-service.ts'

export type ChangedGrant = { grant: GrantRecord; view: Grant }

type NewGrant = {
  kind: GrantRecord['kind']
  label: string
  permissions: readonly Permission[]
  controls: Controls
  expiresAt: Date | null
  /** Default: the caller's current workspace. Only a caller without a grant may name another one. */
  workspaceId?: Uuid
}

/** Permissions in `undelegable` can be granted only by a person, and never to an OAuth client. */
const checkPermissions = (principal: Principal, { role }: MemberRecord, grant: NewGrant): void => {
  const ofRole = [...effectivePermissions(role, null)]
  const held = new Set(principal.grant ? ofRole.filter((permission) => principal.permissions.has(permission)) : ofRole)
  const delegates = principal.grant !== null || grant.kind === 'oauth'
  const refused = grant.permissions.find((permission) => !held.has(permission) || (delegates && undelegable.has(permission)))
  if (refused === undefined) return
  throw new Refusal('forbidden', {
    message: held.has(refused)
      ? `The permission ${refused} cannot be handed on here.`
      : `You cannot hand on ${refused}, which you do not have.`,
    details: { required_permission: refused },
  })
}

/** The parent is locked, so that a revocation precedes the child or includes it. A later end than the parent's is refused. */
const expiryWithinParent = (principal: Principal, chain: readonly GrantRecord[], expiresAtRequested: Date | null, at: Date) => {
  if (expiresAtRequested && expiresAtRequested <= at)
    throw invalidFields({ path: 'expires_at', message: 'must be in the future' })
  if (!principal.grant) return expiresAtRequested
  const parent = chain.at(-1)
  if (parent?.id !== principal.grant.id) throw new Refusal('invalid_token')
  const life = grantLife(parent, at)
  if (life === 'revoked') throw new Refusal(parent.kind === 'api_key' ? 'api_key_revoked' : 'invalid_token')
  if (life === 'expired') throw new Refusal(parent.kind === 'api_key' ? 'api_key_expired' : 'token_expired')
  if (expiresAtRequested && parent.expiresAt && expiresAtRequested > parent.expiresAt)
    throw invalidFields({
      path: 'expires_at',
      message: `must not be after the end of the grant that you act with, ${parent.expiresAt.toISOString()}`,
    })
  return expiresAtRequested ?? parent.expiresAt
}

/** Maximum depth of a lineage. Each payment reads every grant of its lineage. */
const maxDepth = 8

const requireRoomForGrant = async (tx: Tx, { accountId, kind, ancestorIds: [root] }: GrantRecord): Promise<void> => {
  if (root !== undefined) await requireBelowBound(tx, 'belowRoot', root)
  else if (kind === 'api_key') await requireBelowBound(tx, 'rootKeys', accountId)
}

/** For a key that remains active beside its successor. */
export const requireRoomForOverlap = async (tx: Tx, grant: GrantRecord): Promise<void> => {
  await requireRoomForGrant(tx, grant)
  if (grant.parentGrantId === null) await requireBelowBound(tx, 'keysOfGrant', grant.id)
}

/** While a workspace is frozen, its grants can only be frozen, unfrozen and ended, even from a session in another workspace. */
export const requireOpenWorkspace = async (tx: Tx, principal: Principal, workspaceId: Uuid): Promise<void> => {
  requireActiveAccount(principal)
  const { workspace } = principal
  const { frozen, closed } = workspaceId === workspace.id ? workspace : withState(found(await findWorkspace(tx, workspaceId)))
  if (frozen || closed) throw new Refusal('workspace_frozen')
}

export const createGrant = async (tx: Tx, principal: Principal, input: NewGrant): Promise<ChangedGrant> => {
  const { at } = tx
  const workspaceId = input.workspaceId ?? principal.workspace.id
  const { kind, label, controls } = input
  const lineage = principal.grant?.lineage ?? []
  refuseLimitedAccountManager(input.permissions, controls)
  if (principal.grant && workspaceId !== principal.workspace.id)
    throw new Refusal('forbidden', { message: "An API key or an agent's token is bound to its own workspace." })
  const granted = permissions.filter((permission) => input.permissions.includes(permission))
  const draft: GrantRecord = {
    id: newId(),
    accountId: principal.accountId,
    workspaceId,
    kind,
    label,
    permissions: granted,
    ...controls,
    parentGrantId: lineage.at(-1) ?? null,
    ancestorIds: [...lineage],
    derivedFromGrantId: principal.grant ? null : principal.originGrantId,
    originSessionId: principal.originSessionId,
    totalSeededAt: at,
    frozenAt: null,
    createdAt: at,
    lastUsedAt: null,
    expiresAt: null,
    revokedAt: null,
  }
  const [member, , chain, viewed] = await Promise.all([
    requireMembership(tx, principal, workspaceId),
    requireOpenWorkspace(tx, principal, workspaceId),
    lockShared(tx, lineage),
    viewGrant(tx, at, draft),
    requireAllowable(tx, workspaceId, controls.beneficiaryIds, 'spending_controls.beneficiary_ids'),
    requireRoomForGrant(tx, draft),
  ])
  checkPermissions(principal, member, input)
  const expiresAt = expiryWithinParent(principal, chain, input.expiresAt, at)
  if (lineage.length + 1 > maxDepth)
    throw conflict(`Keys are made at most ${maxDepth} levels deep: this key is at the last one.`, 'limit_reached')
  const grant = { ...draft, expiresAt }
  insertRow(tx, grants, grant)
  const view = { ...viewed, expires_at: isoTimeOrNull(expiresAt) }
  await appendEvents(tx, [{ type: 'grant.created', accountId: grant.accountId, workspaceId: null, data: view }])
  audit(tx, principal, 'grant.create', {
    workspaceId,
    subject: grant.id,
    after: {
      kind,
      label,
      permissions: granted,
      spending_controls: presentControls(controls),
      parent_grant_id: view.parent_grant_id,
      expires_at: expiresAt,
    },
  })
  return { grant, view }
}

type GrantChange = {
  controls?: ControlsChange | undefined
  frozen?: boolean | undefined
  label?: string | undefined
}

const notDerived = (): Refusal =>
  new Refusal('forbidden', { message: 'A credential can do this only to grants that derive from its own.' })

/** A key, or a session of a sign-in method that a key linked, widens, unfreezes and rotates only what derives from that key. */
export const requireDescendant = async (tx: Tx, { originGrantId }: Principal, grant: GrantRecord): Promise<void> => {
  if (originGrantId !== null && !(await derivesFrom(tx, grant, originGrantId))) throw notDerived()
}

/** Checks the merged controls like those of a new grant, because an unchanged limit may contradict a new one. */
const mergeControls = (grant: GrantRecord, change: ControlsChange): Controls => {
  const controls = changeControls(grant, change)
  const problems = controlContradictions(controls, 'spending_controls.')
  if (problems.length > 0) throw invalidFields(...problems)
  refuseLimitedAccountManager(grant.permissions, controls)
  return controls
}

const auditView = (grant: GrantRecord) => ({
  label: grant.label,
  spending_controls: presentControls(grant),
  frozen: grant.frozenAt !== null,
})

/** Returns the grants that another account froze last, according to the audit log. The caller has locked the grants. */
const managerFrozenIds = async (tx: Tx, frozen: readonly GrantRecord[]): Promise<ReadonlySet<Uuid>> => {
  if (frozen.length === 0) return new Set()
  const freezes = new Map((await tx.run(lastFreezes, { ids: frozen.map(({ id }) => id) })).map(({ id, by }) => [id, by]))
  return new Set(frozen.flatMap(({ id, accountId }) => (freezes.has(id) && freezes.get(id) !== accountId ? [id] : [])))
}

const requireOwnFreeze = async (tx: Tx, grant: GrantRecord): Promise<void> => {
  if ((await managerFrozenIds(tx, [grant])).has(grant.id))
    throw new Refusal('forbidden', {
      message:
        'This grant was frozen by a person who manages its workspace: an owner or administrator of the workspace unfreezes it, with PATCH /v1/workspaces/current/grants/{id}.',
    })
}

/** The caller may see the grant and has locked it. Payments lock the lineage, so the change applies to the next payment. */
export const changeVisibleGrant = async (tx: Tx, principal: Principal, grant: GrantRecord, change: GrantChange) => {
  const { controls, frozen, label } = change
  if ((controls !== undefined || frozen !== undefined) && principal.originGrantId === grant.id) throw notDerived()
  if (controls !== undefined || label !== undefined) await requireOpenWorkspace(tx, principal, grant.workspaceId)
  if (frozen === false && grant.frozenAt) await requireOwnFreeze(tx, grant)
  return changeGrant(tx, principal, grant, change)
}

/** Runs under the lock of the account that pays, so that no payment is counted at the same time. */
const seedTotal = statement('grants.seed_total')`
  insert into usage_counters (subject, subject_id, account_id, period, period_start, used_minor, payments)
   select 'grant', $1::uuid, t.account_id, 'total', date '${totalStart}', sum(t.used_minor), sum(t.payments)
   from grants below join spending_totals t on t.grant_id = below.id
   where below.workspace_id = $2 and (below.id = $1 or below.ancestor_ids @> array[$1::uuid])
     and t.workspace_id = $2 and t.payee_id = '${everyPayee}' group by t.account_id
   on conflict (subject_id, period, period_start, account_id) do update
     set used_minor = excluded.used_minor, payments = excluded.payments`

/** The caller has locked the grant and may change it. */
export const changeGrant = async (
  tx: Tx,
  principal: Principal,
  before: GrantRecord,
  { controls, frozen, label }: GrantChange,
): Promise<ChangedGrant> => {
  const grantId = before.id
  // A workspace manager's freeze is recorded even if the owner froze the grant, because the owner could lift that freeze.
  const isManagerFreeze = frozen === true && principal.accountId !== before.accountId
  const { at } = tx
  const keepsFreeze = frozen === undefined || frozen === (before.frozenAt !== null)
  const changesNothing = controls === undefined && label === undefined && keepsFreeze && !isManagerFreeze
  if (before.revokedAt && !changesNothing) throw conflict('This grant has been revoked.', 'revoked')
  const frozenAt = frozen === undefined ? before.frozenAt : frozen ? (before.frozenAt ?? at) : null
  const merged = controls && mergeControls(before, controls)
  // A grant from before totals were counted gets its total when a total limit is set.
  const seeds = before.totalSeededAt === null && merged !== undefined && merged.totalLimitMinor !== null
  const totalSeededAt = seeds ? at : before.totalSeededAt
  const changes = { ...merged, label: label ?? before.label, frozenAt, totalSeededAt }
  const after = { ...before, ...changes }
  if (!isManagerFreeze && isDeepStrictEqual(auditView(after), auditView(before)))
    return { grant: before, view: await viewGrant(tx, at, before) }
  if (widens(before, after) || (before.frozenAt && !frozenAt)) {
    await requireDescendant(tx, principal, before)
    requireFreshProof(principal, at)
    if (principal.originGrantId !== null && isWider('totalLimitMinor', before, after))
      throw new Refusal('forbidden', {
        message: 'Only a person, with a sign-in method of their own, can raise total_limit_minor.',
      })
    recordSessionAct(tx, principal, { kind: 'widened', workspaceId: before.workspaceId, recordId: grantId })
  }
  const [view] = await Promise.all([
    viewGrant(tx, at, after),
    controls?.beneficiaryIds &&
      requireAllowable(tx, before.workspaceId, controls.beneficiaryIds, 'spending_controls.beneficiary_ids'),
  ])
  if (seeds) await lockFurtherAccounts(tx, found(await findWorkspace(tx, before.workspaceId)).balanceAccountId)
  updateRow(tx, grants, before, changes)
  if (seeds) tx.defer(tx.query(seedTotal, [grantId, before.workspaceId]))
  await appendEvents(tx, [{ type: 'grant.updated', accountId: after.accountId, workspaceId: null, data: view }])
  audit(tx, principal, 'grant.update', {
    workspaceId: after.workspaceId,
    subject: grantId,
    before: auditView(before),
    after: auditView(after),
  })
  return { grant: after, view }
}

/** The caller has locked the grants and may freeze them. */
const freezeLockedGrants = async (tx: Tx, principal: Principal, before: readonly GrantRecord[]): Promise<void> => {
  const after = before.map((grant) => ({ ...grant, frozenAt: grant.frozenAt ?? tx.at }))
  await updateRows(tx, grants, ['frozenAt'], after)
  const views = await viewGrantsById(tx, tx.at, after)
  await appendEvents(
    tx,
    after.flatMap(({ id, accountId }) => {
      const data = views.get(id)
      return data ? [{ type: 'grant.updated' as const, accountId, workspaceId: null, data }] : []
    }),
  )
  for (const grant of before)
    audit(tx, principal, 'grant.update', {
      workspaceId: grant.workspaceId,
      subject: grant.id,
      before: auditView(grant),
      after: { ...auditView(grant), frozen: true },
    })
}

/** Skips grants that are inactive or already frozen. The caller has checked the permission. */
export const freezeGrants = async (tx: Tx, principal: Principal, ids: readonly Uuid[]): Promise<void> => {
  const locked = await lockGrants(tx, ids)
  const toFreeze = locked.filter((grant) => grantLife(grant, tx.at) === 'active' && grant.frozenAt === null)
  await freezeLockedGrants(tx, principal, toFreeze)
}

/** A manager of a workspace may freeze and revoke every grant in it, including those of other accounts. */
export const lockGrantToManage = async (tx: Tx, principal: Principal, id: Uuid): Promise<GrantRecord> => {
  const { workspace } = await lockMembership(tx, principal, 'workspace.manage')
  return found(await lockGrantOfWorkspace(tx, { id, workspaceId: workspace.id }))
}

/** Includes grants that a member has frozen, because the member could unfreeze them. */
export const freezeWorkspaceGrants = async (tx: Tx, principal: Principal): Promise<number> => {
  const { workspace } = await lockMembership(tx, principal, 'workspace.manage')
  const active = await tx.run(lockActive, { workspaceId: workspace.id, now: tx.at })
  const frozenOfOthers = active.filter(({ frozenAt, accountId }) => frozenAt !== null && accountId !== principal.accountId)
  const managerFrozen = await managerFrozenIds(tx, frozenOfOthers)
  const toFreeze = active.filter(
    (grant) => grant.frozenAt === null || (frozenOfOthers.includes(grant) && !managerFrozen.has(grant.id)),
  )
  await freezeLockedGrants(tx, principal, toFreeze)
  return toFreeze.length
}
