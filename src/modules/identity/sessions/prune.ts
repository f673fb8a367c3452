import { lt, sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { prepareRemoval, prune } from '../../../db/prune.ts'
import { dashboardTokens, sessions } from '../../../db/tables/sessions.ts'

const oldTokens = prepareRemoval('dashboard_tokens.prune', dashboardTokens, {
  key: dashboardTokens.id,
  when: (before) => lt(dashboardTokens.expiresAt, before),
  by: [dashboardTokens.expiresAt, dashboardTokens.id],
})
/** As their index has it. */
const end = sql`least(${sessions.expiresAt}, ${sessions.revokedAt})`
const oldSessions = prepareRemoval('sessions.prune', sessions, {
  key: sessions.id,
  when: (before) => sql`${end} < ${before}
    and not exists (select from ${dashboardTokens} where ${dashboardTokens.sessionId} = ${sessions.id})`,
  by: [end, sessions.id],
})

/** Sessions that ended long ago: the audit log has what was done with them. */
export const pruneSessions = (db: Db, before: Date): Promise<void> =>
  prune(db, { removal: oldTokens, before }, { removal: oldSessions, before })
