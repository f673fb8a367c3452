import { eq } from 'drizzle-orm'
import { type Principal, requireActiveAccount } from '../../auth/principal.ts'
import { statement, type Tx } from '../../db/client.ts'
import { spendingPolicies, spendingPolicyVersions } from '../../db/tables/policies.ts'
import { audit } from '../../events/audit.ts'
import type { AuditAction } from '../../events/audit-actions.ts'
import type { EventType } from '../../events/types.ts'
import { lockBalance } from '../../ledger/ledger.ts'
import { conflict, found, notFound } from '../../lib/errors.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import { effectiveTimeZone } from '../../policy/time-zone.ts'
import { requireBeneficiaries } from '../beneficiaries/queries.ts'
import { makerValues } from '../makers.ts'
import type { Deps } from './deps.ts'
import { presentPolicy } from './present.ts'
import { lockPolicy, type PolicyRecord } from './queries.ts'
import { type PolicyTerms, policyTerms } from './rules.ts'
import type { CreatePolicy, UpdatePolicy } from './schema.ts'
import { seedPolicy } from './seed.ts'

type PolicyChange = { type: Extract<EventType & AuditAction, `policy.${string}`>; after: PolicyRecord; before?: PolicyRecord }

const recordPolicyChange = async (
  tx: Tx,
  deps: Pick<Deps, 'appendEvents'>,
  principal: Principal,
  { type, ...change }: PolicyChange,
): Promise<void> => {
  const { at } = tx
  const { workspace } = principal
  const data = presentPolicy(change.after)
  await deps.appendEvents(tx, at, [{ type, accountId: workspace.owningAccountId, workspaceId: workspace.id, data }])
  await audit(tx, principal, at, {
    action: type,
    subject: { type: 'policy', id: change.after.id },
    ...(change.before && { before: presentPolicy(change.before) }),
    after: data,
  })
}

/** Stores the current version, for the decisions that will be made with it, and counts the month's payments against it. */
const takeEffect = async (tx: Tx, principal: Principal, record: PolicyRecord, at: Date): Promise<void> => {
  const document = presentPolicy(record)
  await tx.orm
    .insert(spendingPolicyVersions)
    .values({ policyId: record.id, version: record.version, document, createdBy: principal.accountId, createdAt: at })
  await seedPolicy(tx, record, { timeZone: effectiveTimeZone(principal.workspace.zone, at), at })
}

/** Who may create policies and not manage them binds only their own payments: they can undo nothing, so they cannot stop everyone either. */
export const boundGrant = ({ grant, permissions }: Pick<Principal, 'grant' | 'permissions'>): Uuid | null =>
  grant && !permissions.has('policy.manage') ? grant.id : null

/** Every payment of the workspace is decided by all of them, and its answer names those that decided. */
const maxActive = 100

const countActive = statement(
  'policies.count_active',
  'select count(*)::int as active from spending_policies where workspace_id = $1 and archived_at is null',
)

/** The balance is locked by now: of two that are made at once, the second counts the first. */
const requireRoom = async (tx: Tx, workspaceId: Uuid): Promise<void> => {
  const [row] = await tx.query<{ active: number }>(countActive, [workspaceId])
  if (row && row.active >= maxActive)
    throw conflict(`A workspace has at most ${maxActive} active policies: archive some first.`, 'limit_reached')
}

export const createPolicy = async (
  tx: Tx,
  deps: Pick<Deps, 'appendEvents'>,
  principal: Principal,
  input: CreatePolicy,
): Promise<PolicyRecord> => {
  const { at } = tx
  const { workspace } = principal
  const terms = policyTerms(input)
  const maker = makerValues(principal)
  await lockBalance(tx, workspace.owningAccountId)
  await requireRoom(tx, workspace.id)
  await requireBeneficiaries(tx, workspace.id, terms.beneficiaryIds, 'beneficiary_ids')
  const [record] = await tx.orm
    .insert(spendingPolicies)
    .values({
      id: newId(),
      workspaceId: workspace.id,
      name: input.name,
      bindsGrantId: boundGrant(principal),
      ...terms,
      createdBy: maker.accountId,
      createdByGrantId: maker.grantId,
      createdByLabel: maker.label,
      createdAt: at,
      updatedAt: at,
    })
    .returning()
  if (!record) throw new Error('an inserted policy was not returned')
  await takeEffect(tx, principal, record, at)
  await recordPolicyChange(tx, deps, principal, { type: 'policy.created', after: record })
  return record
}

export const updatePolicy = async (
  tx: Tx,
  deps: Pick<Deps, 'appendEvents'>,
  principal: Principal,
  id: Uuid,
  change: UpdatePolicy,
): Promise<PolicyRecord> => {
  const { at } = tx
  const { workspace } = principal
  await lockBalance(tx, workspace.owningAccountId)
  const before = found(await lockPolicy(tx, workspace.id, id))
  if (before.archivedAt) throw conflict('An archived policy does not change.', 'archived')
  if (before.version !== change.version)
    throw conflict(`The policy is now at version ${before.version}.`, 'version', { version: before.version })
  const terms: PolicyTerms = policyTerms(change, before)
  const maker = makerValues(principal)
  await requireBeneficiaries(tx, workspace.id, terms.beneficiaryIds, 'beneficiary_ids')
  const [after] = await tx.orm
    .update(spendingPolicies)
    .set({
      ...terms,
      name: change.name ?? before.name,
      version: before.version + 1,
      changedBy: maker.accountId,
      changedByGrantId: maker.grantId,
      changedByLabel: maker.label,
      updatedAt: at,
    })
    .where(eq(spendingPolicies.id, id))
    .returning()
  if (!after) throw notFound()
  await takeEffect(tx, principal, after, at)
  await recordPolicyChange(tx, deps, principal, { type: 'policy.updated', after, before })
  return after
}

/** An archived policy applies to nothing any more; its versions stay, for the decisions made with it. */
export const archivePolicy = async (
  tx: Tx,
  deps: Pick<Deps, 'appendEvents'>,
  principal: Principal,
  id: Uuid,
): Promise<PolicyRecord> => {
  requireActiveAccount(principal)
  await lockBalance(tx, principal.workspace.owningAccountId)
  const before = found(await lockPolicy(tx, principal.workspace.id, id))
  const { at } = tx
  if (before.archivedAt) return before
  const after = { ...before, archivedAt: at, updatedAt: at }
  await tx.orm.update(spendingPolicies).set({ archivedAt: at, updatedAt: at }).where(eq(spendingPolicies.id, id))
  await recordPolicyChange(tx, deps, principal, { type: 'policy.archived', after, before })
  return after
}
