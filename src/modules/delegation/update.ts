import { type Principal, requireFreshProof } from '../../auth/principal.ts'
import type { Tx } from '../../db/client.ts'
import { updateRow } from '../../db/prepare-write.ts'
import { grants } from '../../db/tables/grants.ts'
import { appendEvents } from '../../events/append.ts'
import { audit } from '../../events/audit.ts'
import { conflict, found, invalidFields, Refusal } from '../../lib/errors.ts'
import type { Uuid } from '../../lib/ids.ts'
import { controlContradictions } from '../../policy/limits.ts'
import { requireAllowable } from '../beneficiaries/queries.ts'
import { lockMembership } from '../workspaces/membership.ts'
import { findWorkspace } from '../workspaces/queries.ts'
import { type Controls, type ControlsChange, changeControls, refuseLimitedAccountManager, widens } from './control-rules.ts'
import { presentControls, viewGrant } from './present.ts'
import { type GrantRecord, lockGrantOfWorkspace, lockUsableGrants } from './queries.ts'
import type { Grant } from './schema.ts'

export type ChangedGrant = { grant: GrantRecord; view: Grant }

type GrantChange = {
  controls?: ControlsChange | undefined
  frozen?: boolean | undefined
  label?: string | undefined
}

/** A delegated caller manages only the grants below its own: its own grant is changed by those above it. */
export const requireDescendant = (principal: Principal, grantId: Uuid): void => {
  if (principal.grant?.id === grantId)
    throw new Refusal('forbidden', { message: 'A credential cannot do this to its own grant, only to those below it.' })
}

/** A grant can be frozen and unfrozen in a frozen workspace; nothing else about it can change. */
const requireUnfrozen = async (tx: Tx, principal: Principal, workspaceId: Uuid): Promise<void> => {
  if (principal.accountStatus === 'frozen') throw new Refusal('account_frozen')
  const workspace = await findWorkspace(tx, workspaceId)
  if (!workspace || workspace.frozenAt || workspace.suspendedAt || workspace.closedAt) throw new Refusal('workspace_frozen')
}

/** The result of the change is checked like a new grant: a limit that stays may contradict a new one. */
const mergeControls = (grant: GrantRecord, change: ControlsChange): Controls => {
  const controls = changeControls(grant, change)
  const problems = controlContradictions(controls, 'spending_controls.')
  if (problems.length > 0) throw invalidFields(...problems)
  refuseLimitedAccountManager(grant.permissions, controls)
  return controls
}

const summary = (grant: GrantRecord) => ({
  label: grant.label,
  spending_controls: presentControls(grant),
  frozen: grant.frozenAt !== null,
})

/**
 * Of a grant that the caller may see, and has locked. Limits that are left out stay. The change applies to the next payment: payments hold the
 * chain's lock while they are decided.
 */
export const changeVisibleGrant = async (
  tx: Tx,
  principal: Principal,
  grant: GrantRecord,
  change: GrantChange,
): Promise<ChangedGrant> => {
  const { controls, frozen, label } = change
  if (controls !== undefined || frozen !== undefined) requireDescendant(principal, grant.id)
  if (controls !== undefined || label !== undefined) await requireUnfrozen(tx, principal, grant.workspaceId)
  return changeGrant(tx, principal, grant, change)
}

/** The caller has locked the grant and may change it. */
export const changeGrant = async (
  tx: Tx,
  principal: Principal,
  before: GrantRecord,
  { controls, frozen, label }: GrantChange,
): Promise<ChangedGrant> => {
  const grantId = before.id
  const unchanged = frozen === undefined || frozen === (before.frozenAt !== null)
  const { at } = tx
  if (controls === undefined && label === undefined && unchanged) return { grant: before, view: await viewGrant(tx, at, before) }
  if (before.revokedAt) throw conflict('This grant has been revoked.', 'revoked')
  const frozenAt = frozen === undefined ? before.frozenAt : frozen ? (before.frozenAt ?? at) : null
  const changes = { ...(controls && mergeControls(before, controls)), label: label ?? before.label, frozenAt }
  const after = { ...before, ...changes }
  if (widens(before, after) || (before.frozenAt && !frozenAt)) requireFreshProof(principal.proof, at)
  const [view] = await Promise.all([
    viewGrant(tx, at, after),
    controls?.beneficiaryIds &&
      requireAllowable(tx, before.workspaceId, controls.beneficiaryIds, 'spending_controls.beneficiary_ids'),
  ])
  updateRow(tx, grants, before, changes)
  await appendEvents(tx, [{ type: 'grant.updated', accountId: after.accountId, workspaceId: null, data: view }])
  audit(tx, principal, 'grant.update', {
    workspaceId: after.workspaceId,
    subject: grantId,
    before: summary(before),
    after: summary(after),
  })
  return { grant: after, view }
}

/** Who manages a workspace may stop and end every grant in it, including those of other accounts. */
export const lockGrantToManage = async (tx: Tx, principal: Principal, id: Uuid): Promise<GrantRecord> => {
  const { workspace } = await lockMembership(tx, principal, 'workspace.manage')
  return found(await lockGrantOfWorkspace(tx, { id, workspaceId: workspace.id }))
}

/** The stop for everything that acts for someone in the workspace. Answers how many were frozen by it. */
export const freezeWorkspaceGrants = async (tx: Tx, principal: Principal): Promise<number> => {
  const { workspace } = await lockMembership(tx, principal, 'workspace.manage')
  const usable = await lockUsableGrants(tx, workspace.id)
  for (const grant of usable) await changeGrant(tx, principal, grant, { frozen: true })
  return usable.length
}
