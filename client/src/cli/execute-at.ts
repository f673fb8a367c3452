import type { Payments } from '../client.ts'
import { UsageError } from './errors.ts'

const timePattern = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::(\d\d))?(Z|[+-]\d\d:\d\d)?)?$/

/** Offset of a zone from UTC at an instant. */
const offsetMs = (at: number, timeZone: string): number => {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' })
  return Date.parse(`${format.format(at).replace(' ', 'T')}Z`) - Math.floor(at / 1000) * 1000
}

/** The instant at which a clock in the zone shows `local`, a local time encoded as if it were UTC. */
const instantOf = (local: number, timeZone: string): number =>
  // Uses the offset at that local time, which differs from the offset at the same UTC time around a clock change.
  local - offsetMs(local - offsetMs(local, timeZone), timeZone)

type Zones = { time_zone: string; time_zone_from: string | null; previous_time_zone: string | null }

/** The instant and its zone. A changed zone applies only from `time_zone_from`, at which local times may be skipped. */
const instantIn = (local: number, { time_zone, time_zone_from: from, previous_time_zone: previous }: Zones) => {
  const changeAt = from === null ? Number.NEGATIVE_INFINITY : Date.parse(from)
  const before = instantOf(local, previous ?? time_zone)
  if (previous !== null && before < changeAt) return { instant: before, timeZone: previous }
  return { instant: Math.max(instantOf(local, time_zone), changeAt), timeZone: time_zone }
}

export type ExecuteAt = { execute_at: string; label: string }

/** `--at`: an instant, a local time in the zone that the workspace has then, or the start of a day there. */
export const parseExecuteAt = async (client: Payments, text: string): Promise<ExecuteAt> => {
  const [, date, minute = '00:00', second = '00', offset] = timePattern.exec(text) ?? []
  const local = `${date}T${minute}:${second}`
  const asUtc = Date.parse(`${local}Z`)
  // Date.parse would turn February 30 into March 2.
  if (Number.isNaN(asUtc) || new Date(asUtc).toISOString().slice(0, 19) !== local)
    throw new UsageError(
      `"${text}" is not a time: write 2026-12-01, "2026-12-01 09:00" (in the workspace's time zone) or 2026-12-01T09:00:00+03:00`,
    )
  if (offset !== undefined) return { execute_at: `${local}${offset}`, label: `${local}${offset}` }
  const { workspace } = await client.workspaces.current()
  const { instant, timeZone } = instantIn(asUtc, workspace)
  return {
    execute_at: new Date(instant).toISOString(),
    label: `${date} ${minute}${second === '00' ? '' : `:${second}`}, ${timeZone}`,
  }
}
