import { listOf, quoted, recordsColumn, splitRecords } from '../../../db/records.ts'
import { countedPaymentsSql } from '../../../db/transitions.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { Unapproved } from '../../../policy/types.ts'

/** `familyId`: the payee, or of an account at a paybill the paybill. */
export type UnapprovedState = Unapproved & { familyId: Uuid; day: string }

/** A part of the statement `payments.state`: read only where a policy or a grant has a threshold, which also bounds how many rows there are. */
export const unapprovedColumn = recordsColumn(
  [
    'u.family_id',
    'u.counted_day',
    quoted('u.payment_type'),
    'u.rail',
    'array(select unnest(g.ancestor_ids || g.id) from grants g where g.id = u.grant_id)',
    'u.minor',
  ],
  `(select coalesce(y.paybill_id, y.id) as family_id, p.counted_day, p.payment_type, p.rail, p.grant_id, sum(p.amount_minor) as minor
        from (select array(select coalesce(own.paybill_id, own.id) from beneficiaries b join payees own on own.id = b.payee_id
                where b.id = any($3::uuid[])) as ids) as family
        join payees y on y.id = any(family.ids) or y.paybill_id = any(family.ids)
        join payments p on p.payee_id = y.id and p.counted_day = any($4::date[]) and p.approval_id is null and p.mandate_id is null
          and p.status in ${countedPaymentsSql}
        where exists (select from applicable where approval_threshold_minor is not null)
          or exists (select from grants g where g.id = any($2::uuid[]) and g.approval_threshold_minor is not null)
        group by 1, 2, 3, 4, 5) as u`,
)

export const readUnapproved = (text: string | null): UnapprovedState[] =>
  splitRecords(text).map(([familyId = '', day = '', type = '', rail = '', lineage = '', minor = '']) => ({
    familyId,
    day,
    paymentType: JSON.parse(type),
    rail,
    grantLineage: listOf(lineage),
    amountMinor: BigInt(minor),
  }))
