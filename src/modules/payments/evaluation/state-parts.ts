import {
  instantOf,
  isTrue,
  listOf,
  quoted,
  quotedOf,
  type Reader,
  readInstant,
  recordsColumn,
  splitRecords,
  textOf,
} from '../../../db/records.ts'
import { countedPaymentsSql, paidPaymentsSql } from '../../../db/transitions.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { RailName } from '../../../lib/rail-names.ts'
import type { VerificationStatus } from '../../../lib/verification.ts'
import type { Maker, PayeeFacts, Unapproved } from '../../../policy/types.ts'
import type { Rails } from '../../../rails/rail.ts'

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

/**
 * The beneficiaries that are asked for with their payees, and in one row every beneficiary of these: a part of the statement `payments.state`.
 * One plan is made for lists of any length, so each row is looked up by itself (`offset 0`): joined, a small table was read as a whole, with the
 * rows of every tenant.
 */
export const askedPayees = `asked as materialized (
     select b.*, y.paybill_id, y.frozen_at is not null as payee_frozen, coalesce(y.paybill_id, y.id) as family_id
     from unnest($3::uuid[]) as named(id)
       cross join lateral (select * from beneficiaries where id = named.id offset 0) as b
       cross join lateral (select * from payees where id = b.payee_id offset 0) as y),
   same_payee as materialized (
     select array(select distinct x.id from asked cross join lateral (
       select id from beneficiaries where payee_id = any(array[asked.payee_id, asked.paybill_id]
         || array(select z.id from payees z where z.paybill_id = asked.payee_id and z.reference_key = any($6::text[]))) offset 0) as x) as ids)`

/** Who made a beneficiary `b`, and whether a person has confirmed it: a part of the statement `payments.state`. */
export const makerFields = [
  'b.confirmed_at is not null',
  'b.created_by',
  'b.created_by_grant_id',
  quoted('b.created_by_label'),
  'b.created_at',
  'b.changed_by',
  'b.changed_by_grant_id',
  quoted('b.changed_by_label'),
  'b.changed_at',
  'b.verification',
  quoted('b.reported_name'),
  // Read only for the few payees with such a name.
  `case when b.similar_to_id is not null and not exists (select from payments o where o.beneficiary_id = b.id and o.status in ${paidPaymentsSql}) then
     (select json_build_object('beneficiaryId', s.id, 'name', s.display_name) from beneficiaries s
      where s.id = b.similar_to_id and exists (select from payments q where q.beneficiary_id = s.id and q.status in ${paidPaymentsSql})) end`,
]

const readMaker = (next: Reader): Maker => ({ accountId: next(), grantId: textOf(next()), label: quotedOf(next()) })

/** Reads them, in their order. */
export const readPayeeFacts = (next: Reader): Omit<PayeeFacts, 'typicalAmountMinor'> => {
  const confirmed = isTrue(next())
  const createdBy = readMaker(next)
  const createdAt = readInstant(next)
  const changedBy = readMaker(next)
  const changedAt = instantOf(next())
  return {
    confirmed,
    createdBy,
    createdAt,
    change: changedAt && { by: changedBy, at: changedAt },
    verification: next() as PayeeFacts['verification'],
    reportedName: quotedOf(next()),
    similarTo: quotedOf(next()),
  }
}

/** Whether a payee's rail was asked for its name for the first time and has not answered yet. */
export const isBeingChecked = (
  rails: Pick<Rails, 'payout'>,
  payee: { verification: VerificationStatus; paymentRail: RailName; nameCheckDueAt: Date | null },
): boolean =>
  payee.verification === 'unverified' && payee.nameCheckDueAt !== null && rails.payout[payee.paymentRail]?.lookUp !== undefined
