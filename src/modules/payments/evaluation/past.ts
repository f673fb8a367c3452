import { type Db, statement } from '../../../db/client.ts'
import { countedPaymentsSql } from '../../../db/transitions.ts'
import { lookalikeHashSql, referenceKeySql } from '../../../lib/account-reference.ts'
import { secondsAfter } from '../../../lib/clock.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { Minor } from '../../../lib/money.ts'
import type { EarlierPayment, PayeePast } from '../../../policy/types.ts'
import { typicalAmount } from '../../../policy/unusual.ts'
import { hasAccountsSql, lastPaidSql, samePayeeIds } from '../../beneficiaries/payee-queries.ts'

/** The longest window that a policy may set, in seconds: no check looks at older payments. */
const longestWindowSeconds = 604_800

/** Two invoices over the same amount differ in their references. At a paybill the reference is the account that is paid. */
export type Lookalike = { beneficiaryId: Uuid; amountMinor: Minor; accountReference: string | null; at: Date }

const reference = 'coalesce(b.account_reference, r.reference)'
const looksTheSame = (payment: string): string =>
  `${lookalikeHashSql(`${payment}.amount_minor`, `${payment}.account_reference`)} = ${lookalikeHashSql('r.amount', reference)}
          and ${payment}.amount_minor = r.amount
          and ${referenceKeySql(`${payment}.account_reference`)} is not distinct from ${referenceKeySql(reference)}`

// One plan is made for lists of any length, so each row is looked up by itself (`offset 0`), as in `payments.state`.
const read = statement(
  'payments.past',
  `select r.n, p.id, p.created_at, p.is_unknown, ${lastPaidSql({ payee: 'own', rail: 'b.payment_rail', reference })} as last_paid
   from unnest($1::uuid[], $2::bigint[], $3::text[], $4::timestamptz[]) with ordinality as r(beneficiary, amount, reference, since, n)
   cross join lateral (select * from beneficiaries where id = r.beneficiary offset 0) as b
   cross join lateral (select * from payees where id = b.payee_id offset 0) as own
   left join lateral (
     select p.id, p.created_at, p.is_unknown
     from unnest(case when ${hasAccountsSql('b.payment_rail')}
       then ${samePayeeIds('own', 'r.reference')} else array[own.id] end) as payee(id)
     cross join lateral (
       (select p.id, p.created_at, false as is_unknown from payments p
        where p.payee_id = payee.id and ${looksTheSame('p')} and p.created_at > r.since
          and (p.status = 'scheduled' or p.status in ${countedPaymentsSql})
        order by p.created_at desc, p.id desc limit 1)
       union all
       (select p.id, p.created_at, true from payments p
        where p.payee_id = payee.id and p.status = 'unknown' and ${looksTheSame('p')}
        order by p.created_at desc, p.id desc limit 1)) as p
     order by p.is_unknown desc, p.created_at desc, p.id desc limit 1) as p on true`,
  'record',
)

type Row = { n: bigint; id: Uuid | null; created_at: Date; is_unknown: boolean; last_paid: Minor[] }

const earlierOf = ({ id, created_at: createdAt, is_unknown: isUnknown }: Row): EarlierPayment | null =>
  id === null ? null : { paymentId: id, createdAt, isUnknown }

/**
 * For each payment, in the same order: what its payee usually gets, and the newest payment that looks the same and counts. One whose outcome
 * is unknown comes first, however old it is: to repeat it could pay twice.
 */
export const readPast = async (db: Db, requests: readonly Lookalike[]): Promise<PayeePast[]> => {
  const rows = await db.query<Row>(read, [
    requests.map(({ beneficiaryId }) => beneficiaryId),
    requests.map(({ amountMinor }) => amountMinor),
    requests.map(({ accountReference }) => accountReference),
    requests.map(({ at }) => secondsAfter(at, -longestWindowSeconds)),
  ])
  const byNumber = new Map(rows.map((row) => [Number(row.n), row]))
  return requests.map((_, index) => {
    const row = byNumber.get(index + 1)
    return { earlier: row ? earlierOf(row) : null, typicalAmountMinor: row ? typicalAmount(row.last_paid) : null }
  })
}
