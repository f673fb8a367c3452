import { inTx } from '../../../db/client.ts'
import { createHeldAccounts } from '../../../db/held-accounts.ts'
import type { Sent } from '../../../http/idempotency.ts'
import { Refusal } from '../../../lib/errors.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { currentTraceparent } from '../../../lib/tracing.ts'
import type { Deps } from '../deps.ts'
import type { PaymentRequest, PaymentResult, SubmitPayment } from '../request.ts'
import { decidePayments } from './decide-payments.ts'
import type { BatchDeps } from './write.ts'

/** A larger batch is not faster, and a batch that fails is decided again in halves. */
const mostInBatch = 64
/**
 * The second batch is decided while Postgres works on the first, but only when as many requests wait as are under way: a smaller batch
 * costs nearly as much and carries less. A third batch would only make all of them smaller.
 */
const mostUnderWay = 2
/** Batches that wait for an account that another transaction holds: each one keeps a connection. */
const mostWaiting = 2
/** More requests than this are refused at once: they would wait for longer than their callers do. */
const mostQueued = 2_000

type Entry = { request: PaymentRequest; resolve: (sent: Sent) => void; reject: (error: unknown) => void }
type Queue = { entries: Entry[]; underWay: boolean }

const unavailable = () => new Refusal('unavailable', { headers: { 'retry-after': '1' } })

const halves = <T>(items: readonly T[]): [T[], T[]] => {
  const middle = items.length >> 1
  return [items.slice(0, middle), items.slice(middle)]
}

/**
 * Collects requests for payments into batches: requests that arrive while batches are under way form the next one. When no batch is under
 * way, a request is decided alone and at once. Requests of one owning account never run at the same time in this process, and accounts take
 * turns. When a batch fails, each half of it is decided again, so that in the end only the request that caused the failure fails. Requests
 * for an account that another transaction holds go with one of the next batches; when it is held too often, they wait for it in a batch of their
 * own.
 */
export const createPaymentBatches = (deps: BatchDeps & Pick<Deps, 'db' | 'logger'>): SubmitPayment => {
  const queues = new Map<Uuid, Queue>()
  const held = createHeldAccounts()
  let queued = 0
  let underWay = 0
  let requestsUnderWay = 0
  let waiting = 0
  let scheduled = false

  const run = async (requests: readonly PaymentRequest[], wait: boolean): Promise<PaymentResult[]> => {
    try {
      return await inTx(deps.db, (tx) => decidePayments(tx, deps, requests, wait))
    } catch (error) {
      // A request that is alone, or whose outcome is unknown, is not decided again: that could pay twice.
      if (requests.length === 1 || error instanceof Refusal) throw error
      deps.logger.warn(
        { requests: requests.length, error: (error as Error).name },
        'a batch of payments is decided again in halves',
      )
      const results: PaymentResult[] = []
      for (const half of halves(requests)) results.push(...(await runEach(half, wait)))
      return results
    }
  }
  const runEach = (requests: readonly PaymentRequest[], wait: boolean): Promise<PaymentResult[]> =>
    run(requests, wait).catch((error: unknown) => {
      if (error instanceof Refusal) return requests.map(() => error)
      deps.logger.error({ error: (error as Error).name }, 'a payment could not be decided')
      return requests.map(() => new Refusal('internal_error'))
    })

  const isFree = (account: Uuid, { underWay: isUnderWay, entries }: Queue) =>
    !isUnderWay && entries.length > 0 && !held.mustWait(account)

  const freeRequests = (): number => {
    let count = 0
    for (const [account, queue] of queues) if (isFree(account, queue)) count += queue.entries.length
    return count
  }

  /** The accounts take turns, one request each, so that a busy account fills only the places that the others leave free. */
  const take = (): Map<Uuid, Entry[]> => {
    const free = [...queues].filter(([account, queue]) => isFree(account, queue))
    const taken = new Map<Uuid, Entry[]>()
    let count = 0
    for (let turn = 0, hasMore = true; hasMore && count < mostInBatch; turn += 1) {
      hasMore = false
      for (const [account, { entries }] of free) {
        const entry = entries[turn]
        if (!entry || count === mostInBatch) continue
        hasMore = true
        count += 1
        const own = taken.get(account)
        if (own) own.push(entry)
        else taken.set(account, [entry])
      }
    }
    for (const [account, own] of taken) queues.get(account)?.entries.splice(0, own.length)
    return taken
  }

  const takeBusy = (): Map<Uuid, Entry[]> => {
    for (const [account, queue] of queues) {
      if (!held.mustWait(account) || queue.underWay || queue.entries.length === 0) continue
      return new Map([[account, queue.entries.splice(0, mostInBatch)]])
    }
    return new Map()
  }

  const settle = (account: Uuid, entries: readonly Entry[], results: readonly PaymentResult[]): void => {
    const queue = queues.get(account)
    const again: Entry[] = []
    entries.forEach((entry, index) => {
      const result = results[index]
      if (result === 'busy' || result === undefined) again.push(entry)
      else if (result instanceof Refusal) entry.reject(result)
      else entry.resolve(result)
    })
    queued -= entries.length - again.length
    held.note([account], new Set(again.length > 0 ? [account] : []))
    if (!queue) return
    queue.underWay = false
    queue.entries.unshift(...again)
    if (queue.entries.length === 0) queues.delete(account)
  }

  const send = async (batch: Map<Uuid, Entry[]>, wait: boolean): Promise<void> => {
    for (const account of batch.keys()) {
      const queue = queues.get(account)
      if (queue) queue.underWay = true
    }
    const entries = [...batch.values()].flat()
    const requests = entries.map(({ request }) => request)
    let results: PaymentResult[] = []
    try {
      results = await run(requests, wait)
    } catch (error) {
      for (const entry of entries) entry.reject(error)
    }
    let from = 0
    for (const [account, own] of batch) {
      // After a failure every entry already has its answer; settling it a second time changes nothing.
      const slice = results.length > 0 ? results.slice(from, from + own.length) : own.map(() => unavailable())
      settle(account, own, slice)
      from += own.length
    }
  }

  const pump = (): void => {
    scheduled = false
    for (; underWay < mostUnderWay; underWay += 1) {
      if (underWay > 0 && freeRequests() < requestsUnderWay) break
      const batch = take()
      if (batch.size === 0) break
      const size = [...batch.values()].reduce((sum, { length }) => sum + length, 0)
      requestsUnderWay += size
      void send(batch, false).finally(() => {
        underWay -= 1
        requestsUnderWay -= size
        schedule()
      })
    }
    for (; waiting < mostWaiting; waiting += 1) {
      const batch = takeBusy()
      if (batch.size === 0) break
      void send(batch, true).finally(() => {
        waiting -= 1
        schedule()
      })
    }
  }
  /** All requests that arrive in one turn of the event loop form one batch. */
  const schedule = (): void => {
    if (scheduled || queued === 0) return
    scheduled = true
    setImmediate(pump)
  }

  return (request) =>
    new Promise((resolve, reject) => {
      if (queued >= mostQueued) return reject(unavailable())
      const account = request.principal.workspace.owningAccountId
      const entry = { request: { ...request, traceparent: currentTraceparent() }, resolve, reject }
      const queue = queues.get(account)
      if (queue) queue.entries.push(entry)
      else queues.set(account, { entries: [entry], underWay: false })
      queued += 1
      schedule()
    })
}
