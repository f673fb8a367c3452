import type { z } from 'zod'
import type { Principal } from '../../../auth/principal.ts'
import { readFlow } from '../../../ledger/flow.ts'
import { dateAfter, lastDays } from '../../../lib/days.ts'
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
  const dates = lastDays(periodsAt(at, zone).day, count)
  const days = dates.map((date) => ({ date, begins: startOfDate(date, zone), ends: startOfDate(dateAfter(date, 1), zone) }))
  const flow = new Map((await readFlow(deps.db, accountId, days)).map((day) => [day.date, day]))
  return {
    currency: deps.config.CURRENCY,
    days: dates.map((date) => ({
      date,
      in_minor: formatMinor(flow.get(date)?.inMinor ?? 0n),
      out_minor: formatMinor(flow.get(date)?.outMinor ?? 0n),
    })),
  }
}
