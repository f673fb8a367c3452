/** Errors of the OAuth specifications: RFC 6749 and, if noted, its companions. Maps a code to its status and sentence. */
export const oauthCatalogue = {
  invalid_request: [400, 'The request is not valid.'],
  invalid_client: [401, 'The client is not known, or did not prove who it is.'],
  invalid_grant: [400, 'The code or token is not valid: unknown, used, expired, revoked, or given to another client.'],
  unauthorized_client: [400, 'The client is not registered for this grant type.'],
  unsupported_grant_type: [
    400,
    'The grant type must be authorization_code, refresh_token or urn:ietf:params:oauth:grant-type:device_code.',
  ],
  unsupported_response_type: [400, 'Only the response type "code" is supported.'],
  invalid_scope: [400, 'The scope is unknown, or is more than was granted.'],
  access_denied: [400, 'The request was denied.'],
  temporarily_unavailable: [503, 'The service is temporarily unavailable. Try again later.'],
  /** RFC 8707 */
  invalid_target: [400, 'The resource is not one that a token can be given out for.'],
  /** RFC 9396 */
  invalid_authorization_details: [400, 'The authorization_details cannot be understood.'],
  /** RFC 8628 */
  authorization_pending: [400, 'The request is still undecided.'],
  slow_down: [400, 'Polling too fast: wait five seconds longer between requests from now on.'],
  expired_token: [400, 'The device code has expired.'],
  /** RFC 7591 */
  invalid_redirect_uri: [400, 'A redirect URI is not acceptable.'],
  invalid_client_metadata: [400, 'The client metadata is not acceptable.'],
  /** OpenID Connect Core 3.1.2.6 and RFC 9101 */
  login_required: [400, 'The browser is not signed in.'],
  consent_required: [400, 'Consent is always asked for.'],
  request_not_supported: [400, 'Request objects are not supported.'],
  request_uri_not_supported: [400, 'Only request URIs of the pushed authorization request endpoint are supported.'],
} as const satisfies Record<string, readonly [status: number, sentence: string]>

export type OAuthErrorCode = keyof typeof oauthCatalogue

/** Ends a sentence whose last words may be a suggestion: "… did you mean "scope"?". */
export const asSentence = (text: string): string => (text.endsWith('?') ? text : `${text}.`)

/** An error with an OAuth code. Routes outside OAuth throw `Refusal`; no route uses both. */
export class OAuthError extends Error {
  readonly code: OAuthErrorCode
  readonly status: number
  readonly headers: Record<string, string>
  /** The client's redirect URI, with this error and the client's state. */
  readonly back: string | undefined

  constructor(code: OAuthErrorCode, description?: string, headers: Record<string, string> = {}, back?: string) {
    super(description ?? oauthCatalogue[code][1])
    this.name = 'OAuthError'
    this.code = code
    this.status = oauthCatalogue[code][0]
    this.headers = headers
    this.back = back
  }
}

export const writesLost = (): OAuthError =>
  new OAuthError('temporarily_unavailable', 'The database has lost writes. Try again later.', { 'retry-after': '60' })
