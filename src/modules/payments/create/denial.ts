import { isoTime } from '../../../lib/clock.ts'
import { conflict, Refusal } from '../../../lib/errors.ts'
import { formatId } from '../../../lib/ids.ts'
import { onlyUnconfirmedDuplicate } from '../../../policy/duplicates.ts'
import { explain } from '../../../policy/explain.ts'
import type { Decision, EarlierPayment } from '../../../policy/types.ts'
import { presentDecision } from '../../policies/present.ts'

/** It names the payment that this one looks like: a warning of an accepted payment would name it too. */
const possibleDuplicate = ({ paymentId, createdAt }: EarlierPayment, ofBatch: boolean): Refusal => {
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
  { earlier, ofBatch, currency }: { earlier: EarlierPayment | null; ofBatch: boolean; currency: string },
): Refusal =>
  earlier && onlyUnconfirmedDuplicate(decision)
    ? possibleDuplicate(earlier, ofBatch)
    : new Refusal('policy_denied', {
        message: explain(decision, currency),
        details: { decision: presentDecision(decision, currency) },
      })
