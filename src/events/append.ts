import { lockFurtherAccounts } from '../db/account-lock.ts'
import { type AtCommitWrite, emitAfterCommit, signal, type Tx } from '../db/client.ts'
import { DriverValue, insertRows } from '../db/prepare-write.ts'
import { events } from '../db/tables/events.ts'
import { newId, type Uuid } from '../lib/ids.ts'
import { byChunks } from '../lib/lists.ts'
import { changesOf, type Fields } from './stored-data.ts'
import type { accessDisabled, EventType } from './types.ts'

/** `data`: the resource as the API returns it. `snapshot`: as returned at its creation. Null workspace: for the account only. */
export type NewEvent = { type: EventType | typeof accessDisabled; accountId: Uuid; workspaceId: Uuid | null } & (
  | { data: unknown }
  | { paymentId: Uuid }
  | { paymentId: Uuid; data: Fields; snapshot: Fields }
)

export const eventsCommitted = signal<{ at: Date; events: readonly NewEvent[] }>('events')

const storedText = (event: NewEvent): string | null => {
  if ('snapshot' in event) return JSON.stringify(changesOf(event.snapshot, event.data))
  return 'data' in event ? JSON.stringify(event.data) : null
}

/** Serialises the data now, because it may change later in the transaction. Readers get events in the order of these ids. */
const rowOf = (event: NewEvent, at: Date) => {
  const { type, accountId, workspaceId } = event
  const paymentId = 'paymentId' in event ? event.paymentId : null
  return { id: newId(), type, accountId, workspaceId, paymentId, data: new DriverValue(storedText(event)), createdAt: at }
}

const eventRows: AtCommitWrite<ReturnType<typeof rowOf>> = { write: (tx, rows) => insertRows(tx, events, rows) }

/** Runs in the transaction that causes the events. Streams are woken later: NOTIFY inside would serialise all commits. */
export const appendEvents = async (tx: Tx, all: readonly NewEvent[]): Promise<void> => {
  if (all.length === 0) return
  emitAfterCommit(tx, eventsCommitted, { at: tx.at, events: all })
  const collect = (chunk: readonly NewEvent[]) =>
    tx.writeAtCommit(
      eventRows,
      chunk.map((event) => rowOf(event, tx.at)),
    )
  // Locks only for callers that learn the account after a write (a sign-in). All other callers already have the lock.
  await Promise.all([lockFurtherAccounts(tx, ...all.map(({ accountId }) => accountId)), byChunks(all, collect)])
}
