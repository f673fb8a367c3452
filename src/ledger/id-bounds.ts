import { idSlack } from '../db/list-queries.ts'
import { firstId, lastId } from '../lib/ids.ts'

// Like `createdBetween` in db/list-queries.ts, but as raw SQL and with rows created at the first time. A null time sets no bound.

const boundsOf = (table: string, ownedBy?: string) => {
  const nearest = (owner: string, outside: string, beyond: string, order: 'asc' | 'desc') => `(
  select case when near.created_at ${outside} then near.id end from ${table} near
  where ${ownedBy ? `near.${ownedBy} = any(array[${owner}]::uuid[]) and ` : ''}near.id ${beyond}
  order by ${ownedBy ? `near.${ownedBy} ${order}, ` : ''}near.id ${order} limit 1)`
  return {
    /** An id smaller than that of any row of the owner created at `time` or later. */
    lowerBound: (owner: string, time: string): string =>
      `coalesce(${nearest(owner, `< ${time}`, `< first_id_at(${time} - ${idSlack})`, 'desc')}, '${firstId}')`,
    /** An id greater than that of any row of the owner created before `time`. */
    upperBound: (owner: string, time: string): string =>
      `coalesce(${nearest(owner, `>= ${time}`, `>= first_id_at(${time} + ${idSlack})`, 'asc')}, '${lastId}')`,
  }
}

export const transferIds = boundsOf('ledger_transfers', 'customer_account_id')
export const paymentIds = boundsOf('payments', 'workspace_id')

export const createdBetweenSql = (table: 'ledger_transfers' | 'payments', begins: string, ends: string): string => {
  const bounds = boundsOf(table)
  return `t.created_at >= ${begins} and t.created_at < ${ends}
    and t.id > ${bounds.lowerBound('', begins)} and t.id < ${bounds.upperBound('', ends)}`
}
