import { lockFurtherAccounts } from '../db/account-lock.ts'
import { type AtCommitWrite, emitAfterCommit, signal, type Tx } from '../db/client.ts'
import { insertRows, Sent } from '../db/prepare-write.ts'
import { events } from '../db/tables/events.ts'
import { newId, type Uuid } from '../lib/ids.ts'
import { byChunks } from '../lib/lists.ts'
import { changesOf, type Fields } from './stored-data.ts'
import type { EventType } from './types.ts'

/** `data`: the resource as in REST. With a `snapshot`: the present payment. Without a workspace: only for the account. */
export type NewEvent = { type: EventType; accountId: Uuid; workspaceId: Uuid | null } & (
  | { data: unknown }
  | { paymentId: Uuid }
  | { paymentId: Uuid; data: Fields; snapshot: Fields }
)

export const eventsCommitted = signal<{ at: Date; events: readonly NewEvent[] }>('events')

const storedText = (event: NewEvent): string | null => {
  if ('snapshot' in event) return JSON.stringify(changesOf(event.snapshot, event.data))
  return 'data' in event ? JSON.stringify(event.data) : null
}

/** The event's present data, which may change later in the transaction. Readers get events in the order of these ids. */
const rowOf = (event: NewEvent, at: Date) => {
  const { type, accountId, workspaceId } = event
  const paymentId = 'paymentId' in event ? event.paymentId : null
  return { id: newId(), type, accountId, workspaceId, paymentId, data: new Sent(storedText(event)), createdAt: at }
}

const written: AtCommitWrite<ReturnType<typeof rowOf>> = { write: (tx, rows) => insertRows(tx, events, rows) }

/** Runs in the transaction of their cause. Streams are woken after it, because a notify inside would queue all commits. */
export const appendEvents = async (tx: Tx, all: readonly NewEvent[]): Promise<void> => {
  if (all.length === 0) return
  emitAfterCommit(tx, eventsCommitted, { at: tx.at, events: all })
  const gather = (chunk: readonly NewEvent[]) =>
    tx.writeAtCommit(
      written,
      chunk.map((event) => rowOf(event, tx.at)),
    )
  // The lock is for callers that learn the account only after a write (a sign-in); all others hold it.
  await Promise.all([lockFurtherAccounts(tx, ...all.map(({ accountId }) => accountId)), byChunks(all, gather)])
}
