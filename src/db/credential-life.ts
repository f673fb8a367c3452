import { daysAfter } from '../lib/clock.ts'

// Whether a grant, key or session is active, as code and as SQL. A test checks that both agree.

export type Life = 'active' | 'revoked' | 'expired'
export type Ends = { revokedAt: Date | null; expiresAt: Date | null }
export type SessionTimes = { revokedAt: Date | null; expiresAt: Date; lastUsedAt: Date }

const isPast = (time: Date | null, now: Date): boolean => time !== null && time <= now

/** A grant that is both revoked and expired counts as revoked. */
export const grantLife = ({ revokedAt, expiresAt }: Ends, now: Date): Life => {
  if (revokedAt) return 'revoked'
  return isPast(expiresAt, now) ? 'expired' : 'active'
}

/** A revocation can be in the future: a rotated key stays valid beside its successor until then. */
export const keyLife = ({ revokedAt, expiresAt }: Ends, now: Date): Life => {
  if (isPast(revokedAt, now)) return 'revoked'
  return isPast(expiresAt, now) ? 'expired' : 'active'
}

/** A session ends at its expiry, or earlier if it is unused for `idleDays`. */
export const sessionEnd = ({ expiresAt, lastUsedAt }: Pick<SessionTimes, 'expiresAt' | 'lastUsedAt'>, idleDays: number): Date => {
  const idleEnd = daysAfter(lastUsedAt, idleDays)
  return idleEnd < expiresAt ? idleEnd : expiresAt
}

export const sessionLife = (session: SessionTimes, now: Date, idleDays: number): Life =>
  grantLife({ revokedAt: session.revokedAt, expiresAt: sessionEnd(session, idleDays) }, now)

// The same conditions as SQL. `row` is the table's alias. `now` and `idleDays` are parameters or columns.

export const grantIsActive = (row: string, now: string): string =>
  `(${row}.revoked_at is null and (${row}.expires_at is null or ${row}.expires_at > ${now}))`

export const keyIsActive = (row: string, now: string): string =>
  `((${row}.revoked_at is null or ${row}.revoked_at > ${now}) and (${row}.expires_at is null or ${row}.expires_at > ${now}))`

export const sessionEnds = (row: string, idleDays: string): string =>
  `least(${row}.expires_at, ${row}.last_used_at + make_interval(days => ${idleDays}::int))`

export const sessionIsActive = (row: string, now: string, idleDays: string): string =>
  `(${row}.revoked_at is null and ${sessionEnds(row, idleDays)} > ${now})`
