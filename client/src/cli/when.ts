import type { Payments } from '../client.ts'
import { UsageError } from './session.ts'

const shape = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::(\d\d))?(Z|[+-]\d\d:\d\d)?)?$/

/** Offset of a zone from UTC at an instant. */
const offsetMs = (at: number, timeZone: string): number => {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' })
  return Date.parse(`${format.format(at).replace(' ', 'T')}Z`) - Math.floor(at / 1000) * 1000
}

/** The instant at which a clock in the zone shows `local`, a local time encoded as if it were UTC. */
const instantOf = (local: number, timeZone: string): number =>
  // Uses the offset at that local time, which differs from the offset at the same UTC time around a clock change.
  local - offsetMs(local - offsetMs(local, timeZone), timeZone)

export type When = { execute_at: string; words: string }

/** `--at`: an instant, a local time in the workspace's zone, or the start of a day there. */
export const whenOf = async (client: Payments, text: string): Promise<When> => {
  const [, date, minute = '00:00', second = '00', offset] = shape.exec(text) ?? []
  const local = `${date}T${minute}:${second}`
  const asUtc = Date.parse(`${local}Z`)
  // Date.parse would turn February 30 into March 2.
  if (Number.isNaN(asUtc) || new Date(asUtc).toISOString().slice(0, 19) !== local)
    throw new UsageError(
      `"${text}" is not a time: write 2026-12-01, "2026-12-01 09:00" (in the workspace's time zone) or 2026-12-01T09:00:00+03:00`,
    )
  if (offset !== undefined) return { execute_at: `${local}${offset}`, words: `${local}${offset}` }
  const { workspace } = await client.call('get', '/v1/workspaces/current')
  const timeZone = workspace.time_zone
  const execute_at = new Date(instantOf(asUtc, timeZone)).toISOString()
  return { execute_at, words: `${date} ${minute}${second === '00' ? '' : `:${second}`}, ${timeZone}` }
}
