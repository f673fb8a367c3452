import type { OperationTexts } from '../../http/operation-text.ts'

export const oauthOperations = {
  'oauth.server_metadata': {
    summary: 'Find the authorization server',
    text: 'RFC 8414: endpoints, grant types and scopes. OAuth client libraries read this by themselves.',
  },
  'oauth.resource_metadata': {
    summary: 'Find the issuer of tokens for this API',
    text: 'RFC 9728: which authorization server and which scopes belong to this API. `WWW-Authenticate` points here.',
  },
  'oauth.mcp_resource_metadata': {
    summary: 'Find the issuer of tokens for the MCP server',
    text: 'RFC 9728, for the MCP endpoint of this service: which authorization server and which scopes belong to it.',
  },
  'oauth.authorize': {
    summary: 'Ask a person for consent',
    text: 'Where a client sends the browser. PKCE with S256 is required. A valid request leads on to the consent page, and from there back to the redirect URI.',
  },
  'oauth.token': {
    summary: 'Get or refresh tokens',
    text: 'Redeems a code, a device code or a refresh token. A refresh token works once. Using it again revokes the grant. The body is a form.',
    body: 'OAuthTokenRequest',
  },
  'oauth.revoke': {
    summary: 'Revoke a token',
    text: 'RFC 7009. Revoking an access token or a refresh token ends its grant. Unknown tokens are answered in the same way.',
    body: 'OAuthRevocationRequest',
  },
  'oauth.introspect': {
    summary: 'Introspect a token',
    text: 'RFC 7662, for resource servers: whether a token is active, whose it is, and its scopes and spending controls.',
    body: 'OAuthIntrospectionRequest',
  },
  'oauth.push': {
    summary: 'Push an authorization request',
    text: 'RFC 9126: sends the parameters first, so that the browser has only a short reference and cannot change them.',
    body: 'OAuthPushRequest',
  },
  'oauth.device_authorization': {
    summary: 'Start the flow for a device',
    text: 'RFC 8628, for agents without a browser: a code that the person enters at the device page while the client polls for the token. PKCE is required here too.',
    body: 'OAuthDeviceRequest',
  },
  'oauth.register': {
    summary: 'Register a client',
    text: 'RFC 7591. A public client gets an id; a confidential one also a secret, shown in this answer only.',
    body: 'OAuthClientMetadata',
  },
  'oauth.get_authorization': {
    summary: 'Read the request of a client',
    text: 'For the consent page: client, scopes, requested controls, and where the answer goes.',
  },
  'oauth.decide_authorization': {
    summary: 'Consent or refuse',
    text: 'Only a person decides, and can only reduce what was requested. Returns the next address of the browser.',
    body: 'OAuthDecision',
  },
  'oauth.get_device': {
    summary: 'Read the request of a device',
    text: 'For the device page: the request with the code that the person typed.',
  },
  'oauth.decide_device': {
    summary: 'Consent to a device or refuse',
    text: 'As for a browser; the device gets its token with its next poll.',
    body: 'OAuthDeviceDecision',
  },
} satisfies OperationTexts
