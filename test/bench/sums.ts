import pino from 'pino'
import { connect } from '../../src/db/connect.ts'
import { advanceBookingTotals } from '../../src/ledger/booking-totals.ts'
import { advancePaymentTotals } from '../../src/ledger/payment-totals.ts'
import { systemClock } from '../../src/lib/clock.ts'
import type { Bench } from './processes.ts'

/** What the sweeps of a service with jobs do: sums of what has settled. */
export const countSums = async (bench: Bench): Promise<void> => {
  const db = connect({
    url: bench.databaseUrl,
    poolSize: 1,
    logger: pino({ level: 'silent' }),
    clock: systemClock,
    statementTimeoutMs: 60_000,
  })
  await advanceBookingTotals(db)
  await advancePaymentTotals(db)
  await db.close()
}
