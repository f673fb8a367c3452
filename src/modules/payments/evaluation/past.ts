import { type Db, statement } from '../../../db/client.ts'
import { countedPaymentsSql } from '../../../db/transitions.ts'
import { lookalikeHashSql, referenceKeySql } from '../../../lib/account-reference.ts'
import { secondsAfter } from '../../../lib/clock.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { fieldsOf } from '../../../lib/lists.ts'
import type { Minor } from '../../../lib/money.ts'
import type { PayeePast } from '../../../policy/types.ts'
import { typicalAmount } from '../../../policy/warnings.ts'
import { hasAccountsSql, lastPaidSql, samePayeeIdsSql } from '../../beneficiaries/payee-queries.ts'
import type { CreatePayment } from '../schema.ts'

/** Seconds (7 days): the longest window that a policy may set. Older look-alikes matter only if their outcome is unknown. */
const longestWindowSeconds = 604_800

/** Fields that a duplicate repeats. The reference tells invoices of the same amount apart, or accounts at a paybill. */
type Lookalike = Pick<CreatePayment, 'beneficiary_id' | 'amount_minor' | 'account_reference'>

const reference = 'coalesce(b.account_reference, r.reference)'
const looksTheSame = (payment: string): string =>
  `${lookalikeHashSql(`${payment}.amount_minor`, `${payment}.account_reference`)} = ${lookalikeHashSql('r.amount', reference)}
          and ${payment}.amount_minor = r.amount
          and ${referenceKeySql(`${payment}.account_reference`)} is not distinct from ${referenceKeySql(reference)}`

// One plan serves arrays of any length, so `offset 0` forces a separate lookup for each row, as in `payments.state`.
const pastStatement = statement('payments.past', 'record')`
  select r.n::int, p.id as "paymentId", p.created_at as "createdAt", p.is_unknown as "isUnknown",
     ${lastPaidSql({ payee: 'own', rail: 'b.payment_rail', reference })} as "lastPaid"
   from unnest($1::uuid[], $2::bigint[], $3::text[], $4::timestamptz[]) with ordinality as r(beneficiary, amount, reference, since, n)
   cross join lateral (select * from beneficiaries where id = r.beneficiary offset 0) as b
   cross join lateral (select * from payees where id = b.payee_id offset 0) as own
   left join lateral (
     select p.id, p.created_at, bool_or(p.is_unknown) over () as is_unknown
     from unnest(case when ${hasAccountsSql('b.payment_rail')}
       then ${samePayeeIdsSql('own', 'r.reference')} else array[own.id] end) as payee(id)
     cross join lateral (
       (select p.id, p.created_at, false as is_unknown from payments p
        where p.payee_id = payee.id and ${looksTheSame('p')} and p.created_at > r.since
          and (p.status = 'scheduled' or p.status in ${countedPaymentsSql})
        order by p.created_at desc, p.id desc limit 1)
       union all
       (select p.id, p.created_at, true from payments p
        where p.payee_id = payee.id and p.status = 'unknown' and ${looksTheSame('p')}
        order by p.created_at desc, p.id desc limit 1)) as p
     order by p.created_at desc, p.id desc limit 1) as p on true`

type Row = { n: number; paymentId: Uuid | null; createdAt: Date; isUnknown: boolean; lastPaid: Minor[] }

/** The past of a payee that is not there, or that is left out. */
export const unknownPast: PayeePast = { earlier: null, typicalAmountMinor: null, lastAmountMinor: null }

const requestKeyOf = ({ beneficiary_id, amount_minor, account_reference }: Lookalike): string =>
  `${beneficiary_id} ${amount_minor} ${account_reference ?? ''}`

/**
 * Returns for each request, in the same order, the payee's last and usual amount and the newest counted payment that looks the
 * same. A look-alike with an unknown outcome counts however old it is, because repeating it could pay twice.
 */
export const readPast = async (db: Db, requests: readonly Lookalike[], at: Date): Promise<PayeePast[]> => {
  const since = secondsAfter(at, -longestWindowSeconds)
  // Equal items of a batch are looked up once, because each lookup would read all equal items of an earlier batch.
  const distinct = new Map(requests.map((request) => [requestKeyOf(request), request]))
  const [keys, lookups] = [[...distinct.keys()], [...distinct.values()]]
  const rows = await db.query<Row>(pastStatement, [
    ...fieldsOf(lookups, 'beneficiary_id', 'amount_minor'),
    lookups.map(({ account_reference: reference }) => reference ?? null),
    lookups.map(() => since),
  ])
  const past = new Map<string | undefined, PayeePast>()
  for (const { n, paymentId, createdAt, isUnknown, lastPaid } of rows) {
    const earlier = paymentId === null ? null : { paymentId, createdAt, isUnknown }
    past.set(keys[n - 1], { earlier, typicalAmountMinor: typicalAmount(lastPaid), lastAmountMinor: lastPaid[0] ?? null })
  }
  return requests.map((request) => past.get(requestKeyOf(request)) ?? unknownPast)
}
