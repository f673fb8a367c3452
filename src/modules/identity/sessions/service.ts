import { and, eq, isNull } from 'drizzle-orm'
import type { Principal, RequestOrigin } from '../../../auth/principal.ts'
import { digestOfSecret, newSessionToken, sha256 } from '../../../auth/secrets.ts'
import { sessionBehind } from '../../../auth/session-behind.ts'
import type { Config } from '../../../config.ts'
import { first, type Tx } from '../../../db/client.ts'
import { prepareInsert, prepareWrite } from '../../../db/prepare-write.ts'
import { sessions } from '../../../db/tables/sessions.ts'
import { appendEvents } from '../../../events/append.ts'
import { type Actor, audit } from '../../../events/audit.ts'
import type { Clock } from '../../../lib/clock.ts'
import { daysAfter, isoTime } from '../../../lib/clock.ts'
import { found } from '../../../lib/errors.ts'
import { newId, type Uuid } from '../../../lib/ids.ts'
import type { Deps } from '../deps.ts'
import { requireSignInAuthority } from './authority.ts'
import { presentSession, type SessionView } from './present.ts'
import { findSession, type SessionRecord } from './queries.ts'

type SessionDeps = Pick<Deps, 'clock' | 'config'>

export type NewSession = { id: Uuid; token: string; expiresAt: Date }

export const viewFor = (clock: Clock, config: Config, currentId: Uuid | null): SessionView => ({
  now: clock.now(),
  idleDays: config.SESSION_IDLE_DAYS,
  currentId,
})

/** Who signs in, and how. */
export type SessionOwner = { accountId: Uuid; workspaceId: Uuid; identityId: Uuid; origin: RequestOrigin; way: string }

const insert = prepareInsert('sessions.insert', sessions)

/**
 * Each sign-in gets a session of its own. Its token is created here and never reused, so it cannot be set beforehand (session fixation).
 * Written with the commit.
 */
export const createSession = (tx: Tx, clock: Clock, config: Config, owner: SessionOwner): NewSession => {
  const { at } = tx
  const { accountId, workspaceId, identityId, origin } = owner
  const token = newSessionToken()
  const record: SessionRecord = {
    id: newId(),
    accountId,
    workspaceId,
    identityId,
    beganByIdentityId: identityId,
    tokenHash: sha256(token),
    userAgent: origin.userAgent,
    ip: origin.ip,
    createdAt: at,
    lastUsedAt: at,
    provenAt: at,
    expiresAt: daysAfter(at, config.SESSION_TTL_DAYS),
    revokedAt: null,
  }
  insert(tx, record)
  const data = presentSession(record, viewFor(clock, config, null))
  tx.defer(appendEvents(tx, [{ type: 'session.created', accountId, workspaceId: null, data }]))
  const after = { expires_at: isoTime(record.expiresAt), secret_digest: digestOfSecret(record.tokenHash) }
  tx.defer(audit(tx, owner, at, { action: 'session.create', workspaceId, subject: { type: 'session', id: record.id }, after }))
  return { id: record.id, token, expiresAt: record.expiresAt }
}

const revokeOne = prepareWrite('sessions.revoke', { id: 'uuid', accountId: 'uuid', at: 'timestamptz' }, (orm, at) =>
  orm
    .update(sessions)
    .set({ revokedAt: at.at })
    .where(and(eq(sessions.id, at.id), eq(sessions.accountId, at.accountId), isNull(sessions.revokedAt)))
    .returning(),
)

const revokeSeveral = prepareWrite(
  'sessions.revoke_all',
  { accountId: 'uuid', identityId: 'uuid?', at: 'timestamptz' },
  (orm, at) =>
    orm
      .update(sessions)
      .set({ revokedAt: at.at })
      .where(
        and(
          eq(sessions.accountId, at.accountId),
          isNull(sessions.revokedAt),
          at.identityId && eq(sessions.identityId, at.identityId),
        ),
      )
      .returning(),
)

/** Ends a session at once. One that has already ended stays as it is, without a second event or audit row. */
export const revokeSession = async (tx: Tx, deps: SessionDeps, principal: Principal, id: Uuid): Promise<SessionRecord> => {
  const { accountId } = principal
  const { at } = tx
  const session = await first(tx, revokeOne, { id, accountId, at })
  if (!session) {
    return found(await findSession(tx, accountId, id))
  }
  const data = presentSession(session, viewFor(deps.clock, deps.config, null))
  await appendEvents(tx, [{ type: 'session.revoked', accountId, workspaceId: null, data }])
  await audit(tx, principal, at, { action: 'session.revoke', subject: { type: 'session', id } })
  return session
}

/** All of an account, or those that began with one identity. */
const revokeAll = async (
  tx: Tx,
  deps: SessionDeps,
  actor: Actor,
  { accountId, identityId }: { accountId: Uuid; identityId: Uuid | null },
): Promise<void> => {
  const { at } = tx
  const ended = await tx.run(revokeSeveral, { accountId, identityId, at })
  await appendEvents(
    tx,
    ended.map((session) => ({
      type: 'session.revoked',
      accountId,
      workspaceId: null,
      data: presentSession(session, viewFor(deps.clock, deps.config, null)),
    })),
  )
  for (const { id } of ended)
    await audit(tx, actor, at, { action: 'session.revoke', workspaceId: null, subject: { type: 'session', id } })
}

/** Ends every session of an account: for an account that is closed. */
export const revokeSessionsOf = (tx: Tx, deps: SessionDeps, actor: Actor, accountId: Uuid): Promise<void> =>
  revokeAll(tx, deps, actor, { accountId, identityId: null })

/** Ends the sessions that began with a sign-in method, before it is detached: afterwards no column identifies them. */
export const revokeSessionsByIdentity = (
  tx: Tx,
  deps: SessionDeps,
  actor: Actor,
  { id, accountId }: { id: Uuid; accountId: Uuid },
): Promise<void> => revokeAll(tx, deps, actor, { accountId, identityId: id })

/** Ends one of the caller's sessions. The caller must be allowed to change how the account is signed in to. */
export const endSession = async (tx: Tx, deps: SessionDeps, principal: Principal, id: Uuid): Promise<SessionRecord> => {
  await requireSignInAuthority(tx, deps.config, principal)
  return revokeSession(tx, deps, principal, id)
}

/** Ends the caller's own session, with all tokens that it issued. A key or a grant is revoked, not logged out. */
export const logOut = async (tx: Tx, clock: Clock, config: Config, principal: Principal): Promise<void> => {
  const sessionId = await sessionBehind(tx, principal.credential)
  if (sessionId !== null) await revokeSession(tx, { config, clock }, principal, sessionId)
}
