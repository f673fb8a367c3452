import { type Statement, statement } from '../../../../db/client.ts'
import { describeError } from '../../../../db/errors.ts'
import { createHeldAccounts } from '../../../../db/held-accounts.ts'
import type { Lane, Room, Task } from '../../../../jobs/lane.ts'
import type { Uuid } from '../../../../lib/ids.ts'
import { collectionRail, railNames } from '../../../../lib/rail-names.ts'
import type { Deps } from '../../deps.ts'
import { claimFree, claimWaiting, type Due, type SendLane, tenantsOf } from './claim.ts'
import { isRowKey, pickFairly } from './fair.ts'
import { gatedLane } from './gated-lane.ts'
import { createSender, type Sender } from './send.ts'
import type { Subjects } from './subject.ts'

/**
 * What is due, oldest first, for at most $4 tenants after tenant $2. The index is read tenant by tenant, so that neither a large backlog of
 * one tenant nor a large number of tenants makes this slow.
 */
const dueByTenant = (name: string, table: string, rail: string) =>
  statement(
    name,
    `with recursive tenants as (
       (select account_id from ${table} where dispatch_due_at is not null ${rail} and account_id > $2 and account_id <> all($6::uuid[]) order by account_id limit 1)
       union all
       select (select account_id from ${table} where dispatch_due_at is not null ${rail} and account_id > tenants.account_id and account_id <> all($6::uuid[]) order by account_id limit 1)
       from tenants where tenants.account_id is not null
     )
     select due.id, tenant.account_id as tenant from (select account_id from tenants where account_id is not null limit $4) as tenant
     cross join lateral (
       select id, dispatch_due_at from ${table}
       where dispatch_due_at <= $1 ${rail} and account_id = tenant.account_id and id <> all($3::uuid[])
       order by dispatch_due_at, id limit $5) as due
     order by due.dispatch_due_at, due.id`,
  )
const duePayments = dueByTenant('dispatch.due_payments', 'payments', 'and rail = $7')
const dueTopups = dueByTenant('dispatch.due_topups', 'topups', '')

const noTenant = '00000000-0000-0000-0000-000000000000'

/** `passedOver`: tenants whose work cannot be taken now. */
type ReadDue = (after: Uuid, room: Room, passedOver: readonly Uuid[]) => Promise<Due[]>

/** Continues after the last tenant that was served, so that every tenant gets its turn. */
const createFairReader = (read: ReadDue) => {
  let last: Uuid = noTenant
  return async (room: Room, passedOver: readonly Uuid[]): Promise<{ picked: Due[]; more: boolean }> => {
    const behind = await read(last, room, passedOver)
    const due = last !== noTenant && behind.length < room.free ? [...behind, ...(await read(noTenant, room, passedOver))] : behind
    const fair = pickFairly([...new Map(due.map((row) => [row.id, row])).values()], room)
    last = fair.picked.at(-1)?.tenant ?? noTenant
    return fair
  }
}

const mostWaitingAccounts = 3

type SendingLane = { name: string; lane: SendLane; limit: number; send: Sender; read: ReadDue }

/**
 * Claims due tasks in one transaction for all tenants whose account is free, and sends each by itself. An account that another transaction
 * holds is tried again with the next claim; for one that is held too often a separate task waits, so it delays only itself. When a claim fails, its tasks are claimed one by one, so that only the one that caused the failure fails
 * again.
 */
const sendingLane = (
  deps: Pick<Deps, 'appendEvents' | 'clock' | 'config' | 'db' | 'logger' | 'rails' | 'vault'>,
  { name, lane, limit, send, read }: SendingLane,
): Lane => {
  const readFairly = createFairReader(read)
  const waitedFor = new Set<Uuid>()
  const held = createHeldAccounts()

  const patient = (due: Due[], tenant: Uuid): Task => ({
    key: `account ${tenant}`,
    tenant,
    run: async () => {
      const recorded = await claimWaiting(deps, lane, due).finally(() => {
        waitedFor.delete(tenant)
        held.forget(tenant)
      })
      await Promise.all(recorded.map((each) => send(lane, each)))
    },
  })
  const alone = (one: Due): Task => ({
    key: one.id,
    tenant: one.tenant,
    run: async () => {
      for (const recorded of await claimWaiting(deps, lane, [one])) await send(lane, recorded)
    },
  })
  const waitFor = (busy: readonly Due[]): Task[] => {
    const tasks: Task[] = []
    for (const [tenant, due] of Map.groupBy(busy, (row) => row.tenant)) {
      if (waitedFor.size >= mostWaitingAccounts) break
      waitedFor.add(tenant)
      tasks.push(patient(due, tenant))
    }
    return tasks
  }

  return {
    name,
    rail: lane.rail,
    limit,
    claim: async (room) => {
      const isFull = room.full.length > 0
      const { picked, more } = await readFairly(room, [...waitedFor, ...room.full.filter(isRowKey)])
      if (picked.length === 0) return { tasks: [], more: isFull }
      const claimed = await claimFree(deps, lane, picked).catch((error: unknown) => {
        deps.logger.warn({ lane: name, ...describeError(error) }, 'a batch could not be claimed; its rows are claimed one by one')
        return undefined
      })
      if (!claimed) return { tasks: picked.map(alone), more: more || isFull }
      const busy = new Set(tenantsOf(claimed.busy))
      held.note(tenantsOf(picked), busy)
      const tenants = new Map(picked.map((row) => [row.id, row.tenant]))
      const tasks = claimed.sendable.map((recorded): Task => {
        const { subjectId } = recorded.outgoing
        return { key: subjectId, tenant: tenants.get(subjectId) ?? subjectId, run: () => send(lane, recorded) }
      })
      const patients = waitFor(claimed.busy.filter(({ tenant }) => held.mustWait(tenant)))
      const again = claimed.busy.some(({ tenant }) => !held.mustWait(tenant))
      return { tasks: [...tasks, ...patients], more: more || isFull || busy.size > 0, again }
    },
  }
}

export type SendingLanes = { payments: Lane[]; topups: Lane[] }

export const createSendingLanes = (
  deps: Pick<Deps, 'alerts' | 'appendEvents' | 'clock' | 'config' | 'db' | 'logger' | 'rails' | 'vault'>,
  subjects: Subjects,
): SendingLanes => {
  const send = createSender(deps)
  const readFrom =
    (source: Statement, ...rest: unknown[]): ReadDue =>
    (after, { except, free }, passedOver) =>
      deps.db.query<Due>(source, [deps.clock.now(), after, except.filter(isRowKey), free, free, passedOver, ...rest])
  const laneOf = (name: string, lane: SendLane, read: ReadDue): Lane =>
    gatedLane(deps, lane.rail, sendingLane(deps, { name, lane, limit: deps.config.RAIL_CONCURRENCY, send, read }))
  return {
    payments: railNames.map((rail) =>
      laneOf(`payments.${rail}`, { subject: subjects.payment, rail }, readFrom(duePayments, rail)),
    ),
    topups: [laneOf(`topups.${collectionRail}`, { subject: subjects.topup, rail: collectionRail }, readFrom(dueTopups))],
  }
}
