const offsetMs = 3 * 3_600_000

/** Three hours ahead of UTC all year. */
const local = (at: Date): string => new Date(at.getTime() + offsetMs).toISOString()

/** yyyyMMddHHmmss */
export const nairobiTimestamp = (at: Date): string => local(at).slice(0, 19).replace(/\D/g, '')

/** yyyy-MM-dd */
export const nairobiDate = (at: Date): string => local(at).slice(0, 10)

/** yyyy-MM-dd HH:mm:ss */
export const nairobiDateTime = (at: Date): string => local(at).slice(0, 19).replace('T', ' ')

export const nairobiMidnight = (at: Date): Date => new Date(Date.parse(`${nairobiDate(at)}T00:00:00Z`) - offsetMs)

/** `yyyyMMddHHmmss` or `yyyy-MM-dd HH:mm:ss`. */
export const nairobiInstant = (text: string): Date | undefined => {
  const parts = /^(\d{4})-?(\d\d)-?(\d\d)[ T]?(\d\d):?(\d\d):?(\d\d)/.exec(text)
  if (!parts) return undefined
  const [, year, month, day, hours, minutes, seconds] = parts
  const at = new Date(`${year}-${month}-${day}T${hours}:${minutes}:${seconds}+03:00`)
  return Number.isNaN(at.getTime()) || !local(at).startsWith(`${year}-${month}-${day}`) ? undefined : at
}

/** Of the zone that it states, else Nairobi's, whatever the zone of this process is. */
export const providerInstant = (text: string): Date | undefined => {
  const isZoned = /\d(?:Z|[+-]\d\d:?\d\d)$/.test(text.trim())
  const at = isZoned ? new Date(text.trim()) : nairobiInstant(text.trim())
  return at === undefined || Number.isNaN(at.getTime()) ? undefined : at
}
