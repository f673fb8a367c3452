/** RFC 3339 in UTC with milliseconds: every time on the wire. */
export const isoTime = (time: Date): string => time.toISOString()
export const isoTimeOrNull = (time: Date | null): string | null => (time ? time.toISOString() : null)
