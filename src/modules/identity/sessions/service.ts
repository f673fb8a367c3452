import { and, eq, isNull, sql } from 'drizzle-orm'
import { administratorsAmong, sessionExpiry } from '../../../auth/administrators.ts'
import type { CredentialContext, CredentialReference } from '../../../auth/credential.ts'
import { type Principal, type RequestOrigin, requireFreshProof } from '../../../auth/principal.ts'
import { digestOfSecret, newOpaqueToken, newSecret, sha256 } from '../../../auth/secrets.ts'
import type { Config } from '../../../config.ts'
import { type Db, statement, type Tx } from '../../../db/client.ts'
import { grantLife, sessionEnd, sessionIsActive, sessionLife } from '../../../db/credential-life.ts'
import { prepare } from '../../../db/prepare.ts'
import { insertRow, prepareWrite, updateRow } from '../../../db/prepare-write.ts'
import { prepareRemoval, prune } from '../../../db/prune.ts'
import { selectPage, selectRow } from '../../../db/select-rows.ts'
import { dashboardTokens, sessions } from '../../../db/tables/sessions.ts'
import { appendEvents } from '../../../events/append.ts'
import { type Actor, audit } from '../../../events/audit.ts'
import { presenter } from '../../../http/presenter.ts'
import { daysAfter, earlier, isoTime, secondsAfter } from '../../../lib/clock.ts'
import { found, Refusal } from '../../../lib/errors.ts'
import { newId, type Uuid } from '../../../lib/ids.ts'
import { isLimited } from '../../delegation/control-rules.ts'
import { lockLineageShared } from '../../delegation/queries.ts'
import { endOfSession, oldActs } from '../../session-acts.ts'
import { Session } from '../schema.ts'

export type SessionRecord = typeof sessions.$inferSelect

export const pageSessions = selectPage('sessions.page', sessions, sessions.accountId)

export const findSession = selectRow('sessions.by_id', sessions, ['accountId', 'id'])

const shown = presenter(Session)

export const presentSession = (session: SessionRecord, config: Config, now: Date, currentId: Uuid | null = null): Session => {
  const idleDays = config.SESSION_IDLE_DAYS
  return shown(session, {
    status: sessionLife(session, now, idleDays),
    current: session.id === currentId,
    expires_at: isoTime(sessionEnd(session, idleDays)),
  })
}

const forbidden = (message: string): Refusal => new Refusal('forbidden', { message })

/** The actor that changes sign-in methods: the caller, or the actor that began a link that a provider's callback completes. */
export type Initiator = CredentialContext & CredentialReference

/**
 * A key may change sign-in methods only with `account.manage` and without spending limits in its lineage, because a session has
 * none. A frozen key may change none, and no key an administrator's. Locks the lineage before the account, as a revocation does.
 */
export const signInAuthorityRefusal = async (
  tx: Tx,
  config: Config,
  { accountId, grant, grantFrozen }: Pick<Initiator, 'accountId' | 'grant' | 'grantFrozen'>,
): Promise<Refusal | null> => {
  if (grantFrozen) return new Refusal('grant_frozen')
  if (grant === null) return null
  const lineage = await lockLineageShared(tx, grant.id)
  const own = lineage.at(-1)
  if (own?.id !== grant.id || lineage.some((each) => grantLife(each, tx.at) !== 'active')) return new Refusal('invalid_token')
  if (!own.permissions.includes('account.manage'))
    return new Refusal('forbidden', { details: { required_permission: 'account.manage' } })
  if (lineage.some(isLimited)) return forbidden('A key with spending controls cannot change how the account is signed in to.')
  if ((await administratorsAmong(tx, [accountId], config.ADMIN_ACCOUNTS)).size > 0)
    return forbidden("A key cannot change how an administrator's account is signed in to.")
  return null
}

export const requireSignInAuthority = async (tx: Tx, config: Config, principal: Principal): Promise<void> => {
  const refusal = await signInAuthorityRefusal(tx, config, principal)
  if (refusal) throw refusal
}

