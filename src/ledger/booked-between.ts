import { idSlack } from '../db/created-between.ts'
import { firstId, lastId } from '../lib/ids.ts'

// As in db/created-between.ts, for SQL text over `ledger_transfers`: a time that is null bounds nothing. `account` selects the customer's account.

const nearest = (account: string, outside: string, beyond: string, order: 'asc' | 'desc') => `(
  select case when near.created_at ${outside} then near.id end from ledger_transfers near
  where near.customer_account_id = ${account} and near.id ${beyond} order by near.id ${order} limit 1)`

/** Before the id of every transfer of the account from after a time. */
export const idBehind = (account: string, time: string): string =>
  `coalesce(${nearest(account, `<= ${time}`, `< first_id_at(${time} - ${idSlack})`, 'desc')}, '${firstId}')`

/** Behind the id of every transfer of the account from before a time. */
export const idAhead = (account: string, time: string): string =>
  `coalesce(${nearest(account, `>= ${time}`, `>= first_id_at(${time} + ${idSlack})`, 'asc')}, '${lastId}')`
