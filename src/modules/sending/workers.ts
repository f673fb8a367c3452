import { isContractSigned } from '../../auth/authority-sql.ts'
import type { OrderNames } from '../../auth/order-names.ts'
import { lockGroup } from '../../db/account-lock.ts'
import { inTx, statement, type Tx } from '../../db/client.ts'
import { pickFairly } from '../../jobs/claiming.ts'
import { type Capacity, othersAfterSeconds, type Task, type Worker } from '../../jobs/worker.ts'
import { secondsAfter } from '../../lib/clock.ts'
import { firstId, type Uuid } from '../../lib/ids.ts'
import { collectionRail, railNames } from '../../lib/rail-names.ts'
import { contended, createAccountQueue, maxInGroup } from '../../queue/account-queue.ts'
import { adapterOf, claimWithinSeconds, insertAttempts, type Outgoing, orderForRail } from '../attempts/attempt.ts'
import type { Parts } from '../parts.ts'
import { askChains, type ChainAnswers } from '../payments/evaluation/authority.ts'
import { preparePayments } from '../payments/prepare-send.ts'
import { prepareTopups } from '../topups/send.ts'
import { type OpenDelivery, openDeliveries, processDeliveries } from './process-deliveries.ts'
import { quarantineAfterFailures } from './quarantine.ts'
import { createSender, type Recorded, type SendSource } from './send.ts'

const newAttempt = (
  orderNames: OrderNames,
  { subjectId, accountId, amountMinor, seed, earlier }: Outgoing,
  generationOffset: number,
) => {
  const generation = earlier.generation + generationOffset
  const order = orderNames.orderOf(seed, generation)
  const send = earlier.sends + 1
  return { id: orderNames.attemptOf(order, send), subjectId, accountId, amountMinor, ...order, generation, send }
}

const maxGenerations = 5

/** Records the attempts. An attempt whose names belong to another payment gets the names of the next generation. */
const recordAttempts = async (tx: Tx, deps: Parts, source: SendSource, outgoing: readonly Outgoing[]): Promise<Recorded[]> => {
  const { at } = tx
  const recorded: Recorded[] = []
  let unnamed = outgoing
  for (let generationOffset = 0; unnamed.length > 0; generationOffset += 1) {
    if (generationOffset === maxGenerations) throw new Error('no free name was found for an order')
    const times = { nextCheckAt: secondsAfter(at, claimWithinSeconds), createdAt: at, updatedAt: at }
    const named = unnamed.map((each) => ({
      outgoing: each,
      attempt: { ...source, state: 'recorded' as const, ...times, ...newAttempt(deps.orderNames, each, generationOffset) },
    }))
    const rows = named.map(({ attempt }) => attempt)
    const inserted = new Set((await insertAttempts(tx, rows)).map(({ id }) => id))
    for (const { outgoing: each, attempt } of named)
      if (inserted.has(attempt.id)) recorded.push({ outgoing: each, order: orderForRail(deps, attempt) })
    unnamed = named.flatMap(({ outgoing: each, attempt }) => (inserted.has(attempt.id) ? [] : [each]))
  }
  return recorded
}

type Due = { id: Uuid; tenant: Uuid; answers: ChainAnswers }

/** Null if there is nothing to send now. A task that occurs twice is sent once. */
const claimDue = async (deps: Parts, source: SendSource, due: readonly Due[], wait: boolean) => {
  const { recorded, busy } = await inTx(deps.db, async (tx) => {
    const busy = await lockGroup(tx, { exclusive: due.map(({ tenant }) => tenant) }, wait)
    const free = due.filter(({ tenant }) => !busy.has(tenant))
    if (free.length === 0) return { recorded: [], busy }
    const ids = [...new Set(free.map(({ id }) => id))]
    const answers = new Map(free.flatMap((each) => [...each.answers]))
    const prepared = source.kind === 'payment' ? preparePayments(tx, deps, ids, answers) : prepareTopups(tx, deps, ids)
    return { recorded: await recordAttempts(tx, deps, source, await prepared), busy }
  })
  const sendable = new Map(recorded.map((each) => [each.outgoing.subjectId, each]))
  return due.map(({ id, tenant }) => {
    if (busy.has(tenant)) return contended
    const own = sendable.get(id) ?? null
    sendable.delete(id)
    return own
  })
}

/**
 * Oldest first, for at most $4 tenants after tenant $2. Reading tenant by tenant stays fast with a large backlog or many tenants.
 * $7, $8: the worker's own rows, and the due time up to which it takes others, or null. $9: the rail; a pause hides its rows.
 */
const dueByTenant = (name: string, table: string, rail: string, chainApproval: string) =>
  statement(name)`
  with recursive tenants as (
       (select account_id from ${table} where dispatch_due_at is not null ${rail} and account_id > $2 and account_id <> all($6::uuid[])
          and not exists (select from rail_pauses where rail = $9) order by account_id limit 1)
       union all
       select (select account_id from ${table} where dispatch_due_at is not null ${rail} and account_id > tenants.account_id and account_id <> all($6::uuid[]) order by account_id limit 1)
       from tenants where tenants.account_id is not null
     )
     select due.id, tenant.account_id as tenant, ${chainApproval} as "chainApprovalId" from (select account_id from tenants where account_id is not null limit $4) as tenant
     cross join lateral (
       select * from ${table}
       where dispatch_due_at <= $1 ${rail} and account_id = tenant.account_id and id <> all($3::uuid[])
         and ($7::uuid[] is null or dispatch_due_at <= $8 or id = any($7))
       order by dispatch_due_at, id limit $5) as due
     order by due.dispatch_due_at, due.id`
