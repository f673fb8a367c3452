import { idSlack } from '../db/created-between.ts'
import { firstId, lastId } from '../lib/ids.ts'

// As in db/created-between.ts, for SQL text: a time that is null bounds nothing. `owner` selects the rows of one owner.

const boundsOf = (table: string, ownedBy?: string) => {
  const nearest = (owner: string, outside: string, beyond: string, order: 'asc' | 'desc') => `(
  select case when near.created_at ${outside} then near.id end from ${table} near
  where ${ownedBy ? `near.${ownedBy} = any(array[${owner}]::uuid[]) and ` : ''}near.id ${beyond}
  order by ${ownedBy ? `near.${ownedBy} ${order}, ` : ''}near.id ${order} limit 1)`
  return {
    /** Before the id of every row of the owner from after a time. */
    idBehind: (owner: string, time: string): string =>
      `coalesce(${nearest(owner, `<= ${time}`, `< first_id_at(${time} - ${idSlack})`, 'desc')}, '${firstId}')`,
    /** Behind the id of every row of the owner from before a time. */
    idAhead: (owner: string, time: string): string =>
      `coalesce(${nearest(owner, `>= ${time}`, `>= first_id_at(${time} + ${idSlack})`, 'asc')}, '${lastId}')`,
  }
}

/** Of an account's transfers. */
export const { idBehind, idAhead } = boundsOf('ledger_transfers', 'customer_account_id')
export const inWorkspace = boundsOf('payments', 'workspace_id')

/** Rows `t` of all owners from between two times. */
export const amongAll = (table: 'ledger_transfers' | 'payments', begins: string, ends: string): string => {
  const bounds = boundsOf(table)
  return `t.created_at >= ${begins} and t.created_at < ${ends}
    and t.id > ${bounds.idBehind('', begins)} and t.id < ${bounds.idAhead('', ends)}`
}
