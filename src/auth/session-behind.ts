import { eq } from 'drizzle-orm'
import { type Db, first } from '../db/client.ts'
import { prepare } from '../db/prepare.ts'
import { dashboardTokens } from '../db/tables/sessions.ts'
import type { Uuid } from '../lib/ids.ts'
import type { Principal } from './principal.ts'

const ofToken = prepare('sessions.of_dashboard_token', { id: 'uuid' }, (orm, at) =>
  orm.select({ sessionId: dashboardTokens.sessionId }).from(dashboardTokens).where(eq(dashboardTokens.id, at.id)),
)

/** The browser's session that a caller acts in, also when it acts with a dashboard token that the session issued. */
export const sessionBehind = async (db: Db, { kind, id }: Principal['credential']): Promise<Uuid | null> => {
  if (kind === 'session') return id
  return kind === 'dashboard' ? ((await first(db, ofToken, { id }))?.sessionId ?? null) : null
}
