import { isDeepStrictEqual } from 'node:util'
import { and, eq, getTableColumns, isNotNull, isNull } from 'drizzle-orm'
import { type Principal, requireActiveAccount } from '../../auth/principal.ts'
import { lockAccount } from '../../db/account-lock.ts'
import type { Tx } from '../../db/client.ts'
import { prepare } from '../../db/prepare.ts'
import { grants } from '../../db/tables/grants.ts'
import { spendingPolicies } from '../../db/tables/policies.ts'
import { conflict } from '../../lib/errors.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import { loosens } from '../../policy/loosening.ts'
import { requireBeneficiaries } from '../beneficiaries/queries.ts'
import { requireBelowBound } from '../bounds.ts'
import { createdBy, readCreator } from '../creators.ts'
import { loosen, tighten } from './pending-change.ts'
import { presentPolicy } from './policy-present.ts'
import { lockOwnPolicy, type PolicyRecord, requireApprovers } from './queries.ts'
import { policyTerms } from './rules.ts'
import type { CreatePolicy, UpdatePolicy } from './schema.ts'
import { archived, changePolicy, insertPolicy, nothingPending } from './write.ts'

/** A grant that may create policies but not manage them binds only its own payments, because it cannot undo a policy. */
export const boundGrantOf = ({ grant, permissions }: Pick<Principal, 'grant' | 'permissions'>): Uuid | null =>
  grant && !permissions.has('policy.manage') ? grant.id : null

const ofRevokedGrants = prepare('policies.of_revoked_grants', { workspaceId: 'uuid' }, (orm, param) =>
  orm
    .select(getTableColumns(spendingPolicies))
    .from(spendingPolicies)
    .innerJoin(grants, eq(grants.id, spendingPolicies.bindsGrantId))
    .where(
      and(eq(spendingPolicies.workspaceId, param.workspaceId), isNull(spendingPolicies.archivedAt), isNotNull(grants.revokedAt)),
    ),
)

/**
 * A policy whose grant is revoked binds no payment, and a key could use up the workspace's policies. An expired grant's end can
 * still move, and its payments wait until a sweep revokes it.
 */
const archiveUnused = async (tx: Tx, { workspace }: Principal): Promise<void> => {
  const changer = { accountId: null, origin: null, way: 'timer', workspace }
  for (const before of await tx.run(ofRevokedGrants, { workspaceId: workspace.id }))
    await changePolicy(tx, changer, ['policy.archived'], before, { ...nothingPending, ...archived(tx) })
}

export const createPolicy = async (tx: Tx, principal: Principal, input: CreatePolicy): Promise<PolicyRecord> => {
  const { workspace } = principal
  const terms = policyTerms(input)
  await lockAccount(tx, workspace.balanceAccountId)
  await archiveUnused(tx, principal)
  const [creator] = await Promise.all([
    readCreator(tx, principal),
    requireBelowBound(tx, 'policies', workspace.id),
    requireBeneficiaries(tx, workspace.id, terms.beneficiaryIds, 'beneficiary_ids'),
    requireApprovers(tx, workspace.id, terms.approverIds),
  ])
  const { at } = tx
  const record: PolicyRecord = {
    id: newId(),
    workspaceId: workspace.id,
    name: input.name,
    bindsGrantId: boundGrantOf(principal),
    ...terms,
    totalCountedSince: terms.totalLimitMinor === null ? null : at,
    version: 1,
    ...nothingPending,
    ...createdBy(creator),
    createdAt: at,
    updatedAt: at,
    archivedAt: null,
  }
  return insertPolicy(tx, principal, record)
}

/**
 * Omits fields that a request only repeats, because the change must not undo a stricter one made meanwhile. A null approval count
 * is derived from the threshold when the change takes effect, so it differs from an equal explicit one.
 */
const changeOf = ({ version: _, ...request }: UpdatePolicy, before: PolicyRecord, after: PolicyRecord): object => {
  const { required_approval_count } = request
  const old: Record<string, unknown> = { ...presentPolicy(before), ...(before.countImplied && { required_approval_count: null }) }
  const wanted: Record<string, unknown> = { ...presentPolicy(after), required_approval_count }
  const changed = Object.entries(request).filter(
    ([field, value]) => value !== undefined && JSON.stringify(wanted[field]) !== JSON.stringify(old[field]),
  )
  return Object.fromEntries(changed.map(([field]) => [field, wanted[field]]))
}

/** A change that loosens the policy may have to wait as `pendingChange`. `waits`: this change waits, not just an earlier one. */
export const updatePolicy = async (
  tx: Tx,
  principal: Principal,
  id: Uuid,
  change: UpdatePolicy,
  currency: string,
): Promise<{ policy: PolicyRecord; waits: boolean }> => {
  const before = await lockOwnPolicy(tx, principal, id)
  if (before.archivedAt) throw conflict('An archived policy does not change.', 'archived')
  if (before.version !== change.version)
    throw conflict(`The policy is now at version ${before.version}.`, 'version', { version: before.version })
  const terms = policyTerms(change, before)
  const after = { ...before, ...terms, name: change.name ?? before.name }
  if (isDeepStrictEqual(after, before)) return { policy: before, waits: false }
  await requireBeneficiaries(tx, principal.workspace.id, terms.beneficiaryIds, 'beneficiary_ids')
  await requireApprovers(tx, principal.workspace.id, terms.approverIds, { known: before.approverIds ?? [] })
  const result = { ...terms, name: after.name }
  if (loosens(before, terms)) return loosen(tx, principal, before, { change: changeOf(change, before, after), result }, currency)
  return { policy: await tighten(tx, principal, before, result, currency), waits: false }
}

export const archivePolicy = async (tx: Tx, principal: Principal, id: Uuid, currency: string): Promise<PolicyRecord> => {
  requireActiveAccount(principal)
  const before = await lockOwnPolicy(tx, principal, id)
  if (before.archivedAt) return before
  return (await loosen(tx, principal, before, { change: { status: 'archived' }, result: null }, currency)).policy
}
