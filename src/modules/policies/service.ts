import { and, eq, isNull, sql } from 'drizzle-orm'
import { type Principal, requireActiveAccount } from '../../auth/principal.ts'
import { requireFreshProof } from '../../auth/step-up.ts'
import { lockAccount } from '../../db/account-lock.ts'
import { first, type Tx } from '../../db/client.ts'
import { prepare } from '../../db/prepare.ts'
import { prepareInsert, prepareUpdate } from '../../db/prepare-write.ts'
import { spendingPolicies, spendingPolicyVersions } from '../../db/tables/policies.ts'
import { audit } from '../../events/audit.ts'
import type { AuditAction } from '../../events/audit-actions.ts'
import type { EventType } from '../../events/types.ts'
import { conflict, found } from '../../lib/errors.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import { effectiveTimeZone } from '../../policy/calendar.ts'
import { policyFieldNames } from '../../policy/fields.ts'
import { loosens } from '../../policy/loosens.ts'
import { requireBeneficiaries } from '../beneficiaries/queries.ts'
import { changedBy, changedByColumns, createdBy, readMaker } from '../makers.ts'
import type { Deps } from './deps.ts'
import { presentPolicy } from './present.ts'
import { lockPolicy, type PolicyRecord } from './queries.ts'
import { type PolicyTerms, policyTerms } from './rules.ts'
import type { CreatePolicy, UpdatePolicy } from './schema.ts'
import { seedPolicy } from './seed.ts'

const insertPolicy = prepareInsert('policies.insert', spendingPolicies)
const insertVersion = prepareInsert('policies.insert_version', spendingPolicyVersions)
const changeRow = prepareUpdate('policies.change', spendingPolicies, [
  ...policyFieldNames,
  'countImplied',
  'name',
  'version',
  ...changedByColumns,
  'updatedAt',
])
const archiveRow = prepareUpdate('policies.archive', spendingPolicies, ['archivedAt', 'updatedAt'])

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
const takeEffect = (tx: Tx, principal: Principal, record: PolicyRecord, at: Date): void => {
  const document = presentPolicy(record)
  insertVersion(tx, { policyId: record.id, version: record.version, document, createdBy: principal.accountId, createdAt: at })
  seedPolicy(tx, record, { timeZone: effectiveTimeZone(principal.workspace.zone, at), at })
}

/** Who may create policies and not manage them binds only their own payments: they can undo nothing, so they cannot stop everyone either. */
export const boundGrant = ({ grant, permissions }: Pick<Principal, 'grant' | 'permissions'>): Uuid | null =>
  grant && !permissions.has('policy.manage') ? grant.id : null

/** Every payment of the workspace is decided by all of them, and its answer names those that decided. */
const maxActive = 100

const countActive = prepare('policies.count_active', { workspaceId: 'uuid' }, (orm, at) =>
  orm
    .select({ active: sql<number>`count(*)::int` })
    .from(spendingPolicies)
    .where(and(eq(spendingPolicies.workspaceId, at.workspaceId), isNull(spendingPolicies.archivedAt))),
)

/** The account is locked by now: of two that are made at once, the second counts the first. */
const requireRoom = async (tx: Tx, workspaceId: Uuid): Promise<void> => {
  const row = await first(tx, countActive, { workspaceId })
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
  const [, maker] = await Promise.all([
    lockAccount(tx, workspace.owningAccountId),
    readMaker(tx, principal),
    requireRoom(tx, workspace.id),
    requireBeneficiaries(tx, workspace.id, terms.beneficiaryIds, 'beneficiary_ids'),
  ])
  const record: PolicyRecord = {
    id: newId(),
    workspaceId: workspace.id,
    name: input.name,
    bindsGrantId: boundGrant(principal),
    ...terms,
    version: 1,
    pendingChange: null,
    pendingChangeBy: null,
    pendingChangeGrantId: null,
    pendingChangeAt: null,
    pendingChangeEffectiveAt: null,
    ...createdBy(maker),
    createdAt: at,
    updatedAt: at,
    archivedAt: null,
  }
  insertPolicy(tx, record)
  takeEffect(tx, principal, record, at)
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
  const [, locked, maker] = await Promise.all([
    lockAccount(tx, workspace.owningAccountId),
    lockPolicy(tx, workspace.id, id),
    readMaker(tx, principal),
  ])
  const before = found(locked)
  if (before.archivedAt) throw conflict('An archived policy does not change.', 'archived')
  if (before.version !== change.version)
    throw conflict(`The policy is now at version ${before.version}.`, 'version', { version: before.version })
  const terms: PolicyTerms = policyTerms(change, before)
  if (loosens(before, terms)) requireFreshProof(principal.proof, at)
  await requireBeneficiaries(tx, workspace.id, terms.beneficiaryIds, 'beneficiary_ids')
  const changes = {
    ...terms,
    name: change.name ?? before.name,
    version: before.version + 1,
    ...changedBy(maker),
    updatedAt: at,
  }
  const after = { ...before, ...changes }
  changeRow(tx, id, changes)
  takeEffect(tx, principal, after, at)
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
  const { id: workspaceId, owningAccountId } = principal.workspace
  const [, locked] = await Promise.all([lockAccount(tx, owningAccountId), lockPolicy(tx, workspaceId, id)])
  const before = found(locked)
  const { at } = tx
  if (before.archivedAt) return before
  const changes = { archivedAt: at, updatedAt: at }
  const after = { ...before, ...changes }
  archiveRow(tx, id, changes)
  await recordPolicyChange(tx, deps, principal, { type: 'policy.archived', after, before })
  return after
}
