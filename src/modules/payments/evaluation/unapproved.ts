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
  `(select family.id as family_id, p.counted_day, p.payment_type, p.rail, p.grant_id, sum(p.amount_minor) as minor
        from (select distinct family_id from asked) as family(id)
        cross join lateral (select family.id union all select id from payees where paybill_id = family.id) as y(id)
        cross join lateral (
          select * from payments where payee_id = y.id and counted_day = any($4::date[]) and approval_id is null and mandate_id is null
            and status in ${countedPaymentsSql} offset 0) as p
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
