import type { Db } from '../../../db/client.ts'
import { isoTimeOrNull } from '../../../lib/clock.ts'
import { presentPayment } from '../present.ts'
import type { PaymentRecord } from '../queries.ts'
import type { Payment } from '../schema.ts'
import { attemptsOf } from './attempts/queries.ts'

/** One payment as it is read by itself: of an unknown outcome it says when the rail was last asked about it. */
export const presentFollowed = async (db: Db, record: PaymentRecord): Promise<Payment> => {
  const payment = presentPayment(record)
  if (record.status !== 'unknown') return payment
  const attempt = (await attemptsOf(db, [record.id])).at(-1)
  const check = { last_at: isoTimeOrNull(attempt?.checkedAt ?? null), next_at: isoTimeOrNull(attempt?.nextCheckAt ?? null) }
  return { ...payment, outcome_check: check }
}
