import { and, eq } from 'drizzle-orm'
import type { Permission } from '../../auth/permissions.ts'
import type { Principal } from '../../auth/principal.ts'
import { equalBytes, sha256 } from '../../auth/secrets.ts'
import type { Db, Tx } from '../../db/client.ts'
import { prepare } from '../../db/prepare.ts'
import { selectRow } from '../../db/select-rows.ts'
import { grants } from '../../db/tables/grants.ts'
import { oauthAuthorizations, oauthGrants } from '../../db/tables/oauth.ts'
import { notFound } from '../../lib/errors.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { SpendingControls } from '../delegation/schema.ts'
import { matchesRedirectUri } from './client-metadata.ts'
import type { ClientRecord } from './clients.ts'
import { parseDetails } from './controls.ts'
import { OAuthError } from './errors.ts'
import type { CodeParameters, RequestedAccessParameters } from './schema.ts'
import { oauthScopes, parseScope, requestedResources } from './scopes.ts'

const challengePattern = /^[A-Za-z0-9_-]{43}$/
const verifierPattern = /^[A-Za-z0-9._~-]{43,128}$/

type Challenge = { code_challenge?: string | undefined; code_challenge_method?: string | undefined }

/** S256 or nothing: an absent method would mean `plain` (RFC 7636 section 4.3). */
export const readChallenge = ({ code_challenge: challenge, code_challenge_method: method }: Challenge): string => {
  if (challenge === undefined) throw new OAuthError('invalid_request', 'code_challenge is required (PKCE).')
  if (method !== 'S256') throw new OAuthError('invalid_request', 'code_challenge_method must be S256.')
  if (!challengePattern.test(challenge))
    throw new OAuthError('invalid_request', 'code_challenge must be the base64url SHA-256 of a verifier: 43 characters.')
  return challenge
}

/**
 * A verifier without a challenge is as wrong as a challenge without a verifier: an attacker may have removed or added one (RFC 9700,
 * 4.8.2).
 */
export const checkVerifier = (challenge: string | null, verifier: string | undefined): void => {
  if (challenge === null && verifier === undefined) return
  if (challenge === null) throw new OAuthError('invalid_grant', 'This request was begun without a code_challenge.')
  if (verifier === undefined) throw new OAuthError('invalid_request', 'code_verifier is required.')
  const fits =
    verifierPattern.test(verifier) && equalBytes(Buffer.from(sha256(verifier).toString('base64url')), Buffer.from(challenge))
  if (!fits) throw new OAuthError('invalid_grant', 'code_verifier does not belong to the code_challenge.')
}

/** What a client requests of a person; the same for every way in which a request can arrive. */
type RequestedAccess = { scopes: Permission[]; resources: string[]; requestedControls: SpendingControls | null }

/** A client that names no scope asks for reading only: to move money or change something it says so. */
const onlyReads = (scope: Permission): boolean => scope.endsWith('.read')

const isScopeOfOurs = (scope: string): scope is Permission => (oauthScopes as readonly string[]).includes(scope)

export const readRequestedAccess = (
  client: ClientRecord,
  parameters: RequestedAccessParameters,
  own: string,
): RequestedAccess => ({
  scopes: parseScope(parameters.scope) ?? (client.scopes ?? oauthScopes).filter(isScopeOfOurs).filter(onlyReads),
  resources: requestedResources(parameters.resource, own),
  requestedControls: parseDetails(parameters.authorization_details),
})

/** Checked before everything else: until this passes, the answer is only ever a page of ours. */
export const readRedirectUri = (client: ClientRecord, requested: string | undefined): string => {
  const [only, ...others] = client.redirectUris
  if (requested === undefined) {
    if (only !== undefined && others.length === 0) return only
    throw new OAuthError('invalid_request', 'redirect_uri is required.')
  }
  if (!client.redirectUris.some((registered) => matchesRedirectUri(registered, requested)))
    throw new OAuthError('invalid_request', 'redirect_uri is not one that the client registered.')
  return requested
}

