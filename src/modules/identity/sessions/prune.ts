import { type Db, statement } from '../../../db/client.ts'
import { pruneInBatches } from '../../../db/prune.ts'

const tokens = statement(
  'dashboard_tokens.prune',
  'delete from dashboard_tokens where id in (select id from dashboard_tokens where expires_at < $1 order by expires_at limit $2) returning 1',
)
const sessions = statement(
  'sessions.prune',
  `delete from sessions where id in (
     select s.id from sessions s where least(s.expires_at, s.revoked_at) < $1
       and not exists (select from dashboard_tokens d where d.session_id = s.id) limit $2) returning 1`,
)

/** Sessions that ended long ago: the audit log has what was done with them. */
export const pruneSessions = async (db: Db, endedBefore: Date): Promise<void> => {
  await pruneInBatches(db, tokens, endedBefore)
  await pruneInBatches(db, sessions, endedBefore)
}
