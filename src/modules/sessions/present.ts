import type { sessions } from '../../db/tables/sessions.ts'
import { isoTime, isoTimeOrNull } from '../../http/wire.ts'
import { daysAfter } from '../../lib/clock.ts'
import { formatId, type Uuid } from '../../lib/ids.ts'
import type { Session } from './schema.ts'

export type SessionRecord = typeof sessions.$inferSelect

export const presentSession = (session: SessionRecord, now: Date, idleDays: number, currentId: Uuid | null): Session => {
  const idleEnd = daysAfter(session.lastUsedAt, idleDays)
  const ends = idleEnd < session.expiresAt ? idleEnd : session.expiresAt
  return {
    id: formatId('session', session.id),
    status: session.revokedAt ? 'revoked' : ends <= now ? 'expired' : 'active',
    current: session.id === currentId,
    ip: session.ip,
    user_agent: session.userAgent,
    created_at: isoTime(session.createdAt),
    last_used_at: isoTime(session.lastUsedAt),
    expires_at: isoTime(ends),
    revoked_at: isoTimeOrNull(session.revokedAt),
  }
}
