import { namesSql } from '../../db/tables/columns.ts'
import { referenceKeySql } from '../../lib/account-reference.ts'
import { hasAccounts, railNames } from '../../lib/rail-names.ts'

/** Whether behind a destination of this rail there are accounts (`hasAccounts`). */
export const hasAccountsSql = (rail: string): string => `${rail} in ${namesSql(railNames.filter(hasAccounts))}`

/**
 * The payees under which payments to a payee may have been made: itself, the paybill at which it is an account, and of a paybill the account
 * with this reference. The payments' references tell them apart. `payee` is a row of `payees`.
 */
export const samePayeeIds = (payee: string, reference: string): string =>
  `(array[${payee}.id, ${payee}.paybill_id]
    || array(select account.id from payees account where account.paybill_id = ${payee}.id and account.reference_key = ${referenceKeySql(reference)}))`

/** Whether an earlier payment went to the same payee as another: at a paybill, to the same account. Both are rows of `payments`. */
export const toSamePayee = (earlier: string, payment: string): string =>
  `${earlier}.payee_id = any((select ${samePayeeIds('paid', `${payment}.account_reference`)} from payees paid where paid.id = ${payment}.payee_id)::uuid[])
   and (not ${hasAccountsSql(`${payment}.rail`)}
     or ${referenceKeySql(`${earlier}.account_reference`)} is not distinct from ${referenceKeySql(`${payment}.account_reference`)})`
