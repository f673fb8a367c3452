import type { Db, Statement } from './client.ts'
import { isUnavailable } from './errors.ts'

/** Deletes the oldest rows from before $1, $2 of them, behind the first $3, and answers a row for each. */
export type Removal = { removal: Statement; before: Date }

const batch = 5_000
const mostPassedOver = 20

/**
 * Until nothing more is old enough: no long transaction, no long lock. A batch that fails is cut in half until the row is found that
 * cannot be deleted; that row is passed over, so it keeps none of the others. Answers the last failure.
 */
const removeAll = async (db: Db, { removal, before }: Removal): Promise<unknown> => {
  let failure: unknown
  let size = batch
  let passedOver = 0
  for (let more = true; more; ) {
    try {
      const removed = await db.query(removal, [before, size, passedOver])
      more = removed.length === size
      size = Math.min(batch, 2 * size)
    } catch (error) {
      if (isUnavailable(error)) throw error
      failure = error
      if (size === 1) passedOver += 1
      size = Math.max(1, Math.floor(size / 2))
      more = passedOver < mostPassedOver
    }
  }
  return failure
}

/** Fails only after everything that can be deleted is: then the sweep is reported, and its next run tries again what was passed over. */
export const prune = async (db: Db, ...removals: readonly Removal[]): Promise<void> => {
  const failures: unknown[] = []
  for (const each of removals) failures.push(await removeAll(db, each))
  const failure = failures.find((error) => error !== undefined)
  if (failure !== undefined) throw failure
}
