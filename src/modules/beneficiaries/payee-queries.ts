import { namesSql } from '../../db/tables/columns.ts'
import { paidPaymentsSql } from '../../db/transitions.ts'
import { referenceKeySql } from '../../lib/account-reference.ts'
import type { RailName } from '../../lib/rail-names.ts'
import { hasAccounts, railNames } from '../../lib/rail-names.ts'
import type { VerificationStatus } from '../../lib/verification.ts'
import { maxRemembered } from '../../policy/warnings.ts'
import type { Rails } from '../../rails/rail.ts'

export const hasAccountsSql = (rail: string): string => `${rail} in ${namesSql(railNames.filter(hasAccounts))}`

// Paybill 600100 with account SHOP-7 can be stored in two ways: as a payee of its own (a `payees` row whose `paybill_id` names
// the paybill's row), or as the paybill's row and the payment's reference SHOP-7. Both count as one payee.

/** Ids under which a payee may have been paid: its own, its paybill's, and that of the paybill's account with the reference. */
export const samePayeeIdsSql = (payee: string, reference: string): string =>
  `(array[${payee}.id, ${payee}.paybill_id]
    || array(select account.id from payees account where account.paybill_id = ${payee}.id and account.reference_key = ${referenceKeySql(reference)}))`

/** Whether two rows of `payments` paid the same payee and, at a paybill, the same account. */
export const paidSamePayeeSql = (earlier: string, payment: string): string =>
  `${earlier}.payee_id = any((select ${samePayeeIdsSql('paid', `${payment}.account_reference`)} from payees paid where paid.id = ${payment}.payee_id)::uuid[])
   and (not ${hasAccountsSql(`${payment}.rail`)}
     or ${referenceKeySql(`${earlier}.account_reference`)} is not distinct from ${referenceKeySql(`${payment}.account_reference`)})`

type Paid = {
  /** SQL alias of a row of `payees`. */
  payee: string
  rail: string
  reference: string
  /** SQL condition on the earlier payments, `q`. */
  among?: string
  atMost?: number
}

/**
 * SQL for up to `atMost` amounts paid to the payee, newest first; `typicalAmount` derives the usual amount. It runs under
 * a lock, and a supplier may have ten thousand payments, so each branch follows an index. The order includes the payee
 * (`ownedBy`): a scan for a payee that was never paid would not stop otherwise. `any(array[…])` keeps the payee in the order.
 */
export const lastPaidSql = ({ payee, rail, reference, among, atMost = maxRemembered }: Paid): string => {
  const paid = `q.status in ${paidPaymentsSql}${among === undefined ? '' : ` and ${among}`}`
  const newest = `order by q.payee_id desc, q.id desc limit ${atMost}`
  const hasAccount = `(${hasAccountsSql(rail)} and ${reference} is not null)`
  return `array(select last.amount_minor from (
     (select q.id, q.amount_minor from payments q where q.payee_id = any(array[${payee}.id]) and ${paid} and not ${hasAccount} ${newest})
     union all
     select q.id, q.amount_minor from unnest(${samePayeeIdsSql(payee, reference)}) as account(id) cross join lateral (
       select q.id, q.amount_minor from payments q where q.payee_id = any(array[account.id]) and ${hasAccountsSql('q.rail')} and q.account_reference is not null
         and ${referenceKeySql('q.account_reference')} = ${referenceKeySql(reference)} and ${paid} ${newest}) as q
     where ${hasAccount}
   ) as last order by last.id desc limit ${atMost})`
}

/** Whether the payee's first name lookup is still pending. */
export const isBeingChecked = (
  rails: Pick<Rails, 'payout'>,
  payee: { verification: VerificationStatus; paymentRail: RailName; nameCheckDueAt: Date | null },
): boolean =>
  payee.verification === 'unverified' && payee.nameCheckDueAt !== null && rails.payout[payee.paymentRail]?.lookUp !== undefined
