import { and, eq, isNull } from 'drizzle-orm'
import type { RequestOrigin } from '../../auth/principal.ts'
import { newSessionToken, sha256 } from '../../auth/secrets.ts'
import type { Tx } from '../../db/client.ts'
import { sessions } from '../../db/tables/sessions.ts'
import { type Actor, audit } from '../../events/audit.ts'
import { daysAfter } from '../../lib/clock.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import type { Deps } from '../deps.ts'
import { presentSession, type SessionRecord } from './present.ts'

export type NewSession = { id: Uuid; token: string; expiresAt: Date }

/** A session of its own for every sign-in: its token is made here and never again, so none can be planted beforehand. */
export const createSession = async (
  tx: Tx,
  deps: Deps,
  owner: { accountId: Uuid; workspaceId: Uuid; identityId: Uuid; origin: RequestOrigin; way: string },
): Promise<NewSession> => {
  const at = deps.clock.now()
  const token = newSessionToken()
  const { accountId, workspaceId, identityId, origin } = owner
  const values = {
    id: newId(),
    accountId,
    workspaceId,
    identityId,
    tokenHash: sha256(token),
    userAgent: origin.userAgent,
    ip: origin.ip,
    createdAt: at,
    lastUsedAt: at,
    expiresAt: daysAfter(at, deps.config.SESSION_TTL_DAYS),
    revokedAt: null,
  }
  await tx.orm.insert(sessions).values(values)
  const data = presentSession(values, at, deps.config.SESSION_IDLE_DAYS, null)
  await deps.appendEvents(tx, at, [{ type: 'session.created', accountId, workspaceId: null, data }])
  await audit(tx, owner, at, { action: 'session.create', workspaceId, subject: { type: 'session', id: values.id } })
  return { id: values.id, token, expiresAt: values.expiresAt }
}

/** Ends a session at once; false when there was none of this account's to end. */
export const revokeSession = async (
  tx: Tx,
  deps: Deps,
  actor: Actor & { accountId: Uuid },
  sessionId: Uuid,
): Promise<SessionRecord | undefined> => {
  const at = deps.clock.now()
  const [session] = await tx.orm
    .update(sessions)
    .set({ revokedAt: at })
    .where(and(eq(sessions.id, sessionId), eq(sessions.accountId, actor.accountId), isNull(sessions.revokedAt)))
    .returning()
  if (!session) return undefined
  const data = presentSession(session, at, deps.config.SESSION_IDLE_DAYS, null)
  await deps.appendEvents(tx, at, [{ type: 'session.revoked', accountId: session.accountId, workspaceId: null, data }])
  await audit(tx, actor, at, { action: 'session.revoke', subject: { type: 'session', id: session.id } })
  return session
}
