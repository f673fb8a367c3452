import pino from 'pino'
import { connect } from '../../src/db/connect.ts'
import { countHours } from '../../src/ledger/hours.ts'
import { systemClock } from '../../src/lib/clock.ts'
import type { Bench } from './processes.ts'

/** What the sweeps of a service with jobs do: sums of the hours that have ended. */
export const countSums = async (bench: Bench): Promise<void> => {
  const db = connect({
    url: bench.databaseUrl,
    poolSize: 1,
    logger: pino({ level: 'silent' }),
    clock: systemClock,
    statementTimeoutMs: 60_000,
  })
  await countHours(db, systemClock.now())
  await db.close()
}
