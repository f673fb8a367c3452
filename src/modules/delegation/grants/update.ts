import { eq } from 'drizzle-orm'
import type { Principal } from '../../../auth/principal.ts'
import type { Tx } from '../../../db/client.ts'
import { grants } from '../../../db/tables/grants.ts'
import { audit } from '../../../events/audit.ts'
import { conflict, found, invalidFields, Refusal } from '../../../lib/errors.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { controlContradictions } from '../../../policy/contradictions.ts'
import { requireAllowable } from '../../beneficiaries/queries.ts'
import { findWorkspace } from '../../workspaces/queries.ts'
import type { Deps } from '../deps.ts'
import { type Controls, type ControlsChange, changeControls, refuseLimitedAccountManager } from './control-rules.ts'
import { presentControls, viewGrant } from './present.ts'
import { findGrant, type GrantRecord, lockGrant, scopeOf } from './queries.ts'

export type GrantChange = { controls?: ControlsChange; frozen?: boolean; label?: string }

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
  const {
    perPaymentLimitMinor,
    dailyLimitMinor,
    monthlyLimitMinor,
    approvalThresholdMinor,
    paymentTypes,
    beneficiaryIds,
    newPayees,
    onDuplicate,
  } = grant
  const before = {
    perPaymentLimitMinor,
    dailyLimitMinor,
    monthlyLimitMinor,
    approvalThresholdMinor,
    paymentTypes,
    beneficiaryIds,
    newPayees,
    onDuplicate,
  }
  const controls = changeControls(before, change)
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
export const updateGrant = async (
  tx: Tx,
  deps: Pick<Deps, 'appendEvents'>,
  principal: Principal,
  grantId: Uuid,
  change: GrantChange,
): Promise<GrantRecord> => {
  const visible = found(await findGrant(tx, scopeOf(principal), grantId))
  const { controls, frozen, label } = change
  if (controls !== undefined || frozen !== undefined) requireDescendant(principal, grantId)
  if (controls !== undefined || label !== undefined) await requireUnfrozen(tx, principal, visible.workspaceId)
  return changeGrant(tx, deps, principal, await lockGrant(tx, grantId), change)
}

/** The caller has locked the grant and may change it. */
export const changeGrant = async (
  tx: Tx,
  deps: Pick<Deps, 'appendEvents'>,
  principal: Principal,
  before: GrantRecord,
  { controls, frozen, label }: GrantChange,
): Promise<GrantRecord> => {
  const grantId = before.id
  const unchanged = frozen === undefined || frozen === (before.frozenAt !== null)
  if (controls === undefined && label === undefined && unchanged) return before
  if (before.revokedAt) throw conflict('This grant has been revoked.', 'revoked')
  const merged = controls && mergeControls(before, controls)
  if (controls?.beneficiaryIds)
    await requireAllowable(tx, before.workspaceId, controls.beneficiaryIds, 'spending_controls.beneficiary_ids')
  const at = tx.at
  const frozenAt = frozen === undefined ? before.frozenAt : frozen ? (before.frozenAt ?? at) : null
  const [after] = await tx.orm
    .update(grants)
    .set({ ...merged, ...(label !== undefined && { label }), frozenAt })
    .where(eq(grants.id, grantId))
    .returning()
  if (!after) throw new Error('an updated grant was not returned')
  await deps.appendEvents(tx, at, [
    { type: 'grant.updated', accountId: after.accountId, workspaceId: null, data: await viewGrant(tx, at, after) },
  ])
  await audit(tx, principal, at, {
    action: 'grant.update',
    workspaceId: after.workspaceId,
    subject: { type: 'grant', id: grantId },
    before: summary(before),
    after: summary(after),
  })
  return after
}
