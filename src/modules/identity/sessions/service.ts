import { and, eq, isNull, sql } from 'drizzle-orm'
import { sessionBehind } from '../../../auth/credential.ts'
import type { Principal, RequestOrigin } from '../../../auth/principal.ts'
import { digestOfSecret, newSecret, newSessionToken, sha256 } from '../../../auth/secrets.ts'
import type { Config } from '../../../config.ts'
import type { Db, Tx } from '../../../db/client.ts'
import { insertRow, prepareWrite } from '../../../db/prepare-write.ts'
import { prepareRemoval, prune } from '../../../db/prune.ts'
import { dashboardTokens, sessions } from '../../../db/tables/sessions.ts'
import { appendEvents } from '../../../events/append.ts'
import { type Actor, audit } from '../../../events/audit.ts'
import { daysAfter, isoTime, secondsAfter } from '../../../lib/clock.ts'
import { found, Refusal } from '../../../lib/errors.ts'
import { newId, type Uuid } from '../../../lib/ids.ts'
import { requireSignInAuthority } from './authority.ts'
import { findSession, presentSession, type SessionRecord } from './queries.ts'

export type NewSession = { id: Uuid; token: string; expiresAt: Date }

/** Who signs in, and how. */
type SessionOwner = { accountId: Uuid; workspaceId: Uuid; identityId: Uuid; origin: RequestOrigin; way: string }

/**
 * Each sign-in gets a session of its own. Its token is created here and never reused, so it cannot be set beforehand (session fixation).
 * Written with the commit.
 */
export const createSession = (tx: Tx, config: Config, owner: SessionOwner): NewSession => {
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
  insertRow(tx, sessions, record)
  const data = presentSession(record, config, at)
  tx.defer(appendEvents(tx, [{ type: 'session.created', accountId, workspaceId: null, data }]))
  const after = { expires_at: isoTime(record.expiresAt), secret_digest: digestOfSecret(record.tokenHash) }
  audit(tx, owner, 'session.create', { workspaceId, subject: record.id, after })
  return { id: record.id, token, expiresAt: record.expiresAt }
}

const revoke = prepareWrite(
  'sessions.revoke',
  { accountId: 'uuid', id: 'uuid?', identityId: 'uuid?', at: 'timestamptz' },
  (orm, at) =>
    orm
      .update(sessions)
      .set({ revokedAt: at.at })
      .where(
        and(
          eq(sessions.accountId, at.accountId),
          isNull(sessions.revokedAt),
          at.id && eq(sessions.id, at.id),
          at.identityId && eq(sessions.identityId, at.identityId),
        ),
      )
      .returning(),
)

/**
 * Ends sessions of an account at once: all, one, or those that began with a sign-in method (before it is detached: afterwards no column
 * identifies them). One that has already ended stays as it is, without a second event or audit row.
 */
export const revokeSessions = async (
  tx: Tx,
  config: Config,
  actor: Actor,
  which: { accountId: Uuid; id?: Uuid; identityId?: Uuid },
): Promise<SessionRecord[]> => {
  const { at } = tx
  const { accountId } = which
  const ended = await tx.run(revoke, { ...which, at })
  const eventOf = (session: SessionRecord) =>
    ({ type: 'session.revoked', accountId, workspaceId: null, data: presentSession(session, config, at) }) as const
  await appendEvents(tx, ended.map(eventOf))
  const where = which.id === undefined ? { workspaceId: null } : {}
  for (const { id } of ended) audit(tx, actor, 'session.revoke', { ...where, subject: id })
  return ended
}

/** Ends one of the caller's sessions. The caller must be allowed to change how the account is signed in to. */
export const endSession = async (tx: Tx, config: Config, principal: Principal, id: Uuid): Promise<SessionRecord> => {
  await requireSignInAuthority(tx, config, principal)
  const { accountId } = principal
  const [ended] = await revokeSessions(tx, config, principal, { accountId, id })
  return ended ?? found(await findSession(tx, { accountId, id }))
}

/** Ends the caller's own session, with all tokens that it issued. A key or a grant is revoked, not logged out. */
export const logOut = async (tx: Tx, config: Config, principal: Principal): Promise<void> => {
  const id = await sessionBehind(tx, principal.credential)
  if (id !== null) await revokeSessions(tx, config, principal, { accountId: principal.accountId, id })
}

/** A short-lived bearer with the caller's own workspace, permissions and grant; it ends with the credential that issued it. */
export const createDashboardToken = async (
  tx: Tx,
  config: Config,
  principal: Principal,
): Promise<{ token: string; expiresInSeconds: number }> => {
  const { kind, id: credentialId } = principal.credential
  // A token that could issue another one would outlive the credential behind it.
  if (kind === 'dashboard') throw new Refusal('forbidden', { message: 'A dashboard token cannot create another one.' })
  const { at } = tx
  const token = newSecret('dashboard_token')
  const ttl = config.DASHBOARD_TOKEN_TTL_SECONDS
  const natural = secondsAfter(at, ttl)
  const expiresAt = principal.expiresAt && principal.expiresAt < natural ? principal.expiresAt : natural
  const id = newId()
  insertRow(tx, dashboardTokens, {
    id,
    accountId: principal.accountId,
    workspaceId: principal.workspace.id,
    tokenHash: sha256(token),
    sessionId: kind === 'session' ? credentialId : null,
    apiKeyId: kind === 'api_key' ? credentialId : null,
    oauthTokenId: kind === 'oauth' ? credentialId : null,
    grantId: principal.grant?.id ?? null,
    createdAt: at,
    expiresAt,
  })
  audit(tx, principal, 'dashboard_token.create', { subject: id })
  return { token, expiresInSeconds: Math.floor((expiresAt.getTime() - at.getTime()) / 1000) }
}

const oldTokens = prepareRemoval('dashboard_tokens.prune', dashboardTokens.id, dashboardTokens.expiresAt)
/** As their index has it. */
const endOfSession = sql`least(${sessions.expiresAt}, ${sessions.revokedAt})`
const oldSessions = prepareRemoval('sessions.prune', sessions.id, endOfSession, {
  only: sql`not exists (select from ${dashboardTokens} where ${dashboardTokens.sessionId} = ${sessions.id})`,
})

/** Sessions that ended long ago: the audit log has what was done with them. */
export const pruneSessions = (db: Db, before: Date): Promise<void> =>
  prune(db, { removal: oldTokens, before }, { removal: oldSessions, before })
