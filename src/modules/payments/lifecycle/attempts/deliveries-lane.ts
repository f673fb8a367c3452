import { statement } from '../../../../db/client.ts'
import { describeError } from '../../../../db/errors.ts'
import { createHeldAccounts } from '../../../../db/held-accounts.ts'
import type { Lane, Room, Task } from '../../../../jobs/lane.ts'
import type { Uuid } from '../../../../lib/ids.ts'
import type { Deps } from '../../deps.ts'
import { tenantsOf } from './claim.ts'
import { isRowKey, pickFairly } from './fair.ts'
import { isDeliveryFailure, type OpenDelivery, processAlone, processFree, processWaiting } from './process-deliveries.ts'
import type { Subjects } from './subject.ts'

const openDeliveries = statement(
  'deliveries.open',
  `select d.id, d.attempt_id as "attemptId", a.kind, a.subject_id as "subjectId", coalesce(p.account_id, t.account_id) as tenant,
     coalesce(p.traceparent, t.traceparent) as traceparent, d.failures
   from callback_deliveries d join rail_attempts a on a.id = d.attempt_id
     left join payments p on a.kind = 'payment' and p.id = a.subject_id left join topups t on a.kind = 'topup' and t.id = a.subject_id
   where d.processed_at is null and d.id <> all($1::uuid[]) order by d.received_at, d.id limit $2`,
)

/** Tasks under way. Each holds a connection, and the ones that wait for an account hold it for long: fewer than the pool has. */
const tasksAtOnce = 6
const mostWaitingAccounts = 3
/** A larger batch is not faster, and a batch that fails is processed one by one. */
const mostInBatch = 64
/** How many deliveries of one tenant are passed over to find those of others. */
const deliveriesRead = 256

const batchKey = 'batch'
const accountKey = (tenant: Uuid): string => `account ${tenant}`

/** The first of each subject: one transaction settles a subject once. */
const firstOfEachSubject = (rows: readonly OpenDelivery[]): OpenDelivery[] =>
  [...new Map(rows.toReversed().map((row) => [row.subjectId, row])).values()].reverse()

/**
 * Deliveries that arrive while a batch is under way form the next one. Deliveries of an account that another transaction holds go
 * with the next batch too; when it is held too often, they wait for it in a batch of their own, so they delay only themselves. When a batch fails, its deliveries are processed one by one, and one that has failed
 * is never in a batch again.
 */
export const createDeliveriesLane = (
  deps: Pick<Deps, 'alerts' | 'appendEvents' | 'config' | 'db' | 'logger' | 'rails' | 'vault'>,
  subjects: Subjects,
): Lane => {
  const underWay = new Set<Uuid>()
  const alone = new Set<Uuid>()
  const busy = new Set<Uuid>()
  const held = createHeldAccounts()

  const singles = (rows: readonly OpenDelivery[], room: Room): Task[] =>
    pickFairly(rows, room).picked.map((row) => ({
      key: row.id,
      tenant: row.tenant,
      run: async () => {
        await processAlone(deps, subjects, row)
        alone.delete(row.id)
      },
    }))

  const batchTask = (key: string, tenant: string, batch: readonly OpenDelivery[], process: () => Promise<void>): Task => {
    for (const { id } of batch) underWay.add(id)
    return {
      key,
      tenant,
      run: async () => {
        try {
          await process()
        } catch (error) {
          if (!isDeliveryFailure(error)) throw error
          deps.logger.warn(
            { deliveries: batch.length, ...describeError(error) },
            'the deliveries of a batch are processed one by one',
          )
          for (const { id } of batch) alone.add(id)
        } finally {
          for (const { id } of batch) underWay.delete(id)
        }
      },
    }
  }

  const waiting = (rows: readonly OpenDelivery[], { free, except }: Room): Task[] => {
    const tasks: Task[] = []
    const waitedFor = except.filter((key) => key.startsWith(accountKey(''))).length
    for (const [tenant, own] of Map.groupBy(rows, (row) => row.tenant)) {
      if (tasks.length >= free || waitedFor + tasks.length >= mostWaitingAccounts) break
      if (except.includes(accountKey(tenant))) continue
      const batch = firstOfEachSubject(own).slice(0, mostInBatch)
      const process = () =>
        processWaiting(deps, subjects, batch).finally(() => {
          busy.delete(tenant)
          held.forget(tenant)
        })
      tasks.push(batchTask(accountKey(tenant), tenant, batch, process))
    }
    return tasks
  }

  const together = (rows: readonly OpenDelivery[], { free, except }: Room): Task[] => {
    if (free < 1 || rows.length === 0 || except.includes(batchKey)) return []
    const { picked } = pickFairly(firstOfEachSubject(rows), { free: mostInBatch, ofTenant: () => mostInBatch })
    const process = async () => {
      const passed = await processFree(deps, subjects, picked)
      held.note(tenantsOf(picked), passed)
      for (const tenant of passed) if (held.mustWait(tenant)) busy.add(tenant)
    }
    return [batchTask(batchKey, batchKey, picked, process)]
  }

  return {
    name: 'deliveries',
    limit: tasksAtOnce,
    claim: async (room) => {
      // Nothing but the next batch could begin, and that waits for this one.
      if (room.except.includes(batchKey) && alone.size + busy.size === 0) return { tasks: [], more: true }
      const except = [...room.except.filter(isRowKey), ...underWay]
      const open = await deps.db.query<OpenDelivery>(openDeliveries, [except, deliveriesRead])
      const isAlone = ({ id, failures }: OpenDelivery) => failures > 0 || alone.has(id)
      const [own, others] = [open.filter(isAlone), open.filter((row) => !isAlone(row))]
      const free = others.filter(({ tenant }) => !busy.has(tenant))
      const tasks = together(free, room)
      const left = () => ({ ...room, free: room.free - tasks.length })
      tasks.push(
        ...waiting(
          others.filter(({ tenant }) => busy.has(tenant)),
          left(),
        ),
      )
      tasks.push(...singles(own, left()))
      return { tasks, more: open.length > 0 }
    },
  }
}