const chainApproval = `(select d.approval_id from approval_decisions d where d.approval_id = due.approval_id and ${isContractSigned('d')} limit 1)`

const duePayments = dueByTenant('dispatch.due_payments', 'payments', 'and rail = $9', chainApproval)
const dueTopups = dueByTenant('dispatch.due_topups', 'topups', '', 'null::uuid')

/** `chainApprovalId`: the approval that a chain must confirm before money is sent. */
type DueRow = Omit<Due, 'answers'> & { chainApprovalId: Uuid | null }

/** Continues after the tenant that was served last. `blockedTenants` cannot be served now. */
const createFairReader = (read: (after: Uuid, capacity: Capacity, blockedTenants: readonly Uuid[]) => Promise<DueRow[]>) => {
  let last = firstId
  return async (capacity: Capacity, blockedTenants: readonly Uuid[]): Promise<{ picked: DueRow[]; more: boolean }> => {
    const afterLast = await read(last, capacity, blockedTenants)
    const due =
      last !== firstId && afterLast.length < capacity.free
        ? [...afterLast, ...(await read(firstId, capacity, blockedTenants))]
        : afterLast
    const fair = pickFairly([...new Map(due.map((row) => [row.id, row])).values()], capacity)
    last = fair.picked.at(-1)?.tenant ?? firstId
    return fair
  }
}

const sendingWorker = (deps: Parts, source: SendSource, send: ReturnType<typeof createSender>): Worker => {
  const name = `${source.kind}s.${source.rail}`
  const readFairly = createFairReader((after, { except, free, dueHere = null }, blockedTenants) => {
    const now = deps.clock.now()
    const values = [now, after, except, free, free, blockedTenants, dueHere, secondsAfter(now, -othersAfterSeconds), source.rail]
    return deps.db.query<DueRow>(source.kind === 'payment' ? duePayments : dueTopups, values)
  })
  const queue = createAccountQueue<Due, Recorded | null>({
    name,
    logger: deps.logger,
    work: (due, wait) => claimDue(deps, source, due, wait),
    maxShared: 1,
    maxWaiting: 3,
  })
  const taskOf = ({ id, tenant, chainApprovalId }: DueRow): Task => ({
    key: id,
    tenant,
    run: async () => {
      const answers: Due['answers'] = chainApprovalId === null ? new Map() : await askChains(deps, chainApprovalId)
      const recorded = await queue.submit(tenant, { id, tenant, answers })
      if (recorded) await send(source, recorded)
    },
  })
  return {
    name,
    rail: source.rail,
    limit: deps.config.RAIL_CONCURRENCY,
    // Takes nothing while the rail is down or the database may have lost writes. Tasks then stay due, and no try is counted. A
    // rail that may work again gets one trial call.
    claim: async (offered) => {
      if (deps.lossDetection.trusted() === undefined) await deps.lossDetection.check()
      if (deps.lossDetection.trusted() === undefined) return { tasks: [], more: false }
      const capacity = { ...offered, free: Math.min(offered.free, deps.rails.gates[source.rail].free()) }
      if (capacity.free === 0) return { tasks: [], more: false }
      await queue.ready()
      // Skips accounts that wait for their locks, because more of their rows would take capacity from other accounts.
      const blockedTenants = [...capacity.full, ...queue.contended()]
      const { picked, more } = await readFairly(capacity, blockedTenants)
      if (picked.length > 0) await adapterOf(deps.rails, source.rail)?.ready()
      return { tasks: picked.map(taskOf), more: more || blockedTenants.length > 0 }
    },
  }
}

export const createSendingWorkers = (deps: Parts): { payments: Worker[]; topups: Worker[] } => {
  const send = createSender(deps)
  return {
    payments: railNames.map((rail) => sendingWorker(deps, { kind: 'payment', rail }, send)),
    topups: [sendingWorker(deps, { kind: 'topup', rail: collectionRail }, send)],
  }
}

/** Maximum number of deliveries that are read but not yet processed. They need no connection until their group begins. */
const maxUnprocessed = 256

/** Deliveries that arrive during a group form the next group. A delivery that has failed is processed alone. */
export const createDeliveryWorker = (deps: Parts): Worker => {
  const queue = createAccountQueue<OpenDelivery, void>({
    name: 'deliveries',
    logger: deps.logger,
    work: (group, wait) => processDeliveries(deps, group, wait),
    maxShared: 1,
    maxWaiting: 3,
  })
  const taskOf = (row: OpenDelivery): Task => ({
    key: row.id,
    tenant: row.tenant,
    run: () => quarantineAfterFailures(deps, row, queue.submit(row.tenant, row, { alone: row.failures > 0 })),
  })
  return {
    name: 'deliveries',
    limit: maxUnprocessed,
    claim: async (capacity) => {
      await queue.ready()
      const others = secondsAfter(deps.clock.now(), -othersAfterSeconds)
      // Leaves out accounts that can take no more now, because their deliveries could fill the list.
      const full = [...capacity.full, ...queue.contended()]
      const taken = capacity.except
      const open = await deps.db.run(openDeliveries, { taken, full, own: capacity.dueHere, others, take: maxUnprocessed })
      const { picked } = pickFairly(open, { ...capacity, free: Math.min(capacity.free, maxInGroup) })
      return { tasks: picked.map(taskOf), more: open.length > 0 || full.length > 0 }
    },
  }
}
