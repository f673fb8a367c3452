import { lockFurtherAccounts } from '../db/account-lock.ts'
import { statement, type Tx } from '../db/client.ts'
import { newId, type Uuid } from '../lib/ids.ts'
import type { EventType } from './types.ts'

/** `data`: the resource as REST returns it, or its JSON where that is written already. Without a workspace the event is for the account alone. */
export type NewEvent = { type: EventType; accountId: Uuid; workspaceId: Uuid | null } & ({ data: unknown } | { json: string })

export type AppendEvents = (tx: Tx, at: Date, events: readonly NewEvent[]) => Promise<void>

/** One parameter of JSON: as arrays every character of every document would be looked at for quotes. */
const insert = statement(
  'events.append',
  `insert into events (id, type, account_id, workspace_id, data, created_at)
   select id, type, account, workspace, data, $2 from json_to_recordset($1::json) as e(id uuid, type text, account uuid, workspace uuid, data json)`,
)

const rowOf = (event: NewEvent): string => {
  const { type, accountId: account, workspaceId: workspace } = event
  const data = 'json' in event ? event.json : JSON.stringify(event.data)
  return `${JSON.stringify({ id: newId(), type, account, workspace }).slice(0, -1)},"data":${data}}`
}

/** Writes events in the transaction of their cause; the wake-up goes out after its commit, for a notify inside would queue all commits. */
export const createAppend =
  (wake: () => void): AppendEvents =>
  async (tx, at, events) => {
    if (events.length === 0) return
    // Writers hold the lock of the account that they change. This is for those that know the account only after a write (a sign-in).
    const locked = lockFurtherAccounts(tx, ...events.map(({ accountId }) => accountId))
    const inserted = tx.query(insert, [`[${events.map(rowOf).join(',')}]`, at])
    await Promise.all([locked, inserted])
    tx.afterCommit(wake)
  }
