import { eq } from 'drizzle-orm'
import { statement, type Tx } from '../../db/client.ts'
import { insertRow, prepareWrite, updateRow } from '../../db/prepare-write.ts'
import { spendingPolicies, spendingPolicyVersions, usageCounters } from '../../db/tables/policies.ts'
import { balanceAccountSql } from '../../db/tables/workspaces.ts'
import { countedPaymentsSql } from '../../db/transitions.ts'
import { appendEvents } from '../../events/append.ts'
import { type Actor, audit } from '../../events/audit.ts'
import type { AuditAction } from '../../events/audit-actions.ts'
import type { EventType } from '../../events/types.ts'
import { isoTime } from '../../lib/clock.ts'
import { formatId, type Uuid } from '../../lib/ids.ts'
import { assertPresent } from '../../lib/lists.ts'
import { quoted } from '../../lib/text.ts'
import { effectiveTimeZone, periodsAt, type ZoneSchedule } from '../../policy/calendar.ts'
import { countedTotals, isInTotal, policyApplies, totalStart } from '../../policy/scope-sql.ts'
import { type Creator, changedBy, readCreator } from '../creators.ts'
import { queueMail } from '../mail/service.ts'
import { presentPolicy } from './policy-present.ts'
import type { PolicyRecord } from './queries.ts'
import type { PolicyTerms } from './rules.ts'

const deleteCounters = prepareWrite('policies.forget_counters', { id: 'uuid' }, (orm, param) =>
  orm.delete(usageCounters).where(eq(usageCounters.subjectId, param.id)),
)

const seedCounters = statement('policies.seed_counters')`
  with counted as (
     select t.day, sum(t.used_minor) as used, sum(t.payments) as payments from ${countedTotals} group by t.day)
   insert into usage_counters (subject, subject_id, account_id, period, period_start, used_minor, payments)
   select 'policy', $1::uuid, w.account_id, c.period, c.day, c.used, c.payments
   from (select 'day' as period, day, used, payments from counted
     union all
     select 'month', $2::date, sum(used), sum(payments) from counted having count(*) > 0
     union all
     select 'total', date '${totalStart}', sum(p.amount_minor), count(*) from payments p
       cross join (select $4::text[] as payment_types, $5::uuid[] as beneficiary_ids, $6::uuid as binds_grant_id, $7::timestamptz as total_counted_since) as s
     where $7::timestamptz is not null and p.workspace_id = $3 and p.created_at > $7::timestamptz - interval '91 days' and ${isInTotal('s', 'p')}
       and p.status in ${countedPaymentsSql} and ${policyApplies('s', 'p')} having count(*) > 0) as c
   cross join (select ${balanceAccountSql('w')} as account_id from workspaces w where w.id = $3) as w`

export const nothingPending = {
  pendingChangeResult: null,
  pendingChangeVersion: null,
  pendingChangeMessage: null,
  pendingChange: null,
  pendingChangeBy: null,
  pendingChangeGrantId: null,
  pendingChangeAt: null,
  pendingChangeEffectiveAt: null,
}

/** The caller, or the timer for a change that has waited long enough. */
export type Changer = Actor & { workspace: ZoneSchedule & { id: Uuid; name: string; balanceAccountId: Uuid } }

export type PolicyEvent = Extract<EventType & AuditAction, `policy.${string}`>

/** The requester of the pending change. It becomes the author of the new version. */
export const requesterOf = (
  tx: Tx,
  { pendingChangeBy: by, pendingChangeGrantId: originGrantId }: PolicyRecord,
): Promise<Creator> => readCreator(tx, { accountId: assertPresent(by, 'a pending change without a requester'), originGrantId })

/** Emails every approver except the requester. */
const mailChange = async (tx: Tx, policy: PolicyRecord): Promise<void> => {
  const { id, workspaceId, name, pendingChangeAt, pendingChangeEffectiveAt } = policy
  if (!pendingChangeAt || !pendingChangeEffectiveAt) return
  const { accountId, label } = await requesterOf(tx, policy)
  queueMail(tx, {
    kind: 'policy_change_waits',
    cause: `policy/${id}/${pendingChangeAt.toISOString()}`,
    workspaceId,
    about: { kind: 'policy', id },
    to: 'deciders',
    except: accountId,
    by: { accountId, label },
    values: { policy: quoted(name) },
    times: { effective: isoTime(pendingChangeEffectiveAt) },
    path: `/policies/${formatId('policy', id)}`,
  })
}

const publish = async (tx: Tx, changer: Changer, types: readonly PolicyEvent[], after: PolicyRecord, before?: PolicyRecord) => {
  const { workspace } = changer
  const data = presentPolicy(after)
  const compared = { before: before && presentPolicy(before), after: data }
  for (const type of types) {
    await appendEvents(tx, [{ type, accountId: workspace.balanceAccountId, workspaceId: workspace.id, data }])
    audit(tx, changer, type, { workspaceId: workspace.id, subject: after.id, ...compared })
    if (type === 'policy.change_requested') await mailChange(tx, after)
  }
  return after
}

/**
 * Stores the version and counts the current month against it, so a limit set at noon includes the morning. A total counts
 * payments since the version that first set it, even if the scope changed since. Counters of earlier months are deleted: their
 * payments give nothing back if they end unpaid. The caller has locked the account, as every payment does first.
 */
const storeVersion = (tx: Tx, { workspace }: Changer, policy: PolicyRecord): void => {
  const { at } = tx
  const { id, version, workspaceId, paymentTypes, beneficiaryIds, bindsGrantId, totalCountedSince } = policy
  const createdBy = policy.changedBy ?? policy.createdBy
  insertRow(tx, spendingPolicyVersions, { policyId: id, version, document: presentPolicy(policy), createdBy, createdAt: at })
  const { month } = periodsAt(at, effectiveTimeZone(workspace, at))
  tx.defer(tx.run(deleteCounters, { id }))
  tx.defer(tx.query(seedCounters, [id, month, workspaceId, paymentTypes, beneficiaryIds, bindsGrantId, totalCountedSince]))
}

export const insertPolicy = (tx: Tx, changer: Changer, policy: PolicyRecord): Promise<PolicyRecord> => {
  insertRow(tx, spendingPolicies, policy)
  storeVersion(tx, changer, policy)
  return publish(tx, changer, ['policy.created'], policy)
}

export const changePolicy = (
  tx: Tx,
  changer: Changer,
  types: readonly PolicyEvent[],
  before: PolicyRecord,
  changes: Partial<PolicyRecord>,
): Promise<PolicyRecord> => {
  const after = updateRow(tx, spendingPolicies, before, changes)
  if (after.version !== before.version) storeVersion(tx, changer, after)
  return publish(tx, changer, types, after, before)
}

export const newVersion = (tx: Tx, before: PolicyRecord, creator: Creator, terms: PolicyTerms, name = before.name) => ({
  ...terms,
  name,
  totalCountedSince: terms.totalLimitMinor === null ? null : (before.totalCountedSince ?? tx.at),
  version: before.version + 1,
  ...changedBy(creator),
  updatedAt: tx.at,
})

export const archived = ({ at }: Tx) => ({ archivedAt: at, updatedAt: at })
