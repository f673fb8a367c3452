import { instantOf, isTrue, quoted, quotedOf, type Reader, readInstant, textOf } from '../../../db/records.ts'
import { paidPaymentsSql } from '../../../db/transitions.ts'
import type { Maker, PayeeFacts } from '../../../policy/types.ts'

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