/** `isOwn`: the method belongs to the person, not to a grant that linked it. */
type Method = { id: Uuid; createdAt: Date; originSessionId: Uuid | null; isOwn: boolean }

/**
 * Whether the method began the session, or is the person's and older. A method that was added later may be a thief's, and one
 * that a key linked proves only the key.
 */
export const provesSession = (session: SessionRecord, { id, createdAt, originSessionId, isOwn }: Method): boolean =>
  id === (session.beganByIdentityId ?? session.identityId) ||
  (isOwn && createdAt < session.createdAt && originSessionId !== session.id)

/** Renews the session's proof. Returns false if the method does not prove this session. */
export const renewProof = async (tx: Tx, actor: Actor, { accountId, originSessionId: id }: Initiator, method: Method) => {
  const session = id === null ? undefined : await findSession(tx, { accountId, id })
  if (!session || session.revokedAt || !provesSession(session, method)) return false
  updateRow(tx, sessions, session, { provenAt: tx.at })
  audit(tx, actor, 'session.prove', { workspaceId: null, subject: session.id })
  return true
}

/** `expiresAt`: the end of a session that is not used. Each use extends it, up to `SESSION_TTL_DAYS`. */
export type NewSession = { token: string; expiresAt: Date }

type SessionOwner = {
  accountId: Uuid
  workspaceId: Uuid
  identityId: Uuid
  browserHash: Buffer
  origin: RequestOrigin
  way: string
  isAdmin: boolean
}

/** Each session gets a new token, which an attacker cannot set in advance (session fixation). The row is written at commit. */
export const createSession = (tx: Tx, config: Config, owner: SessionOwner): NewSession => {
  const { at } = tx
  const { accountId, workspaceId, identityId, browserHash, origin } = owner
  const token = newOpaqueToken()
  const record: SessionRecord = {
    id: newId(),
    accountId,
    workspaceId,
    identityId,
    beganByIdentityId: identityId,
    tokenHash: sha256(token),
    userAgent: origin.userAgent,
    browserHash,
    ip: origin.ip,
    createdAt: at,
    lastUsedAt: at,
    provenAt: at,
    expiresAt: sessionExpiry({ createdAt: at, expiresAt: daysAfter(at, config.SESSION_TTL_DAYS) }, owner.isAdmin),
    revokedAt: null,
  }
  insertRow(tx, sessions, record)
  const data = presentSession(record, config, at)
  tx.defer(appendEvents(tx, [{ type: 'session.created', accountId, workspaceId: null, data }]))
  const after = { expires_at: isoTime(record.expiresAt), secret_digest: digestOfSecret(record.tokenHash) }
  audit(tx, owner, 'session.create', { workspaceId, subject: record.id, after })
  return { token, expiresAt: sessionEnd(record, config.SESSION_IDLE_DAYS) }
}

const sessionsOfBrowser = prepare(
  'sessions.of_browser',
  { accountId: 'uuid', browserHash: 'bytea', userAgent: 'text|null' },
  (orm, param) =>
    orm
      .select({ id: sessions.id })
      .from(sessions)
      .where(
        and(
          eq(sessions.accountId, param.accountId),
          sql`(${sessions.browserHash} = ${param.browserHash}
            or (${sessions.browserHash} is null and ${sessions.userAgent} is not distinct from ${param.userAgent}))`,
        ),
      )
      .limit(1),
)

/** Sessions of earlier releases have no browser token, so their user agents are compared instead. */
export const isKnownBrowser = async (tx: Tx, accountId: Uuid, browserHash: Buffer, userAgent: string | null): Promise<boolean> =>
  (await tx.run(sessionsOfBrowser, { accountId, browserHash, userAgent })).length > 0

const revoke = prepareWrite(
  'sessions.revoke',
  { accountId: 'uuid', id: 'uuid?', identityIds: 'uuid[]?', at: 'timestamptz' },
  (orm, param) =>
    orm
      .update(sessions)
      .set({ revokedAt: param.at })
      .where(
        and(
          eq(sessions.accountId, param.accountId),
          isNull(sessions.revokedAt),
          param.id && eq(sessions.id, param.id),
          param.identityIds && sql`${sessions.identityId} = any(${param.identityIds})`,
        ),
      )
      .returning(),
)

