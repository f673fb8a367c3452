import { and, inArray, type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import type { Db } from './client.ts'
import { isUnavailable } from './errors.ts'
import { prepareWrite } from './prepare-write.ts'

/** Deletes the oldest rows from before a time: so many of them, behind those that are passed over. Answers a row for each. */
type Remove = (db: Db, batch: { before: Date; size: number; passedOver: number }) => Promise<readonly unknown[]>
export type Removal = { removal: Remove; before: Date }

/** Which rows go, and in which order: the oldest first, in the order of the index on `age` and the key where nothing else is said. */
type Old = { only?: SQL; by?: readonly PgColumn[] }

/** Declares how the rows are removed whose `age` is before a time. */
export const prepareRemoval = (name: string, key: PgColumn, age: PgColumn | SQL, { only, by }: Old = {}): Remove => {
  const { table } = key
  const remove = prepareWrite(name, { before: 'timestamptz', size: 'int', passedOver: 'int' }, (orm, at) =>
    orm
      .delete(table)
      .where(
        inArray(
          key,
          sql`(select ${key} from ${table} where ${and(only, sql`${age} < ${at.before}`)}
            order by ${sql.join([...(by ?? [age, key])], sql`, `)} limit ${at.size} offset ${at.passedOver})`,
        ),
      )
      .returning({ removed: sql<number>`1` }),
  )
  return (db, batch) => db.run(remove, batch)
}

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
      const removed = await removal(db, { before, size, passedOver })
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
