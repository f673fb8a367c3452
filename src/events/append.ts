import { lockFurtherAccounts } from '../db/account-lock.ts'
import { statement, type Tx } from '../db/client.ts'
import type { Gathered } from '../db/gather.ts'
import { documentList, documents, plainList, timeList } from '../db/lists.ts'
import { newId, type Uuid } from '../lib/ids.ts'
import { changesOf, type Fields } from './payment-changes.ts'
import type { EventType } from './types.ts'

/**
 * `data`: the resource as REST returns it. `paymentId`: a payment, as its row's snapshot has it or, with `data`, as it is now. Without a workspace
 * the event is for the account alone.
 */
export type NewEvent = { type: EventType; accountId: Uuid; workspaceId: Uuid | null } & (
  | { data: unknown }
  | { paymentId: Uuid }
  | { paymentId: Uuid; data: Fields; snapshot: Fields }
)

export type AppendEvents = (tx: Tx, at: Date, events: readonly NewEvent[]) => Promise<void>

const insert = statement(
  'events.append',
  `insert into events (id, type, account_id, workspace_id, payment_id, data, created_at)
   select id, type, account, workspace, payment, data::json, at from rows from (unnest($1::uuid[]), unnest($2::text[]),
     unnest($3::uuid[]), unnest($4::uuid[]), unnest($5::uuid[]), ${documents(6)}, unnest($7::timestamptz[]))
     as e(id, type, account, workspace, payment, data, at)`,
)

const storedText = (event: NewEvent): string | null => {
  if ('snapshot' in event) return JSON.stringify(changesOf(event.snapshot, event.data))
  return 'data' in event ? JSON.stringify(event.data) : null
}

type Row = Pick<NewEvent, 'type' | 'accountId' | 'workspaceId'> & {
  id: Uuid
  paymentId: Uuid | null
  text: string | null
  at: Date
}

/** As it is now: what it shows may change later in the same transaction. Ids are in the order of the calls, as readers get them. */
const rowOf = (event: NewEvent, at: Date): Row => {
  const { type, accountId, workspaceId } = event
  const paymentId = 'paymentId' in event ? event.paymentId : null
  return { id: newId(), type, accountId, workspaceId, paymentId, text: storedText(event), at }
}

const written: Gathered<Row> = {
  write: (query, rows) =>
    query(insert, [
      plainList(rows.map(({ id }) => id)),
      plainList(rows.map(({ type }) => type)),
      plainList(rows.map(({ accountId }) => accountId)),
      plainList(rows.map(({ workspaceId }) => workspaceId)),
      plainList(rows.map(({ paymentId }) => paymentId)),
      documentList(rows.map(({ text }) => text)),
      timeList(rows.map(({ at }) => at)),
    ]),
}

/**
 * Writes events in the transaction of their cause, whose work does not wait for them: all of a transaction are one statement, sent with its commit.
 * The wake-up is sent after it, because a notify inside would queue all commits.
 */
export const createAppend =
  (wake: () => void): AppendEvents =>
  async (tx, at, events) => {
    if (events.length === 0) return
    // Writers hold the lock of the account that they change. This is for those that learn the account only after a write (a sign-in).
    const locked = lockFurtherAccounts(tx, ...events.map(({ accountId }) => accountId))
    tx.gather(
      written,
      events.map((event) => rowOf(event, at)),
    )
    tx.afterCommit(wake)
    await locked
  }
