import { lt } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { prepareRemoval, prune } from '../../../db/prune.ts'
import { paymentRefusals } from '../../../db/tables/payment-refusals.ts'

const removal = prepareRemoval('payment_refusals.prune', paymentRefusals, {
  key: paymentRefusals.id,
  when: (before) => lt(paymentRefusals.createdAt, before),
  by: [paymentRefusals.createdAt],
})

export const pruneRefusals = (db: Db, before: Date): Promise<void> => prune(db, { removal, before })
