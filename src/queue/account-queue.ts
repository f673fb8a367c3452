import type { Logger } from 'pino'
import { describeError } from '../db/errors.ts'
import { isTemporary, unavailable } from '../lib/errors.ts'
import type { Uuid } from '../lib/ids.ts'

/**
 * Processes work on accounts in groups: one transaction for many accounts. An account's entries form a line with four states:
 *
 *     submit ──▶ open ──── a shared group has a place ────▶ shared
 *                 ▲                                           │
 *                 ├─── done or failed, and more entries came ─┤
 *                 ├─── its lock contended, fewer than eight ──┤
 *                 │    times in succession                    │ the eighth time
 *                 │                                           ▼
 *                 └─── more entries came ─── waiting ◀─── contended
 *                                               a place to wait is free
 *
 * - open: entries join the next shared group. Lines take turns, one entry each, so a busy account fills only spare places.
 * - shared: some entries are in a shared group, which locks the free accounts and waits for none. If another transaction has
 *   locked the account, its entries return to the line.
 * - contended, waiting: the line has its own group, which waits for the lock. Such a group needs a transaction and a connection
 *   for a single account, so only a few can wait. An entry that is submitted alone has its own line, which starts here.
 *
 * An account is never in two groups, so its entries are processed in order, except those submitted alone or in a failed group. A
 * failed group is repeated in halves, one after the other, so that only the entry at fault fails. If the database was
 * unavailable, the group may have been committed: it is not repeated, and all of its entries fail.
 */
export type AccountQueue<Entry, Result> = ReturnType<typeof createAccountQueue<Entry, Result>>

export const contended = Symbol('contended')
export type Outcome<Result> = Result | Error | typeof contended

export type AccountQueueOptions<Entry, Result> = {
  name: string
  logger: Pick<Logger, 'warn'>
  /** Runs in one transaction and returns an outcome per entry, in order. With `wait`, it waits for the lock of its only line. */
  work: (entries: readonly Entry[], wait: boolean) => Promise<readonly Outcome<Result>[]>
  /** Maximum number of concurrent shared groups. The second is prepared while the first runs. A third gains nothing. */
  maxShared: number
  maxWaiting: number
  /** Default: no limit. Further entries are refused at once, because their callers would not wait that long. */
  maxQueued?: number
}

/** Larger groups are not faster. */
export const maxInGroup = 64
/** After this many consecutive contentions, a line waits for its lock. */
const maxContentions = 8

type Waiter<Entry, Result> = { entry: Entry; resolve: (result: Result) => void; reject: (error: Error) => void }
type Line<Entry, Result> = {
  /** Null for the line of an entry that was submitted alone. */
  account: Uuid | null
  state: 'open' | 'shared' | 'contended' | 'waiting'
  waiters: Waiter<Entry, Result>[]
  contentions: number
}
type Part<Entry, Result> = { line: Line<Entry, Result>; taken: Waiter<Entry, Result>[] }

const sizeOf = (parts: readonly { taken: readonly unknown[] }[]): number =>
  parts.reduce((sum, { taken }) => sum + taken.length, 0)

/** Takes one entry from each line in turn. */
const takeTurns = <Entry, Result>(lines: readonly Line<Entry, Result>[]): Part<Entry, Result>[] => {
  const counts = new Map<Line<Entry, Result>, number>()
  let slotsLeft = maxInGroup
  for (let turn = 1, left = lines; slotsLeft > 0 && left.length > 0; turn += 1) {
    for (const line of left.slice(0, slotsLeft)) counts.set(line, turn)
    slotsLeft -= Math.min(slotsLeft, left.length)
    left = left.filter(({ waiters }) => waiters.length > turn)
  }
  return [...counts].map(([line, count]) => ({ line, taken: line.waiters.splice(0, count) }))
}

