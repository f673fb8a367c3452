import type { Logger } from 'pino'
import type { CheckFacts } from '../db/check.ts'
import { connect, inTx } from '../db/client.ts'
import { verifyPoints } from '../db/tables/rails.ts'
import type { Clock } from '../lib/clock.ts'
import { verify } from './verify.ts'

const name = 'daily'
/** A check may look at every row there is; it takes no lock that a payment waits for. */
const statementTimeoutMs = 600_000

export type DailyOptions = {
  databaseUrl: string
  clock: Clock
  logger: Logger
  facts: () => CheckFacts
  onBroken: (broken: { invariant: string; promise: string; breaches: readonly string[] }) => void
}

/** Holds the data against every promise on a connection of its own, and says which are broken. */
export const verifyDaily = async ({ databaseUrl, clock, logger, facts, onBroken }: DailyOptions): Promise<void> => {
  const db = connect({ url: databaseUrl, poolSize: 1, clock, logger, statementTimeoutMs })
  try {
    const at = facts()
    const from = performance.now()
    let [kept, broken] = [0, 0]
    for await (const result of verify(db, at)) {
      if (result.breaches.length === 0) kept += 1
      else {
        broken += 1
        onBroken(result)
      }
    }
    const seconds = Math.round((performance.now() - from) / 1000)
    const totals = { kept: String(kept), broken: String(broken), seconds: String(seconds) }
    await inTx(db, async (tx) => {
      const point = { through: at.now.toISOString(), totals, at: at.now }
      await tx.orm
        .insert(verifyPoints)
        .values({ name, ...point })
        .onConflictDoUpdate({ target: verifyPoints.name, set: point })
    })
    logger.info({ kept, broken, seconds }, 'the data were held against every promise')
  } finally {
    await db.close()
  }
}
