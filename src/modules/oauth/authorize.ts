import { and, eq, gt } from 'drizzle-orm'
import type { Permission } from '../../auth/permissions.ts'
import type { Principal } from '../../auth/principal.ts'
import { newOpaqueToken, sha256 } from '../../auth/secrets.ts'
import { first } from '../../db/client.ts'
import { prepare } from '../../db/prepare.ts'
import { insertOnce, prepareWrite } from '../../db/prepare-write.ts'
import { grants } from '../../db/tables/grants.ts'
import { oauthAuthorizations, oauthGrants } from '../../db/tables/oauth.ts'
import { readJson } from '../../http/request-syntax.ts'
import { fieldErrors, sentences } from '../../http/sentences.ts'
import { secondsAfter } from '../../lib/clock.ts'
import { refuseFields } from '../../lib/errors.ts'
import { formatId, newId, type Uuid } from '../../lib/ids.ts'
import { presentControls } from '../delegation/present.ts'
import { type SpendingControls, SpendingControlsIn } from '../delegation/schema.ts'
import type { Parts } from '../parts.ts'
import { requireGrantType } from './client-metadata.ts'
import { type ClientRecord, requireClient } from './clients.ts'
import { asSentence, OAuthError } from './errors.ts'
import { matchesRedirectUri } from './redirect-uri.ts'
import type { AuthorizeParameters, CodeParameters, DeviceParameters } from './schema.ts'
import { oauthScopes, parseScope, readResources } from './scopes.ts'

const challengePattern = /^[A-Za-z0-9_-]{43}$/

/** Requires S256. RFC 7636 section 4.3 assumes `plain` if the method is absent. */
export const readChallenge = (
  { code_challenge: challenge, code_challenge_method: method }: DeviceParameters | CodeParameters,
  missing = 'code_challenge is required (PKCE).',
): string => {
  if (challenge === undefined) throw new OAuthError('invalid_request', missing)
  if (method !== 'S256') throw new OAuthError('invalid_request', 'code_challenge_method must be S256.')
  if (!challengePattern.test(challenge))
    throw new OAuthError('invalid_request', 'code_challenge must be the base64url SHA-256 of a verifier: 43 characters.')
  return challenge
}

const refusedDetails = (why: string) =>
  new OAuthError('invalid_authorization_details', asSentence(`authorization_details ${why}`))

const maxDetailsLength = 20_000

/** RFC 9396: accepts one object of type `payment`. Refuses unknown members, because a misspelled limit would limit nothing. */
const parseDetails = (text: string | undefined): SpendingControls | null => {
  if (text === undefined) return null
  if (text.length > maxDetailsLength) throw refusedDetails(`must be at most ${maxDetailsLength} characters`)
  let list: unknown
  try {
    list = readJson(text)
  } catch {
    throw refusedDetails('must be JSON without repeated names, deep nesting or characters that cannot be stored')
  }
  if (!Array.isArray(list) || list.length !== 1) throw refusedDetails('must be a list of one object')
  const [first]: unknown[] = list
  if (typeof first !== 'object' || first === null || !('type' in first) || first.type !== 'payment')
    throw refusedDetails('must be of the type "payment"')
  const { type: _type, ...members } = first
  const parsed = SpendingControlsIn.safeParse(members, { error: sentences() })
  if (parsed.success) return presentControls(parsed.data)
  throw refusedDetails(`cannot be understood: ${refuseFields(fieldErrors(parsed.error.issues)).message}`)
}

/** A client that names no scope asks for read access only. Refused here, because no person could consent to nothing. */
const defaultScopes = ({ scopes }: ClientRecord): Permission[] => {
  const reading = oauthScopes.filter((scope) => scope.endsWith('.read') && (scopes === null || scopes.includes(scope)))
  if (reading.length > 0) return reading
  throw new OAuthError('invalid_scope', 'scope is required, because the client registered no scope that only reads.')
}

