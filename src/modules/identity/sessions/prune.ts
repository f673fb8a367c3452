import { type Db, statement } from '../../../db/client.ts'
import { prune } from '../../../db/prune.ts'

const tokens = statement(
  'dashboard_tokens.prune',
  'delete from dashboard_tokens where id in (select id from dashboard_tokens where expires_at < $1 order by expires_at, id limit $2 offset $3) returning 1',
)
const sessions = statement(
  'sessions.prune',
  `delete from sessions where id in (
     select s.id from sessions s where least(s.expires_at, s.revoked_at) < $1
       and not exists (select from dashboard_tokens d where d.session_id = s.id) order by s.id limit $2 offset $3) returning 1`,
)

/** Sessions that ended long ago: the audit log has what was done with them. */
export const pruneSessions = (db: Db, before: Date): Promise<void> =>
  prune(db, { removal: tokens, before }, { removal: sessions, before })
