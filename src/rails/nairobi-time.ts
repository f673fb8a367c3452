const offsetMs = 3 * 3_600_000

/** Nairobi is three hours ahead of UTC all year round: there is no daylight saving to know about. */
const local = (at: Date): string => new Date(at.getTime() + offsetMs).toISOString()

/** yyyyMMddHHmmss */
export const nairobiTimestamp = (at: Date): string => local(at).slice(0, 19).replace(/\D/g, '')

/** yyyy-MM-dd */
export const nairobiDate = (at: Date): string => local(at).slice(0, 10)

/** yyyy-MM-dd HH:mm:ss */
export const nairobiDateTime = (at: Date): string => local(at).slice(0, 19).replace('T', ' ')

/** The beginning of the day that holds `at`. */
export const nairobiMidnight = (at: Date): Date => new Date(Date.parse(`${nairobiDate(at)}T00:00:00Z`) - offsetMs)