/**
 * Ends all sessions, one session, or those that began with sign-in methods. Called before the methods are detached, because
 * afterwards no column identifies their sessions. Expired ones end too, because a longer `SESSION_IDLE_DAYS` would revive them.
 */
export const revokeSessions = async (
  tx: Tx,
  config: Config,
  actor: Actor,
  which: { accountId: Uuid; id?: Uuid; identityIds?: readonly Uuid[] },
): Promise<SessionRecord[]> => {
  const { at } = tx
  const { accountId } = which
  const ended = await tx.run(revoke, { ...which, at })
  const eventOf = (session: SessionRecord) =>
    ({ type: 'session.revoked', accountId, workspaceId: null, data: presentSession(session, config, at) }) as const
  await appendEvents(tx, ended.map(eventOf))
  const scope = which.id === undefined ? { workspaceId: null } : {}
  for (const { id } of ended) audit(tx, actor, 'session.revoke', { ...scope, subject: id })
  return ended
}

const maxSessions = 100
const longestIdle = statement('sessions.idlest')`
  select s.id, count(*) over ()::int as count from sessions s where s.account_id = $1 and ${sessionIsActive('s', '$2', '$3')}
   order by s.last_used_at, s.id limit 1`

/** Ends the session that was idle the longest if the maximum is reached. The caller has locked the account. */
export const endLongestIdleSession = async (tx: Tx, config: Config, actor: Actor, accountId: Uuid): Promise<void> => {
  const [session] = await tx.query<{ id: Uuid; count: number }>(longestIdle, [accountId, tx.at, config.SESSION_IDLE_DAYS])
  if (session && session.count >= maxSessions) await revokeSessions(tx, config, actor, { accountId, id: session.id })
}

export const endSession = async (tx: Tx, config: Config, principal: Principal, id: Uuid): Promise<SessionRecord> => {
  await requireSignInAuthority(tx, config, principal)
  const { accountId } = principal
  // A session may end itself. Any other end needs fresh proof, because a stolen session could end its owner's.
  if (id !== principal.originSessionId) requireFreshProof(principal, tx.at)
  const [ended] = await revokeSessions(tx, config, principal, { accountId, id })
  return ended ?? found(await findSession(tx, { accountId, id }))
}

/** Ends the caller's session, or the session that issued the caller's dashboard token. */
export const logOut = async (tx: Tx, config: Config, principal: Principal): Promise<void> => {
  const { accountId, originSessionId: id } = principal
  if (id !== null) await revokeSessions(tx, config, principal, { accountId, id })
}

export const createDashboardToken = async (tx: Tx, config: Config, principal: Principal) => {
  const { kind, id: credentialId } = principal.credential
  // A token that could issue another one would outlive the credential behind it.
  if (kind === 'dashboard') throw new Refusal('forbidden', { message: 'A dashboard token cannot create another one.' })
  const { at } = tx
  const token = newSecret('dashboard_token')
  const expiresAt = earlier(secondsAfter(at, config.DASHBOARD_TOKEN_TTL_SECONDS), principal.expiresAt)
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
  const expires_in = Math.floor((expiresAt.getTime() - at.getTime()) / 1000)
  return { token, token_type: 'Bearer' as const, expires_in }
}

const oldTokens = prepareRemoval('dashboard_tokens.prune', dashboardTokens.id, dashboardTokens.expiresAt)
const oldSessions = prepareRemoval('sessions.prune', sessions.id, endOfSession, {
  condition: sql`not exists (select from ${dashboardTokens} where ${dashboardTokens.sessionId} = ${sessions.id})`,
})

export const pruneSessions = (db: Db, before: Date): Promise<void> =>
  prune(db, ...[oldTokens, oldActs, oldSessions].map((removal) => ({ removal, before })))
