import { eq, isNull, or, sql } from 'drizzle-orm'
import { makePgArray } from 'drizzle-orm/pg-core'
import { decidingRoles } from '../../auth/permissions.ts'
import type { Principal } from '../../auth/principal.ts'
import { lockAccount } from '../../db/account-lock.ts'
import { type Db, statement, type Tx } from '../../db/client.ts'
import { newestFirst, ownedBy } from '../../db/list-queries.ts'
import { prepare } from '../../db/prepare.ts'
import { selectRow } from '../../db/select-rows.ts'
import { namesSql } from '../../db/tables/columns.ts'
import { spendingPolicies, usageCounters } from '../../db/tables/policies.ts'
import { found, invalidFields } from '../../lib/errors.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Minor } from '../../lib/money.ts'
import { effectiveTimeZone, periodsAt, type ZoneSchedule } from '../../policy/calendar.ts'
import { totalStart } from '../../policy/scope-sql.ts'
import type { Usage } from '../../policy/types.ts'

export type PolicyRecord = typeof spendingPolicies.$inferSelect

export const findPolicy = selectRow('policies.by_id', spendingPolicies, ['workspaceId', 'id'], { connection: 'coalesced' })
export const lockPolicy = selectRow('policies.lock', spendingPolicies, ['workspaceId', 'id'], { lock: 'update' })

/** Locks the account that holds the workspace's balance and then the policy, for a change by a person. */
export const lockOwnPolicy = async (tx: Tx, { workspace }: Pick<Principal, 'workspace'>, id: Uuid): Promise<PolicyRecord> => {
  const [, policy] = await Promise.all([
    lockAccount(tx, workspace.balanceAccountId),
    lockPolicy(tx, { workspaceId: workspace.id, id }),
  ])
  return found(policy)
}

const findDeciders = statement('policies.deciders')`
  select m.account_id as id from members m join accounts a on a.id = m.account_id
   where m.workspace_id = $1 and m.account_id = any($2::uuid[]) and m.status = 'active' and m.role in ${namesSql(decidingRoles)} and a.status = 'active'`

/** `known`: approvers that the policy already names. They need not be able to decide now: they may be on leave. `path`: the list. */
export const requireApprovers = async (
  db: Db,
  workspaceId: Uuid,
  ids: readonly Uuid[] | null,
  { known = [], path = 'approver_ids' }: { known?: readonly Uuid[]; path?: string } = {},
): Promise<void> => {
  const added = (ids ?? []).filter((id) => !known.includes(id))
  if (added.length === 0) return
  const able = new Set((await db.query<{ id: Uuid }>(findDeciders, [workspaceId, added])).map(({ id }) => id))
  const problems = (ids ?? []).flatMap((id, index) =>
    added.includes(id) && !able.has(id)
      ? [{ path: `${path}.${index}`, message: 'is not an account of a member of this workspace who may decide approvals' }]
      : [],
  )
  if (problems.length > 0) throw invalidFields(...problems)
}

export const policyList = prepare(
  'policies.list',
  { workspaceId: 'uuid', active: 'flag?', madeBy: 'uuid?', before: 'uuid?', take: 'rows' },
  'page',
  (orm, param) =>
    newestFirst(
      orm.select().from(spendingPolicies),
      { owner: spendingPolicies.workspaceId, id: spendingPolicies.id },
      param,
      ownedBy(spendingPolicies.workspaceId, param.workspaceId),
      param.active && isNull(spendingPolicies.archivedAt),
      param.madeBy &&
        or(eq(spendingPolicies.createdByGrantId, param.madeBy), eq(spendingPolicies.changedByGrantId, param.madeBy)),
    ),
)

const readCounters = prepare('policies.counters', { ids: 'text', day: 'date', month: 'date' }, 'coalesced', (orm, param) =>
  orm
    .select({ id: usageCounters.subjectId, period: usageCounters.period, usedMinor: usageCounters.usedMinor })
    .from(usageCounters)
    .where(
      sql`${usageCounters.subjectId} = any(${param.ids}::uuid[])
          and (${usageCounters.period}, ${usageCounters.periodStart}) in (('day', ${param.day}), ('month', ${param.month}), ('total', '${sql.raw(totalStart)}'))`,
    ),
)

/** Usage in the workspace's current day and month. */
export const readUsage = async (
  db: Db,
  workspace: ZoneSchedule,
  at: Date,
  ids: readonly Uuid[],
): Promise<(id: Uuid) => Usage> => {
  const { day, month } = periodsAt(at, effectiveTimeZone(workspace, at))
  const rows = ids.length === 0 ? [] : await db.run(readCounters, { ids: makePgArray([...ids]), day, month })
  const used = (id: Uuid, period: string): Minor =>
    rows.reduce((sum, row) => (row.id === id && row.period === period ? sum + row.usedMinor : sum), 0n)
  return (id) => ({ dayMinor: used(id, 'day'), monthMinor: used(id, 'month'), totalMinor: used(id, 'total') })
}
