import type { Db, Statement } from './client.ts'

const batch = 5_000

/** Runs `delete … limit $2` until it finds nothing more that is older than `before`: no long transaction, no long lock. */
export const pruneInBatches = async (db: Db, removal: Statement, before: Date): Promise<void> => {
  for (let more = true; more; ) more = (await db.query(removal, [before, batch])).length === batch
}
