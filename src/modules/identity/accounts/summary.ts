import type { z } from 'zod'
import type { Principal } from '../../../auth/principal.ts'
import { type Day, readFlow } from '../../../ledger/flow.ts'
import { dateAfter, lastDays } from '../../../lib/days.ts'
import { formatMinor } from '../../../lib/money.ts'
import { memoised } from '../../../lib/shared.ts'
import { effectiveTimeZone, periodsAt, startOfDate } from '../../../policy/calendar.ts'
import type { Deps } from '../deps.ts'
import type { HistorySummary } from './schema.ts'

/** By the zone, the last day and how many: their beginnings need not be looked for at each request. */
const daysOf = memoised((key) => {
  const [zone = '', today = '', count] = key.split(' ')
  return lastDays(today, Number(count)).map(
    (date): Day => ({ date, begins: startOfDate(date, zone), ends: startOfDate(dateAfter(date, 1), zone) }),
  )
}, 64)

/** Every one of the last days, also those on which nothing moved. */
export const summarizeHistory = async (
  deps: Pick<Deps, 'clock' | 'config' | 'db'>,
  { accountId, workspace }: Pick<Principal, 'accountId' | 'workspace'>,
  count: number,
): Promise<z.output<typeof HistorySummary>> => {
  const at = deps.clock.now()
  const zone = effectiveTimeZone(workspace.zone, at)
  const days = daysOf(`${zone} ${periodsAt(at, zone).day} ${count}`)
  const flow = new Map((await readFlow(deps.db, accountId, days)).map((day) => [day.date, day]))
  return {
    currency: deps.config.CURRENCY,
    days: days.map(({ date }) => ({
      date,
      in_minor: formatMinor(flow.get(date)?.inMinor ?? 0n),
      out_minor: formatMinor(flow.get(date)?.outMinor ?? 0n),
    })),
  }
}
