import type { Config } from '../../../config.ts'
import { sessionEnd, sessionLife } from '../../../db/credential-life.ts'
import { selectPage, selectRow } from '../../../db/select-rows.ts'
import { sessions } from '../../../db/tables/sessions.ts'
import { isoTime, isoTimeOrNull } from '../../../lib/clock.ts'
import { formatId, type Uuid } from '../../../lib/ids.ts'
import type { Session } from '../schema.ts'

export type SessionRecord = typeof sessions.$inferSelect

export const pageSessions = selectPage('sessions.page', sessions, sessions.accountId)

export const findSession = selectRow('sessions.by_id', sessions, ['accountId', 'id'])

/** `currentId`: the session of the reader. */
export const presentSession = (session: SessionRecord, config: Config, now: Date, currentId: Uuid | null = null): Session => {
  const idleDays = config.SESSION_IDLE_DAYS
  return {
    id: formatId('session', session.id),
    status: sessionLife(session, now, idleDays),
    current: session.id === currentId,
    ip: session.ip,
    user_agent: session.userAgent,
    created_at: isoTime(session.createdAt),
    last_used_at: isoTime(session.lastUsedAt),
    expires_at: isoTime(sessionEnd(session, idleDays)),
    revoked_at: isoTimeOrNull(session.revokedAt),
  }
}
