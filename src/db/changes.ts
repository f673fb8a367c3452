import { type AnyColumn, and, asc, type SQL, sql } from 'drizzle-orm'
import { firstId, type Uuid } from '../lib/ids.ts'
import { only } from '../lib/lists.ts'
import type { Db } from './client.ts'
import { ownedBy, type Selected } from './list-queries.ts'
import { type Placeholders, prepareText } from './prepare.ts'

// Lists rows in the order of their changes. A trigger sets `changed` to the writing transaction, even for the previous release.

/** `settledAtStart`: all transactions before it had ended when the list began, so older changes are compared by time alone. */
export type ChangePosition = { transaction: string; id: Uuid; settledAtStart: string }

/** Request for one page. `settled`: the oldest transaction that may still change rows. The page ends before it. */
export type ChangesRequest = { position: ChangePosition; since: Date; settled: string; take: number }

export const changeParameters = {
  since: 'timestamptz',
  settledAtStart: 'xid8',
  settled: 'xid8',
  transaction: 'xid8',
  id: 'uuid',
  take: 'rows',
} as const

export const changeValues = ({ position, ...rest }: ChangesRequest) => ({ ...rest, ...position })

/** Reads one page, oldest change first. */
export const inOrderOfChange = <Query>(
  query: Selected<Query>,
  { workspaceId, changed, id, updatedAt }: Record<'workspaceId' | 'changed' | 'id' | 'updatedAt', AnyColumn>,
  param: Placeholders<typeof changeParameters> & { workspaceId: SQL },
  condition?: SQL,
): Query =>
  query
    .where(
      and(
        ownedBy(workspaceId, param.workspaceId),
        sql`(${workspaceId}, ${changed}, ${id}) > (${param.workspaceId}, ${param.transaction}, ${param.id})`,
        sql`${changed} < ${param.settled}`,
        sql`(${updatedAt} > ${param.since} or ${changed} >= ${param.settledAtStart})`,
        condition,
      ),
    )
    .orderBy(asc(workspaceId), asc(changed), asc(id))
    .limit(param.take)

/**
 * Finds the transaction at which changes since a time begin, from an audit row 20 minutes older: longer than any transaction or
 * clock difference. Starts at '0' (all changes) if the clock was set, or before the workspace's first tracked change.
 */
const changeBoundsOf = (table: string) =>
  prepareText<{ settled: string; start: string }>()(
    `${table}.change_edges`,
    { workspace_id: 'uuid', since: 'timestamptz' },
    `select events_settled_before()::text as settled, coalesce((
       select near.transaction::text from (
         select a.transaction, a.at from audit_log a where a.id < first_id_at(key.since - interval '20 minutes') order by a.id desc limit 1) as near
       where near.at <= key.since and near.transaction > (
         select c.changed from ${table} c where c.workspace_id = key.workspace_id and c.changed > '0' order by c.changed limit 1)), '0') as start`,
    'pool',
  )
const changeBounds = { payments: changeBoundsOf('payments'), payment_batches: changeBoundsOf('payment_batches') }

export type ChangesQuery = { workspaceId: Uuid; since: Date; from: ChangePosition | undefined; take: number }

/** Runs on the primary, because a standby does not know which transactions are open. */
export const readChanges = async <Row>(
  db: Db,
  table: keyof typeof changeBounds,
  { workspaceId, since, from, take }: ChangesQuery,
  read: (request: ChangesRequest) => Promise<readonly Row[]>,
): Promise<{ rows: readonly Row[]; settledAtStart: string }> => {
  const { settled, start } = only(await db.run(changeBounds[table], { workspace_id: workspaceId, since }))
  const position = from ?? { transaction: start, id: firstId, settledAtStart: settled }
  return { rows: await read({ position, since, settled, take }), settledAtStart: position.settledAtStart }
}
