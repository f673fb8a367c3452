import { lockFurtherAccounts } from '../db/account-lock.ts'
import { statement, type Tx } from '../db/client.ts'
import { documentList, documents, plainList } from '../db/lists.ts'
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
   select id, type, account, workspace, payment, data::json, $7 from rows from (unnest($1::uuid[]), unnest($2::text[]),
     unnest($3::uuid[]), unnest($4::uuid[]), unnest($5::uuid[]), ${documents(6)}) as e(id, type, account, workspace, payment, data)`,
)

const storedText = (event: NewEvent): string | null => {
  if ('snapshot' in event) return JSON.stringify(changesOf(event.snapshot, event.data))
  return 'data' in event ? JSON.stringify(event.data) : null
}

const values = (events: readonly NewEvent[], at: Date) => [
  plainList(events.map(() => newId())),
  plainList(events.map(({ type }) => type)),
  plainList(events.map(({ accountId }) => accountId)),
  plainList(events.map(({ workspaceId }) => workspaceId)),
  plainList(events.map((event) => ('paymentId' in event ? event.paymentId : null))),
  documentList(events.map(storedText)),
  at,
]

/**
 * Writes events in the transaction of their cause, whose work does not wait for them: they are sent in their place, and a failure fails the commit. The wake-up is sent after its commit, because a notify inside would queue all commits.
 */
export const createAppend =
  (wake: () => void): AppendEvents =>
  async (tx, at, events) => {
    if (events.length === 0) return
    // Writers hold the lock of the account that they change. This is for those that learn the account only after a write (a sign-in).
    const locked = lockFurtherAccounts(tx, ...events.map(({ accountId }) => accountId))
    tx.defer(tx.query(insert, values(events, at)))
    tx.afterCommit(wake)
    await locked
  }
