import type { z } from 'zod'
import type { Principal } from '../../../auth/principal.ts'
import { readFlow } from '../../../ledger/flow.ts'
import { dateAfter, lastDays } from '../../../lib/clock.ts'
import { formatMinor } from '../../../lib/money.ts'
import { effectiveTimeZone, periodsAt, startOfDate } from '../../../policy/calendar.ts'
import type { Deps } from '../deps.ts'
import type { HistorySummary } from './schema.ts'

/** Every one of the last days, also those on which nothing moved. */
export const summarizeHistory = async (
  deps: Pick<Deps, 'clock' | 'config' | 'db'>,
  { accountId, workspace }: Pick<Principal, 'accountId' | 'workspace'>,
  count: number,
): Promise<z.output<typeof HistorySummary>> => {
  const at = deps.clock.now()
  const zone = effectiveTimeZone(workspace.zone, at)
  const today = periodsAt(at, zone).day
  const period = { zone, begins: startOfDate(dateAfter(today, 1 - count), zone), ends: startOfDate(dateAfter(today, 1), zone) }
  const flow = new Map((await readFlow(deps.db, accountId, period)).map((day) => [day.date, day]))
  return {
    currency: deps.config.CURRENCY,
    days: lastDays(today, count).map((date) => ({
      date,
      in_minor: formatMinor(flow.get(date)?.inMinor ?? 0n),
      out_minor: formatMinor(flow.get(date)?.outMinor ?? 0n),
    })),
  }
}
