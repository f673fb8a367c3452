import type { Uuid } from '../lib/ids.ts'

/** Most transactions hold an account for a few milliseconds. So often batches pass over an account that is held; then one waits for it. */
const mostPassed = 8
/** An account whose work another process did is not tried again, so its count would stay. */
const mostCounted = 1_000

export type HeldAccounts = {
  /** After a batch: the accounts that it wanted to lock, and those of them that another transaction held. */
  note: (wanted: readonly Uuid[], held: ReadonlySet<Uuid>) => void
  /** After a transaction that waited for it. */
  forget: (account: Uuid) => void
  /** Whether it was held so often in succession that a transaction waits for its lock. */
  mustWait: (account: Uuid) => boolean
}

/**
 * Work of many accounts goes in batches that lock the accounts that are free. What belongs to the others goes with one of the next batches:
 * a transaction that waits for one account carries that account's work only, and costs as much as a batch.
 */
export const createHeldAccounts = (): HeldAccounts => {
  const counts = new Map<Uuid, number>()
  return {
    note: (wanted, held) => {
      if (counts.size > mostCounted) counts.clear()
      for (const account of new Set(wanted)) {
        if (held.has(account)) counts.set(account, (counts.get(account) ?? 0) + 1)
        else counts.delete(account)
      }
    },
    forget: (account) => void counts.delete(account),
    mustWait: (account) => (counts.get(account) ?? 0) >= mostPassed,
  }
}
