import { statement } from '../../../../db/client.ts'
import type { Lane, Room, Task } from '../../../../jobs/lane.ts'
import type { Uuid } from '../../../../lib/ids.ts'
import { type RailName, railNames } from '../../../../rails/rail.ts'
import type { Deps } from '../../../deps.ts'
import { processDelivery } from './deliveries.ts'
import { dispatch } from './dispatch.ts'
import { gatedLane } from './gated-lane.ts'
import type { Subjects } from './subject.ts'

type Due = { id: Uuid; tenant: Uuid }

/**
 * What is due, oldest first, of at most $4 tenants behind tenant $2: the index is walked from tenant to tenant, so that neither a
 * large backlog of one nor a large number of others makes this slow.
 */
const dueByTenant = (name: string, table: string, rail: string) =>
  statement(
    name,
    `with recursive tenants as (
       (select account_id from ${table} where dispatch_due_at is not null ${rail} and account_id > $2 order by account_id limit 1)
       union all
       select (select account_id from ${table} where dispatch_due_at is not null ${rail} and account_id > tenants.account_id order by account_id limit 1)
       from tenants where tenants.account_id is not null
     )
     select due.id, tenant.account_id as tenant from (select account_id from tenants where account_id is not null limit $4) as tenant
     cross join lateral (
       select id, dispatch_due_at from ${table}
       where dispatch_due_at <= $1 ${rail} and account_id = tenant.account_id and id <> all($3::uuid[])
       order by dispatch_due_at, id limit $5) as due
     order by due.dispatch_due_at, due.id`,
  )
const duePayments = dueByTenant('dispatch.due_payments', 'payments', 'and rail = $6')
const dueTopups = dueByTenant('dispatch.due_topups', 'topups', '')

const noTenant = '00000000-0000-0000-0000-000000000000'

/** Round robin over the tenants: one each, then the next of each, as long as there is room. */
const pickFairly = (due: readonly Due[], room: Room): { picked: Due[]; more: boolean } => {
  const byTenant = Map.groupBy(due, ({ tenant }) => tenant)
  const queues = [...byTenant].map(([tenant, rows]) => rows.slice(0, Math.max(0, room.ofTenant(tenant))))
  const picked: Due[] = []
  for (let turn = 0; picked.length < room.free && queues.some((rows) => rows.length > turn); turn += 1) {
    for (const rows of queues) {
      const row = rows[turn]
      if (row && picked.length < room.free) picked.push(row)
    }
  }
  return { picked, more: picked.length < due.length }
}

type LaneOf = { name: string; limit: number; read: (after: Uuid, room: Room) => Promise<Due[]>; run: (id: Uuid) => Promise<void> }

/** Goes on where it stopped: a tenant that was served waits until the others were. */
const fairLane = ({ name, limit, read, run }: LaneOf): Lane => {
  let last: Uuid = noTenant
  return {
    name,
    limit,
    claim: async (room) => {
      const behind = await read(last, room)
      const due = last !== noTenant && behind.length < room.free ? [...behind, ...(await read(noTenant, room))] : behind
      const unique = [...new Map(due.map((row) => [row.id, row])).values()]
      const { picked, more } = pickFairly(unique, room)
      last = picked.at(-1)?.tenant ?? noTenant
      const tasks: Task[] = picked.map(({ id, tenant }) => ({ key: id, tenant, run: () => run(id) }))
      return { tasks, more }
    },
  }
}

const inFlightPerRail = 100

export const createPaymentLanes = (deps: Deps, subjects: Subjects): Lane[] =>
  railNames.map((rail: RailName) =>
    gatedLane(
      deps,
      rail,
      fairLane({
        name: `payments.${rail}`,
        limit: inFlightPerRail,
        read: (after, room) =>
          deps.db.query<Due>(duePayments, [deps.clock.now(), after, room.except, room.free, room.free, rail]),
        run: (id) => dispatch(deps, subjects, 'payment', id),
      }),
    ),
  )

export const createTopupLanes = (deps: Deps, subjects: Subjects): Lane[] => [
  gatedLane(
    deps,
    'MPESA_STK',
    fairLane({
      name: 'topups.MPESA_STK',
      limit: inFlightPerRail,
      read: (after, room) => deps.db.query<Due>(dueTopups, [deps.clock.now(), after, room.except, room.free, room.free]),
      run: (id) => dispatch(deps, subjects, 'topup', id),
    }),
  ),
]

const openDeliveries = statement(
  'deliveries.open',
  `select d.id, a.subject_id as tenant from callback_deliveries d join rail_attempts a on a.id = d.attempt_id
   where d.processed_at is null and d.id <> all($1::uuid[]) order by d.received_at, d.id limit $2`,
)

const deliveriesAtOnce = 6

export const createDeliveryLanes = (deps: Deps, subjects: Subjects): Lane[] => [
  {
    name: 'deliveries',
    limit: deliveriesAtOnce,
    claim: async ({ free, except }) => {
      const due = await deps.db.query<Due>(openDeliveries, [except, free])
      const tasks = due.map(({ id, tenant }) => ({ key: id, tenant, run: () => processDelivery(deps, subjects, id) }))
      return { tasks, more: due.length === free }
    },
  },
]
