import { isoTime } from '../../../lib/clock.ts'
import { conflict, Refusal } from '../../../lib/errors.ts'
import { formatId } from '../../../lib/ids.ts'
import { onlyUnconfirmedDuplicate } from '../../../policy/duplicates.ts'
import { explain } from '../../../policy/explain.ts'
import type { Decision, EarlierPayment, Evaluation, PaymentFacts } from '../../../policy/types.ts'
import { presentDecision } from '../../policies/present.ts'

/** What an item of a batch is asked for with. */
export type OfBatch = Pick<Evaluation, 'listTotals'> &
  Pick<PaymentFacts, 'otherName'> & {
    duplicatesIntended: boolean
    index: number
    /** Of a list in CSV, the row of each item. */
    rows: readonly number[] | null
  }

/** It names the payment that this one looks like: a warning of an accepted payment would name it too. */
const possibleDuplicate = ({ paymentId, createdAt, listIndex }: EarlierPayment, ofBatch: OfBatch | undefined): Refusal => {
  if (ofBatch && listIndex !== undefined) {
    const row = ofBatch.rows?.[listIndex]
    return conflict(
      `This looks like ${row === undefined ? `item ${listIndex}` : `row ${row}`} of the same list: the same beneficiary, amount and reference. If both are meant, send "duplicates_intended": true.`,
      'possible_duplicate',
      { same_as_index: listIndex, ...(row !== undefined && { same_as_row: row }) },
    )
  }
  const id = formatId('payment', paymentId)
  const meant = ofBatch ? '"duplicates_intended": true' : `"duplicate_of": "${id}"`
  return conflict(
    `This looks like payment ${id} of ${isoTime(createdAt)}: the same beneficiary, amount and reference. Nothing was paid. If a second payment is meant, send ${meant}.`,
    'possible_duplicate',
    { existing_payment_id: id },
  )
}

/** What a payment is refused with that the rules deny. */
export const denialOf = (
  decision: Decision,
  { earlier, ofBatch, currency }: { earlier: EarlierPayment | null; ofBatch: OfBatch | undefined; currency: string },
): Refusal =>
  earlier && onlyUnconfirmedDuplicate(decision)
    ? possibleDuplicate(earlier, ofBatch)
    : new Refusal('policy_denied', {
        message: explain(decision, currency),
        details: { decision: presentDecision(decision, currency) },
      })