export const createAccountQueue = <Entry, Result>(options: AccountQueueOptions<Entry, Result>) => {
  type OwnLine = Line<Entry, Result>
  const { name, logger, work, maxShared, maxWaiting, maxQueued = Number.POSITIVE_INFINITY } = options
  const lines = new Set<OwnLine>()
  const byAccount = new Map<Uuid, OwnLine>()
  const slots = { shared: maxShared, waiting: maxWaiting }
  let queued = 0
  let inShared = 0
  let scheduled = false
  const waitingReaders: (() => void)[] = []

  const linesIn = (state: OwnLine['state']): OwnLine[] => [...lines].filter((line) => line.state === state)

  const done = async (group: readonly Waiter<Entry, Result>[], wait: boolean): Promise<readonly Outcome<Result>[]> => {
    try {
      return await work(
        group.map(({ entry }) => entry),
        wait,
      )
    } catch (error) {
      const failure = error instanceof Error ? error : new Error(String(error))
      if (group.length === 1 || isTemporary(failure)) return group.map(() => failure)
      logger.warn(
        { queue: name, entries: group.length, ...describeError(failure) },
        'a group of writes failed; it is retried in halves',
      )
      const middle = group.length >> 1
      const first = await done(group.slice(0, middle), wait)
      return [...first, ...(await done(group.slice(middle), wait))]
    }
  }

  const settle = ({ line, taken }: Part<Entry, Result>, outcomes: readonly Outcome<Result>[]): void => {
    const back: Waiter<Entry, Result>[] = []
    for (const [index, waiter] of taken.entries()) {
      const outcome = outcomes[index] as Outcome<Result>
      if (outcome === contended) back.push(waiter)
      else if (outcome instanceof Error) waiter.reject(outcome)
      else waiter.resolve(outcome)
    }
    queued -= taken.length - back.length
    line.waiters.unshift(...back)
    line.contentions = back.length > 0 ? line.contentions + 1 : 0
    line.state = line.contentions >= maxContentions ? 'contended' : 'open'
    // Moves the line to the end, so that with more lines than places each gets its turn.
    lines.delete(line)
    if (line.waiters.length > 0) lines.add(line)
    else if (line.account) byAccount.delete(line.account)
  }

  const begin = async (parts: readonly Part<Entry, Result>[], state: 'shared' | 'waiting'): Promise<void> => {
    const size = state === 'shared' ? sizeOf(parts) : 0
    slots[state] -= 1
    inShared += size
    for (const { line } of parts) line.state = state
    const outcomes = await done(
      parts.flatMap(({ taken }) => taken),
      state === 'waiting',
    )
    let from = 0
    for (const part of parts) {
      settle(part, outcomes.slice(from, from + part.taken.length))
      from += part.taken.length
    }
    slots[state] += 1
    inShared -= size
    for (const resolve of waitingReaders.splice(0)) resolve()
    schedule()
  }

  const pump = (): void => {
    scheduled = false
    while (slots.shared > 0) {
      const open = linesIn('open')
      if (open.length === 0 || open.reduce((sum, { waiters }) => sum + waiters.length, 0) < inShared) break
      void begin(takeTurns(open), 'shared')
    }
    for (const line of linesIn('contended').slice(0, slots.waiting))
      void begin([{ line, taken: line.waiters.splice(0, maxInGroup) }], 'waiting')
  }
  /** Groups all entries that arrive in one turn of the event loop. */
  const schedule = (): void => {
    if (scheduled || queued === 0) return
    scheduled = true
    setImmediate(pump)
  }

  const lineFor = (account: Uuid, alone: boolean): OwnLine => {
    const known = alone ? undefined : byAccount.get(account)
    if (known) return known
    const line: OwnLine = { account: alone ? null : account, state: alone ? 'contended' : 'open', waiters: [], contentions: 0 }
    lines.add(line)
    if (!alone) byAccount.set(account, line)
    return line
  }

  return {
    /** Resolves with the result of `work` for this entry. `alone`: in a separate group, for an entry that failed before. */
    submit: (account: Uuid, entry: Entry, { alone } = { alone: false }): Promise<Result> =>
      new Promise((resolve, reject) => {
        if (queued >= maxQueued)
          return reject(unavailable({ shortage: 'queue_full', message: `Too many ${name} wait already. Try again.` }))
        lineFor(account, alone).waiters.push({ entry, resolve, reject })
        queued += 1
        schedule()
      }),
    /** Resolves when a shared group may begin. Readers that look then find all entries that arrived during the last group. */
    ready: (): Promise<void> =>
      slots.shared > 0 ? Promise.resolve() : new Promise((resolve) => void waitingReaders.push(resolve)),
    /** Accounts whose lines wait, because their locks were contended too often. */
    contended: (): Uuid[] =>
      [...byAccount.values()].flatMap(({ account, state }) =>
        account && (state === 'contended' || state === 'waiting') ? [account] : [],
      ),
  }
}