/** Everything else in an authorization request; errors here may be reported to the client. */
export const readCodeRequest = (
  client: ClientRecord,
  parameters: CodeParameters,
  own: string,
): RequestedAccess & { codeChallenge: string } => {
  if (!client.grantTypes.includes('authorization_code')) throw new OAuthError('unauthorized_client')
  if (parameters.request !== undefined) throw new OAuthError('request_not_supported')
  if (parameters.response_type === undefined) throw new OAuthError('invalid_request', 'response_type is required.')
  if (parameters.response_type !== 'code') throw new OAuthError('unsupported_response_type')
  if (parameters.response_mode !== undefined && parameters.response_mode !== 'query')
    throw new OAuthError('invalid_request', 'response_mode must be query.')
  const codeChallenge = readChallenge(parameters)
  return { ...readRequestedAccess(client, parameters, own), codeChallenge }
}

export type RedirectTarget = { redirectUri: string; state: string | null; issuer: string }

/** The authorization response, for success and error, always with `iss` (RFC 9207). The URI's own query stays as it was registered. */
export const answerUrl = ({ redirectUri, state, issuer }: RedirectTarget, parameters: Record<string, string>): string => {
  const query = new URLSearchParams({ ...parameters, ...(state !== null && { state }), iss: issuer })
  return `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${query}`
}

export const errorUrl = (answer: RedirectTarget, error: OAuthError): string =>
  answerUrl(answer, { error: error.code, error_description: error.message })

export type AuthorizationRecord = typeof oauthAuthorizations.$inferSelect

export const decisionTtlSeconds = 600

const grantFor = prepare('oauth_grants.of_client', { clientId: 'uuid', accountId: 'uuid' }, (orm, at) =>
  orm
    .select({ id: grants.id })
    .from(oauthGrants)
    .innerJoin(grants, eq(grants.id, oauthGrants.grantId))
    .where(and(eq(oauthGrants.clientId, at.clientId), eq(grants.accountId, at.accountId)))
    .limit(1),
)

/** The person has given this client a grant before, so the client may be answered without asking the person again. */
export const hasGrantFor = async (db: Db, client: ClientRecord, principal: Principal | null): Promise<boolean> => {
  if (!principal) return false
  return (await db.run(grantFor, { clientId: client.id, accountId: principal.accountId })).length > 0
}

/** The public id of a request, for the person who decides it. */
export type AuthorizationName = { id: Uuid } | { userCode: string }

const lock = { lock: 'update' } as const
const findById = selectRow('oauth_authorizations.by_id', oauthAuthorizations, ['id', 'flow'])
const findByUserCode = selectRow('oauth_authorizations.by_user_code', oauthAuthorizations, ['userCode', 'flow'])
const lockById = selectRow('oauth_authorizations.lock', oauthAuthorizations, ['id', 'flow'], lock)
const lockByUserCode = selectRow('oauth_authorizations.lock_by_user_code', oauthAuthorizations, ['userCode', 'flow'], lock)

/** A request that began in another person's browser, or has not reached a browser yet, is not found. */
const visible = (row: AuthorizationRecord | undefined, principal: Principal): AuthorizationRecord => {
  if (!row || row.status === 'pushed') throw notFound()
  if (row.accountId !== null && row.accountId !== principal.accountId) throw notFound()
  return row
}

export const findAuthorization = async (db: Db, principal: Principal, name: AuthorizationName): Promise<AuthorizationRecord> =>
  visible(
    'id' in name ? await findById(db, { id: name.id, flow: 'code' }) : await findByUserCode(db, { ...name, flow: 'device' }),
    principal,
  )

export const lockAuthorization = async (tx: Tx, principal: Principal, name: AuthorizationName): Promise<AuthorizationRecord> =>
  visible(
    'id' in name ? await lockById(tx, { id: name.id, flow: 'code' }) : await lockByUserCode(tx, { ...name, flow: 'device' }),
    principal,
  )
