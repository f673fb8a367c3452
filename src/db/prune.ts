import type { Db, Statement } from './client.ts'

const batch = 5_000

/** Runs `delete … limit $2` until no row older than `before` is left: no long transaction, no long lock. */
export const pruneInBatches = async (db: Db, removal: Statement, before: Date): Promise<void> => {
  for (let more = true; more; ) more = (await db.query(removal, [before, batch])).length === batch
}
