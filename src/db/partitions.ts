import { type Db, statement } from './client.ts'
import type { partitionedTables } from './tables/partitioned.ts'

/** `unit`: time span of one partition. Keep them few: a query without a time condition opens each, at 0.05 ms. */
export type Partitioning = { table: (typeof partitionedTables)[number]; unit: 'week' | 'month' }

const create = statement('partitions.create')`select create_periods($1, $2, now() + $3::interval) as created`
const drop = statement('partitions.drop')`select drop_periods($1, now() - make_interval(days => $2), $3) as partition`

/** How far ahead the next partition is created, so that the job can fail for days without consequences. */
const ahead = { week: '10 days', month: '35 days' } as const

/** Creates partitions for the current and the next time span, by the database's clock. */
export const createPartitions = async (db: Db, partitionings: readonly Partitioning[]): Promise<void> => {
  for (const { table, unit } of partitionings) await db.query(create, [table, unit, ahead[unit]])
}

/** Drops partitions that ended more than `days` ago, or detaches them for archiving. Returns their names. */
export const dropPartitions = async (db: Db, table: Partitioning['table'], days: number, detach: boolean): Promise<string[]> =>
  (await db.query<{ partition: string }>(drop, [table, days, detach])).map(({ partition }) => partition)
