import type { ErrorCode } from '../../src/errors/catalogue.ts'
import type { OAuthErrorCode } from '../../src/modules/oauth/errors.ts'

const device = 'urn:ietf:params:oauth:grant-type:device_code'

/** How a client can fix each error of the OAuth endpoints, with code in backticks. */
export const oauthRemedies: Readonly<Record<Exclude<OAuthErrorCode, ErrorCode>, string>> = {
  invalid_client:
    'Send the `client_id` of your registration. A client with a secret sends it in the `Authorization: Basic` header or as `client_secret`. If the client no longer exists, register it again with `POST /v1/oauth/register`.',
  invalid_grant:
    'Start again: a code works once, with the `redirect_uri` and the `code_verifier` of its request. After a refresh, use only the new refresh token. If the newest one is refused, ask the person for consent again.',
  unauthorized_client: `Register a client whose \`grant_types\` name the grant type. Default value: \`["authorization_code", "refresh_token"]\`. The device flow needs \`["${device}", "refresh_token"]\`.`,
  unsupported_grant_type: `Use \`authorization_code\`, \`refresh_token\` or \`${device}\`. If your program needs no person’s consent, use an API key.`,
  unsupported_response_type: 'Send `response_type=code`, and exchange the code for tokens at `POST /v1/oauth/token`.',
  invalid_scope:
    'Use names from `scopes_supported` of `GET /.well-known/oauth-authorization-server`. A refresh cannot add scopes: ask the person for consent again.',
  access_denied: 'Stop. Start a new request only if the person wants it.',
  temporarily_unavailable: 'Keep your tokens, and send the same request again after `Retry-After`.',
  invalid_target:
    'Omit `resource`, or send this service’s address (the API and its MCP server) or `<address>/mcp` (the MCP server only). When you exchange or refresh, name only what the person consented to.',
  invalid_authorization_details:
    'Send a JSON array with one object of type `payment`. Its other members are spending controls, such as `per_payment_limit_minor` and `daily_limit_minor`. Unknown members are refused.',
  authorization_pending: 'Keep polling: wait `interval` seconds between requests until the person decides or the code expires.',
  slow_down: 'Wait five seconds longer between requests from now on. Each `slow_down` adds another five.',
  expired_token: 'Send `POST /v1/oauth/device_authorization` again, and show the person the new code.',
  invalid_redirect_uri:
    'Use `https`, your application’s own scheme, or `http` on `127.0.0.1`, `[::1]` or `localhost`, without a fragment, a wildcard or a user name. A client for the device flow alone needs no `redirect_uris`.',
  invalid_client_metadata: 'Correct the field that `error_description` names, and register again.',
  login_required: 'Send the request without `prompt=none`, so that the person can sign in.',
  consent_required: 'Send the request without `prompt=none`. A person consents to every request.',
  request_not_supported: 'Send the parameters themselves instead of `request`, or push them to `POST /v1/oauth/par`.',
  request_uri_not_supported: 'Push the request to `POST /v1/oauth/par`, and use the `request_uri` of the answer.',
}
