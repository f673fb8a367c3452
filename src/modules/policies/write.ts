import type { Tx } from '../../db/client.ts'
import { prepareInsert, prepareUpdate } from '../../db/prepare-write.ts'
import { spendingPolicies, spendingPolicyVersions } from '../../db/tables/policies.ts'
import { appendEvents } from '../../events/append.ts'
import { type Actor, audit } from '../../events/audit.ts'
import type { AuditAction } from '../../events/audit-actions.ts'
import type { EventType } from '../../events/types.ts'
import type { Uuid } from '../../lib/ids.ts'
import { effectiveTimeZone, type ZoneSchedule } from '../../policy/calendar.ts'
import { policyFieldNames } from '../../policy/fields.ts'
import { changedBy, changedByColumns, type Maker } from '../makers.ts'
import { presentPolicy } from './present.ts'
import type { PolicyRecord } from './queries.ts'
import type { PolicyTerms } from './rules.ts'
import { seedPolicy } from './seed.ts'

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
const pendingRow = prepareUpdate('policies.change_pending', spendingPolicies, [
  'pendingChange',
  'pendingChangeBy',
  'pendingChangeGrantId',
  'pendingChangeAt',
  'pendingChangeEffectiveAt',
])

export const nothingPending = {
  pendingChange: null,
  pendingChangeBy: null,
  pendingChangeGrantId: null,
  pendingChangeAt: null,
  pendingChangeEffectiveAt: null,
}

/** Who changes a policy of which workspace: the caller, or the timer for a change that has waited long enough. */
export type Changer = { actor: Actor; workspace: { id: Uuid; owningAccountId: Uuid; zone: ZoneSchedule } }

type PolicyChange = { type: Extract<EventType & AuditAction, `policy.${string}`>; after: PolicyRecord; before?: PolicyRecord }

export const recordPolicyChange = async (
  tx: Tx,
  { actor, workspace }: Changer,
  { type, ...change }: PolicyChange,
): Promise<PolicyRecord> => {
  const { at } = tx
  const data = presentPolicy(change.after)
  await appendEvents(tx, [{ type, accountId: workspace.owningAccountId, workspaceId: workspace.id, data }])
  await audit(tx, actor, at, {
    action: type,
    workspaceId: workspace.id,
    subject: { type: 'policy', id: change.after.id },
    ...(change.before && { before: presentPolicy(change.before) }),
    after: data,
  })
  return change.after
}

/** Stores the current version, for the decisions that will be made with it, and counts the month's payments against it. */
export const takeEffect = (tx: Tx, { workspace }: Changer, record: PolicyRecord): void => {
  const { at } = tx
  const document = presentPolicy(record)
  const createdBy = record.changedBy ?? record.createdBy
  insertVersion(tx, { policyId: record.id, version: record.version, document, createdBy, createdAt: at })
  seedPolicy(tx, record, { timeZone: effectiveTimeZone(workspace.zone, at), at })
}

export const writePending = (
  tx: Tx,
  before: PolicyRecord,
  pending: Pick<PolicyRecord, keyof typeof nothingPending>,
): PolicyRecord => {
  pendingRow(tx, before.id, pending)
  return { ...before, ...pending }
}

/** A new version of the policy, which holds from now on. What waits stays as it is. */
export const writeVersion = (
  tx: Tx,
  changer: Changer,
  before: PolicyRecord,
  { terms, name, maker }: { terms: PolicyTerms; name: string; maker: Maker },
): PolicyRecord => {
  const changes = { ...terms, name, version: before.version + 1, ...changedBy(maker), updatedAt: tx.at }
  const after = { ...before, ...changes }
  changeRow(tx, before.id, changes)
  takeEffect(tx, changer, after)
  return after
}

/** An archived policy applies to nothing any more; its versions stay, for the decisions made with it. */
export const writeArchived = (tx: Tx, before: PolicyRecord): PolicyRecord => {
  const changes = { archivedAt: tx.at, updatedAt: tx.at }
  archiveRow(tx, before.id, changes)
  return { ...before, ...changes }
}
