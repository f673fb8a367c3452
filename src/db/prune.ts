import { and, inArray, type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import type { Db } from './client.ts'
import { isUnavailable } from './errors.ts'
import { prepareWrite } from './prepare-write.ts'

/** Deletes the oldest rows from before a given time, skipping the first `skipped`. Returns one row for each deleted row. */
type Remove = (db: Db, batch: { before: Date; size: number; skipped: number }) => Promise<readonly unknown[]>
export type Removal = { removal: Remove; before: Date }

/** `orderBy`: deletion order. Default: the index on `age`, then the key. */
type Options = { condition?: SQL | ((before: SQL) => SQL); orderBy?: readonly PgColumn[] }

export const prepareRemoval = (
  name: string,
  key: PgColumn,
  age: PgColumn | SQL,
  { condition, orderBy }: Options = {},
): Remove => {
  const { table } = key
  const remove = prepareWrite(name, { before: 'timestamptz', size: 'int', skipped: 'int' }, (orm, param) =>
    orm
      .delete(table)
      .where(
        inArray(
          key,
          sql`(select ${key} from ${table} where ${and(typeof condition === 'function' ? condition(param.before) : condition, sql`${age} < ${param.before}`)}
            order by ${sql.join([...(orderBy ?? [age, key])], sql`, `)} limit ${param.size} offset ${param.skipped})`,
        ),
      )
      .returning({ removed: sql<number>`1` }),
  )
  return (db, batch) => db.run(remove, batch)
}

const batchSize = 5_000
const maxSkipped = 20

/** Deletes in batches, which are halved on failure until the row at fault is found and skipped. Returns the last error. */
const removeAll = async (db: Db, { removal, before }: Removal): Promise<unknown> => {
  let failure: unknown
  let size = batchSize
  let skipped = 0
  for (let more = true; more; ) {
    try {
      const removed = await removal(db, { before, size, skipped })
      more = removed.length === size
      size = Math.min(batchSize, 2 * size)
    } catch (error) {
      if (isUnavailable(error)) throw error
      failure = error
      if (size === 1) skipped += 1
      size = Math.max(1, Math.floor(size / 2))
      more = skipped < maxSkipped
    }
  }
  return failure
}

/** Throws only after deleting everything that can be deleted. */
export const prune = async (db: Db, ...removals: readonly Removal[]): Promise<void> => {
  const failures: unknown[] = []
  for (const each of removals) failures.push(await removeAll(db, each))
  const failure = failures.find((error) => error !== undefined)
  if (failure !== undefined) throw failure
}
