import { instantOf, isTrue, quoted, quotedOf, type Reader, readInstant, textOf } from '../../../db/records.ts'
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
]

const readMaker = (next: Reader): Maker => ({ accountId: next(), grantId: textOf(next()), label: quotedOf(next()) })

/** Reads them, in their order. */
export const readPayeeFacts = (next: Reader): PayeeFacts => {
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
  }
}
