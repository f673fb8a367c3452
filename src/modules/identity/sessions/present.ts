import { sessionEnd, sessionLife } from '../../../db/credential-life.ts'
import { isoTime, isoTimeOrNull } from '../../../lib/clock.ts'
import { formatId, type Uuid } from '../../../lib/ids.ts'
import type { SessionRecord } from './queries.ts'
import type { Session } from './schema.ts'

/** The reader and the time: a session's status and `current` depend on them. */
export type SessionView = { now: Date; idleDays: number; currentId: Uuid | null }

export const presentSession = (session: SessionRecord, view: SessionView): Session => {
  return {
    id: formatId('session', session.id),
    status: sessionLife(session, view.now, view.idleDays),
    current: session.id === view.currentId,
    ip: session.ip,
    user_agent: session.userAgent,
    created_at: isoTime(session.createdAt),
    last_used_at: isoTime(session.lastUsedAt),
    expires_at: isoTime(sessionEnd(session, view.idleDays)),
    revoked_at: isoTimeOrNull(session.revokedAt),
  }
}
