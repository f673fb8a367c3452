import { listOf, quoted, recordsColumn, splitRecords } from '../../../db/records.ts'
import { countedPaymentsSql } from '../../../db/transitions.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { Unapproved } from '../../../policy/types.ts'

/** By `familyDay`. */
export type UnapprovedState = Map<string, readonly Unapproved[]>

/** `familyId`: the payee, or of an account at a paybill the paybill. */
export const familyDay = (familyId: Uuid, day: string): string => `${familyId} ${day}`

const approvals = `coalesce((select required_approvals from approvals a where a.id = p.approval_id), (p.mandate_id is not null)::int)`

const ofPayee = `select p.* from payments p where p.payee_id = y.id and p.counted_day = any($4::date[]) and p.status in ${countedPaymentsSql}`

/**
 * A part of the statement `payments.state`: read only where a policy or a grant has a threshold, which also bounds how many rows nobody approved;
 * those that somebody approved only where a policy asks for several people.
 */
export const unapprovedColumn = recordsColumn(
  [
    'u.family_id',
    'u.counted_day',
    quoted('u.payment_type'),
    'u.rail',
    'array(select unnest(g.ancestor_ids || g.id) from grants g where g.id = u.grant_id)',
    'u.approvals',
    'u.minor',
  ],
  `(select family.id as family_id, p.counted_day, p.payment_type, p.rail, p.grant_id, ${approvals} as approvals, sum(p.amount_minor) as minor
        from (select distinct family_id from asked) as family(id)
        cross join lateral (select family.id union all select id from payees where paybill_id = family.id) as y(id)
        cross join lateral (
          (${ofPayee} and p.approval_id is null and p.mandate_id is null offset 0)
          union all
          (${ofPayee} and (p.approval_id is not null or p.mandate_id is not null)
             and exists (select from applicable where approval_threshold_minor is not null and required_approval_count > 1) offset 0)) as p
        where exists (select from applicable where approval_threshold_minor is not null)
          or exists (select from grants g where g.id = any($2::uuid[]) and g.approval_threshold_minor is not null)
        group by 1, 2, 3, 4, 5, 6) as u`,
)

export const readUnapproved = (text: string | null): UnapprovedState => {
  const found = new Map<string, Unapproved[]>()
  for (const [familyId = '', day = '', type = '', rail = '', lineage = '', approvals = '', minor = ''] of splitRecords(text)) {
    const paymentType = JSON.parse(type)
    const row = { paymentType, rail, grantLineage: listOf(lineage), approvals: Number(approvals), amountMinor: BigInt(minor) }
    const key = familyDay(familyId, day)
    const rows = found.get(key)
    if (rows) rows.push(row)
    else found.set(key, [row])
  }
  return found
}
