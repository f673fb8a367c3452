import type { Permission } from '../../../auth/permissions.ts'
import type { SpendingControls } from '../../delegation/grants/schema.ts'
import type { ClientRecord } from '../clients/clients.ts'
import { matchesRedirectUri } from '../clients/redirect-uris.ts'
import { parseDetails } from '../controls.ts'
import { OAuthError } from '../errors.ts'
import { requestedResources } from '../resources.ts'
import type { CodeParameters, RequestedAccessParameters } from '../schema.ts'
import { oauthScopes, parseScope } from '../scopes.ts'
import { readChallenge } from './pkce.ts'

/** What a client requests of a person; the same for every way in which a request can arrive. */
export type RequestedAccess = { scopes: Permission[]; resources: string[]; requestedControls: SpendingControls | null }

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