/** Reads the access that any kind of request asks for. */
export const readRequestedAccess = (
  client: ClientRecord,
  parameters: Pick<CodeParameters, 'scope' | 'resource' | 'authorization_details'>,
  publicUrl: string,
) => ({
  scopes: parseScope(parameters.scope) ?? defaultScopes(client),
  resources: readResources(parameters.resource, publicUrl),
  requestedControls: parseDetails(parameters.authorization_details),
})

/** Errors stay on a page of ours until the redirect URI is known to be valid. */
const readRedirectUri = (client: ClientRecord, requested: string | undefined): string => {
  const [only, ...others] = client.redirectUris
  if (requested === undefined) {
    if (only !== undefined && others.length === 0) return only
    throw new OAuthError('invalid_request', 'redirect_uri is required.')
  }
  if (!client.redirectUris.some((registered) => matchesRedirectUri(registered, requested)))
    throw new OAuthError('invalid_request', 'redirect_uri is not one that the client registered.')
  return requested
}

/** Errors from this function may be reported to the client. */
const readCodeRequest = (client: ClientRecord, parameters: CodeParameters, publicUrl: string) => {
  requireGrantType(client, 'authorization_code')
  if (parameters.request !== undefined) throw new OAuthError('request_not_supported')
  if (parameters.response_type === undefined) throw new OAuthError('invalid_request', 'response_type is required.')
  if (parameters.response_type !== 'code') throw new OAuthError('unsupported_response_type')
  if (parameters.response_mode !== undefined && parameters.response_mode !== 'query')
    throw new OAuthError('invalid_request', 'response_mode must be query.')
  const codeChallenge = readChallenge(parameters)
  const requested = readRequestedAccess(client, parameters, publicUrl)
  return { flow: 'code', ...requested, codeChallenge, state: parameters.state ?? null } as const
}

const isPromptNone = ({ prompt }: CodeParameters): boolean => prompt?.split(' ').includes('none') === true

type RedirectTarget = { redirectUri: string; state: string | null; issuer: string }

/** Returns the redirect URI with the answer, always with `iss` (RFC 9207). The URI's own query stays as registered. */
export const answerUrl = ({ redirectUri, state, issuer }: RedirectTarget, parameters: Record<string, string>): string => {
  const query = new URLSearchParams({ ...parameters, ...(state !== null && { state }), iss: issuer })
  return `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${query}`
}

export const errorUrl = (answer: RedirectTarget, error: OAuthError): string =>
  answerUrl(answer, { error: error.code, error_description: error.message })

export type AuthorizeDeps = Pick<Parts, 'clock' | 'config' | 'db'>
type NewRequest = Omit<typeof oauthAuthorizations.$inferInsert, 'id' | 'clientId' | 'createdAt' | 'expiresAt'>

/** `request` is called again if its user code is taken. */
export const storeRequest = async <Made extends NewRequest>(
  { clock, db }: AuthorizeDeps,
  client: ClientRecord,
  ttlSeconds: number,
  request: () => Made,
): Promise<Made & { id: Uuid }> => {
  const at = clock.now()
  for (;;) {
    const made = { id: newId(), ...request() }
    const row = { ...made, clientId: client.id, createdAt: at, expiresAt: secondsAfter(at, ttlSeconds) }
    if (await insertOnce(db, oauthAuthorizations, row, oauthAuthorizations.userCode)) return made
  }
}

const requestUriPrefix = 'urn:ietf:params:oauth:request_uri:'
const pushedTtlSeconds = 90
const decisionTtlSeconds = 600

/** RFC 9126: checks everything now, and reports errors to the client instead of a browser. */
export const pushRequest = async (deps: AuthorizeDeps, client: ClientRecord, parameters: CodeParameters) => {
  const redirectUri = readRedirectUri(client, parameters.redirect_uri)
  if (isPromptNone(parameters)) throw new OAuthError('consent_required')
  const request = readCodeRequest(client, parameters, deps.config.publicUrl)
  const reference = newOpaqueToken()
  const requestUriHash = sha256(reference)
  await storeRequest(deps, client, pushedTtlSeconds, () => ({ status: 'pushed', ...request, redirectUri, requestUriHash }))
  return { request_uri: requestUriPrefix + reference, expires_in: pushedTtlSeconds }
}

