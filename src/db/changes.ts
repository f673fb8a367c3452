import { type AnyColumn, and, asc, type SQL, sql } from 'drizzle-orm'
import { firstId, type Uuid } from '../lib/ids.ts'
import { only } from '../lib/lists.ts'
import type { Db } from './client.ts'
import { ownedBy, type Selected } from './list-queries.ts'
import { type Places, prepareText } from './prepare.ts'

// Rows in the order of their changes. A trigger writes the transaction of each change to the row (`changed`), also for the version before.

/** `seen`: before this transaction everything had ended when the list was begun, so a row changed until then goes by its time alone. */
export type ChangePlace = { transaction: string; id: Uuid; seen: string }

/** A part of the list. `settled`: it ends before this transaction, the oldest that may still change a row. */
export type ChangesRequest = { place: ChangePlace; since: Date; settled: string; take: number }

export const changePlaces = {
  since: 'timestamptz',
  seen: 'xid8',
  settled: 'xid8',
  afterTransaction: 'xid8',
  afterId: 'uuid',
  take: 'rows',
} as const

export const changeValues = ({ place, since, settled, take }: ChangesRequest) => ({
  ...{ since, settled, take, seen: place.seen, afterTransaction: place.transaction, afterId: place.id },
})

/** A page, oldest change first. */
export const inOrderOfChange = <Query>(
  query: Selected<Query>,
  { workspaceId, changed, id, updatedAt }: Record<'workspaceId' | 'changed' | 'id' | 'updatedAt', AnyColumn>,
  at: Places<typeof changePlaces> & { workspaceId: SQL },
  condition?: SQL,
): Query =>
  query
    .where(
      and(
        ownedBy(workspaceId, at.workspaceId),
        sql`(${workspaceId}, ${changed}, ${id}) > (${at.workspaceId}, ${at.afterTransaction}, ${at.afterId})`,
        sql`${changed} < ${at.settled}`,
        sql`(${updatedAt} > ${at.since} or ${changed} >= ${at.seen})`,
        condition,
      ),
    )
    .orderBy(asc(workspaceId), asc(changed), asc(id))
    .limit(at.take)

/**
 * Where the changes after a time begin: at the transaction of an audit row that is 20 minutes older, more than a transaction lasts and clocks differ.
 * At the beginning if the clock is set, and for times before the workspace's first change with a transaction: older rows have '0'.
 */
const edgesOf = (table: string) =>
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
const edges = { payments: edgesOf('payments'), payment_batches: edgesOf('payment_batches') }

export type AskedChanges = { workspaceId: Uuid; since: Date; from: ChangePlace | undefined; take: number }

/** On the primary: a standby does not know which transactions are open. */
export const readChanges = async <Row>(
  db: Db,
  table: keyof typeof edges,
  { workspaceId, since, from, take }: AskedChanges,
  read: (request: ChangesRequest) => Promise<readonly Row[]>,
): Promise<{ rows: readonly Row[]; seen: string }> => {
  const { settled, start } = only(await db.run(edges[table], { workspace_id: workspaceId, since }))
  const place = from ?? { transaction: start, id: firstId, seen: settled }
  return { rows: await read({ place, since, settled, take }), seen: place.seen }
}
