import type { Config } from '../../../config.ts'
import { sessionEnd, sessionLife } from '../../../db/credential-life.ts'
import { selectPage, selectRow } from '../../../db/select-rows.ts'
import { sessions } from '../../../db/tables/sessions.ts'
import { presenter } from '../../../http/presenter.ts'
import { isoTime } from '../../../lib/clock.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { Session } from '../schema.ts'

export type SessionRecord = typeof sessions.$inferSelect

export const pageSessions = selectPage('sessions.page', sessions, sessions.accountId)

export const findSession = selectRow('sessions.by_id', sessions, ['accountId', 'id'])

const shown = presenter(Session)

/** `currentId`: the session of the reader. */
export const presentSession = (session: SessionRecord, config: Config, now: Date, currentId: Uuid | null = null): Session => {
  const idleDays = config.SESSION_IDLE_DAYS
  return shown(session, {
    status: sessionLife(session, now, idleDays),
    current: session.id === currentId,
    expires_at: isoTime(sessionEnd(session, idleDays)),
  })
}
