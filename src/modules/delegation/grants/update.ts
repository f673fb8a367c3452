import type { Principal } from '../../../auth/principal.ts'
import { requireFreshProof } from '../../../auth/step-up.ts'
import type { Tx } from '../../../db/client.ts'
import { prepareUpdate } from '../../../db/prepare-write.ts'
import { grants } from '../../../db/tables/grants.ts'
import { appendEvents } from '../../../events/append.ts'
import { audit } from '../../../events/audit.ts'
import { conflict, found, invalidFields, Refusal } from '../../../lib/errors.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { controlContradictions } from '../../../policy/limits.ts'
import { requireAllowable } from '../../beneficiaries/queries.ts'
import { findWorkspace, type WorkspaceRecord } from '../../workspaces/queries.ts'
import {
  type Controls,
  type ControlsChange,
  changeControls,
  noControls,
  refuseLimitedAccountManager,
  widens,
} from './control-rules.ts'
import { presentControls, viewGrant } from './present.ts'
import { type GrantRecord, lockVisibleGrant, scopeOf } from './queries.ts'
import type { Grant } from './schema.ts'

/** A grant after its change, and as REST shows it. */
export type ChangedGrant = { grant: GrantRecord; view: Grant }

export type GrantChange = { controls?: ControlsChange; frozen?: boolean; label?: string }

/** A delegated caller manages only the grants below its own: its own grant is changed by those above it. */
export const requireDescendant = (principal: Principal, grantId: Uuid): void => {
  if (principal.grant?.id === grantId)
    throw new Refusal('forbidden', { message: 'A credential cannot do this to its own grant, only to those below it.' })
}

const changeRow = prepareUpdate('grants.change', grants, [
  ...(Object.keys(noControls) as (keyof Controls)[]),
  'label',
  'frozenAt',
])

/** A grant can be frozen and unfrozen in a frozen workspace; nothing else about it can change. `own`: the caller's workspace. */
const requireUnfrozen = async (
  tx: Tx,
  principal: Principal,
  workspaceId: Uuid,
  own: WorkspaceRecord | undefined,
): Promise<void> => {
  if (principal.accountStatus === 'frozen') throw new Refusal('account_frozen')
  const workspace = own?.id === workspaceId ? own : await findWorkspace(tx, workspaceId)
  if (!workspace || workspace.frozenAt || workspace.suspendedAt || workspace.closedAt) throw new Refusal('workspace_frozen')
}

const controlsOf = ({
  perPaymentLimitMinor,
  dailyLimitMinor,
  monthlyLimitMinor,
  approvalThresholdMinor,
  paymentTypes,
  beneficiaryIds,
  newPayees,
  onDuplicate,
}: GrantRecord): Controls => ({
  perPaymentLimitMinor,
  dailyLimitMinor,
  monthlyLimitMinor,
  approvalThresholdMinor,
  paymentTypes,
  beneficiaryIds,
  newPayees,
  onDuplicate,
})

/** The result of the change is checked like a new grant: a limit that stays may contradict a new one. */
const mergeControls = (grant: GrantRecord, change: ControlsChange): Controls => {
  const controls = changeControls(controlsOf(grant), change)
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

/** Limits that are left out stay. The change applies to the next payment: payments hold the chain's lock while they are decided. */
export const updateGrant = async (tx: Tx, principal: Principal, grantId: Uuid, change: GrantChange): Promise<ChangedGrant> => {
  const [visible, own] = await Promise.all([
    lockVisibleGrant(tx, scopeOf(principal), grantId),
    findWorkspace(tx, principal.workspace.id),
  ])
  return changeVisibleGrant(tx, principal, { grant: found(visible), own }, change)
}

/** The same for a grant that the caller may see, and has locked. */
export const changeVisibleGrant = async (
  tx: Tx,
  principal: Principal,
  { grant, own }: { grant: GrantRecord; own: WorkspaceRecord | undefined },
  change: GrantChange,
): Promise<ChangedGrant> => {
  const { controls, frozen, label } = change
  if (controls !== undefined || frozen !== undefined) requireDescendant(principal, grant.id)
  if (controls !== undefined || label !== undefined) await requireUnfrozen(tx, principal, grant.workspaceId, own)
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
  const merged = controls ? mergeControls(before, controls) : controlsOf(before)
  const frozenAt = frozen === undefined ? before.frozenAt : frozen ? (before.frozenAt ?? at) : null
  if (widens(controlsOf(before), merged) || (before.frozenAt && !frozenAt)) requireFreshProof(principal.proof, at)
  const changes = { ...merged, label: label ?? before.label, frozenAt }
  const after = { ...before, ...changes }
  const [view] = await Promise.all([
    viewGrant(tx, at, after),
    controls?.beneficiaryIds &&
      requireAllowable(tx, before.workspaceId, controls.beneficiaryIds, 'spending_controls.beneficiary_ids'),
  ])
  changeRow(tx, grantId, changes)
  await appendEvents(tx, [{ type: 'grant.updated', accountId: after.accountId, workspaceId: null, data: view }])
  await audit(tx, principal, at, {
    action: 'grant.update',
    workspaceId: after.workspaceId,
    subject: { type: 'grant', id: grantId },
    before: summary(before),
    after: summary(after),
  })
  return { grant: after, view }
}