const consumeByUri = prepareWrite(
  'oauth_authorizations.take_pushed',
  {
    requestUriHash: 'bytea',
    clientId: 'uuid',
    at: 'timestamptz',
    expiresAt: 'timestamptz',
    accountId: 'uuid|null',
    sessionId: 'uuid|null',
  },
  (orm, param) =>
    orm
      .update(oauthAuthorizations)
      .set({ status: 'pending', expiresAt: param.expiresAt, accountId: param.accountId, sessionId: param.sessionId })
      .where(
        and(
          eq(oauthAuthorizations.requestUriHash, param.requestUriHash),
          eq(oauthAuthorizations.clientId, param.clientId),
          eq(oauthAuthorizations.status, 'pushed'),
          gt(oauthAuthorizations.expiresAt, param.at),
        ),
      )
      .returning({ id: oauthAuthorizations.id }),
)

/** Only the person who is signed in when the request arrives may decide it. A delegated credential counts as signed out. */
const sessionBinding = (principal: Principal | null) =>
  principal && !principal.grant
    ? { accountId: principal.accountId, sessionId: principal.originSessionId }
    : { accountId: null, sessionId: null }

const consumePushed = async (deps: AuthorizeDeps, client: ClientRecord, principal: Principal | null, requestUri: string) => {
  if (!requestUri.startsWith(requestUriPrefix)) throw new OAuthError('request_uri_not_supported')
  const at = deps.clock.now()
  const row = await first(deps.db, consumeByUri, {
    requestUriHash: sha256(requestUri.slice(requestUriPrefix.length)),
    clientId: client.id,
    at,
    expiresAt: secondsAfter(at, decisionTtlSeconds),
    ...sessionBinding(principal),
  })
  if (!row) throw new OAuthError('invalid_request', 'The request_uri is unknown, used, expired, or of another client.')
  return row
}

const existingGrant = prepare('oauth_grants.of_client', { clientId: 'uuid', accountId: 'uuid' }, (orm, param) =>
  orm
    .select({ id: grants.id })
    .from(oauthGrants)
    .innerJoin(grants, eq(grants.id, oauthGrants.grantId))
    .where(and(eq(oauthGrants.clientId, param.clientId), eq(grants.accountId, param.accountId)))
    .limit(1),
)

/**
 * Returns the browser's next address. Reports an error by redirect only to a client to which the person has given a grant,
 * because otherwise we would redirect to any registered address (RFC 9700, 4.11.2). Others get a page of ours with a link back.
 */
export const authorize = async (
  deps: AuthorizeDeps & Pick<Parts, 'clientDocuments'>,
  principal: Principal | null,
  parameters: AuthorizeParameters,
): Promise<string> => {
  if (parameters.client_id === undefined) throw new OAuthError('invalid_request', 'client_id is required.')
  const client = await requireClient(deps, parameters.client_id)
  const page = ({ id }: { id: Uuid }) => {
    const consent = `/consent?authorization=${formatId('oauth_authorization', id)}`
    return principal && !principal.grant ? consent : `/sign-in?return_to=${encodeURIComponent(consent)}`
  }
  if (parameters.request_uri !== undefined) return page(await consumePushed(deps, client, principal, parameters.request_uri))
  const redirectUri = readRedirectUri(client, parameters.redirect_uri)
  try {
    const request = readCodeRequest(client, parameters, deps.config.publicUrl)
    if (isPromptNone(parameters)) throw new OAuthError(principal ? 'consent_required' : 'login_required')
    const pending = { status: 'pending', ...request, redirectUri, ...sessionBinding(principal) } as const
    return page(await storeRequest(deps, client, decisionTtlSeconds, () => pending))
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error
    const back = errorUrl({ redirectUri, state: parameters.state ?? null, issuer: deps.config.publicUrl }, error)
    const granted = principal && (await first(deps.db, existingGrant, { clientId: client.id, accountId: principal.accountId }))
    if (granted) return back
    throw new OAuthError(error.code, error.message, error.headers, back)
  }
}
