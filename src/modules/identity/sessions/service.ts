import { and, eq, isNull, type SQL } from 'drizzle-orm'
import type { Principal, RequestOrigin } from '../../../auth/principal.ts'
import { newSessionToken, sha256 } from '../../../auth/secrets.ts'
import type { Db, Tx } from '../../../db/client.ts'
import { dashboardTokens, sessions } from '../../../db/tables/sessions.ts'
import { type Actor, audit } from '../../../events/audit.ts'
import { daysAfter } from '../../../lib/clock.ts'
import { notFound } from '../../../lib/errors.ts'
import { newId, type Uuid } from '../../../lib/ids.ts'
import type { Deps } from '../../deps.ts'
import { requireSignInAuthority } from './authority.ts'
import { presentSession, type SessionView } from './present.ts'
import { findSession, type SessionRecord } from './queries.ts'

type SessionDeps = Pick<Deps, 'appendEvents' | 'clock' | 'config'>

export type NewSession = { id: Uuid; token: string; expiresAt: Date }

export const viewFor = (deps: Pick<Deps, 'clock' | 'config'>, currentId: Uuid | null): SessionView => ({
  now: deps.clock.now(),
  idleDays: deps.config.SESSION_IDLE_DAYS,
  currentId,
})

/**
 * Each sign-in gets a session of its own. Its token is created here and never reused, so it cannot be set beforehand (session fixation).
 */
export const createSession = async (
  tx: Tx,
  deps: SessionDeps,
  owner: { accountId: Uuid; workspaceId: Uuid; identityId: Uuid; origin: RequestOrigin; way: string },
): Promise<NewSession> => {
  const { at } = tx
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
  const data = presentSession(values, viewFor(deps, null))
  await deps.appendEvents(tx, at, [{ type: 'session.created', accountId, workspaceId: null, data }])
  await audit(tx, owner, at, { action: 'session.create', workspaceId, subject: { type: 'session', id: values.id } })
  return { id: values.id, token, expiresAt: values.expiresAt }
}

/** Ends a session at once. One that has already ended stays as it is, without a second event or audit row. */
export const revokeSession = async (tx: Tx, deps: SessionDeps, principal: Principal, id: Uuid): Promise<SessionRecord> => {
  const { accountId } = principal
  const { at } = tx
  const [session] = await tx.orm
    .update(sessions)
    .set({ revokedAt: at })
    .where(and(eq(sessions.id, id), eq(sessions.accountId, accountId), isNull(sessions.revokedAt)))
    .returning()
  if (!session) {
    const ended = await findSession(tx, accountId, id)
    if (!ended) throw notFound()
    return ended
  }
  const data = presentSession(session, viewFor(deps, null))
  await deps.appendEvents(tx, at, [{ type: 'session.revoked', accountId, workspaceId: null, data }])
  await audit(tx, principal, at, { action: 'session.revoke', subject: { type: 'session', id } })
  return session
}

const revokeAll = async (tx: Tx, deps: SessionDeps, actor: Actor, accountId: Uuid, which: SQL | undefined): Promise<void> => {
  const at = tx.at
  const ended = await tx.orm
    .update(sessions)
    .set({ revokedAt: at })
    .where(and(eq(sessions.accountId, accountId), isNull(sessions.revokedAt), which))
    .returning()
  await deps.appendEvents(
    tx,
    at,
    ended.map((session) => ({
      type: 'session.revoked',
      accountId,
      workspaceId: null,
      data: presentSession(session, viewFor(deps, null)),
    })),
  )
  for (const { id } of ended)
    await audit(tx, actor, at, { action: 'session.revoke', workspaceId: null, subject: { type: 'session', id } })
}

/** Ends every session of an account: for an account that is closed. */
export const revokeSessionsOf = (tx: Tx, deps: SessionDeps, actor: Actor, accountId: Uuid): Promise<void> =>
  revokeAll(tx, deps, actor, accountId, undefined)

/** Ends the sessions that began with a sign-in method, before it is detached: afterwards no column identifies them. */
export const revokeSessionsByIdentity = (
  tx: Tx,
  deps: SessionDeps,
  actor: Actor,
  identity: { id: Uuid; accountId: Uuid },
): Promise<void> => revokeAll(tx, deps, actor, identity.accountId, eq(sessions.identityId, identity.id))

/** Ends one of the caller's sessions. The caller must be allowed to change how the account is signed in to. */
export const endSession = async (tx: Tx, deps: SessionDeps, principal: Principal, id: Uuid): Promise<SessionRecord> => {
  await requireSignInAuthority(tx, deps, principal)
  return revokeSession(tx, deps, principal, id)
}

const sessionBehind = async (db: Db, { kind, id }: Principal['credential']): Promise<Uuid | null> => {
  if (kind === 'session') return id
  if (kind !== 'dashboard') return null
  const [token] = await db.orm
    .select({ sessionId: dashboardTokens.sessionId })
    .from(dashboardTokens)
    .where(eq(dashboardTokens.id, id))
  return token?.sessionId ?? null
}

/** Ends the caller's own session, with all tokens that it issued. A key or a grant is revoked, not logged out. */
export const logOut = async (tx: Tx, deps: SessionDeps, principal: Principal): Promise<void> => {
  const sessionId = await sessionBehind(tx, principal.credential)
  if (sessionId !== null) await revokeSession(tx, deps, principal, sessionId)
}
