import { z } from 'zod'
import { permissions } from '../../auth/permissions.ts'
import { roles } from '../../db/tables/workspaces.ts'
import { bounded, IdIn, IdOut, RecordOut, TimeIn, TimeOut } from '../../http/wire.ts'
import { SpendingControls, SpendingControlsIn } from '../delegation/schema.ts'
import { type OAuthErrorCode, oauthCatalogue } from './errors.ts'

/** A parameter without a value counts as absent (RFC 6749 section 3.1). A repeated parameter is a list and is refused. */
const Text = (description: string) =>
  bounded(8000)
    .transform((text) => (text === '' ? undefined : text))
    .optional()
    .describe(description)
const Texts = (description: string) =>
  z
    .preprocess((value) => (typeof value === 'string' ? [value] : value), z.array(bounded(2000)).max(20))
    .optional()
    .describe(description)

const Credentials = {
  client_id: Text('Required, except with HTTP Basic authentication.'),
  client_secret: Text('The secret of a confidential client. Omit it with HTTP Basic authentication.'),
}

const AccessParameters = {
  scope: Text(
    'Permission names, separated by spaces. Defaults to the scopes that only read, without those that the client did not register. Required if none remains.',
  ),
  resource: Texts(
    'The resource that the token is for (RFC 8707): the URL of this service (API and MCP server), or of the MCP server alone. Defaults to both.',
  ),
  authorization_details: Text(
    'The limits that the client requests (RFC 9396): a JSON array with one object of type `payment` and the fields of SpendingControls.',
  ),
}

const CodeRequestParameters = {
  response_type: Text('`code`'),
  redirect_uri: Text('One of the registered redirect URIs. Optional if there is only one.'),
  state: Text('Returned to the client unchanged.'),
  code_challenge: Text('The PKCE code challenge. Required.'),
  code_challenge_method: Text('`S256`. Required.'),
  response_mode: Text('`query`'),
  prompt: Text('`none` is rejected, because consent is always required.'),
  request: Text('Not supported.'),
  ...AccessParameters,
}

export const AuthorizeQuery = z.object({
  client_id: Text('Required.'),
  request_uri: Text('The `request_uri` that the endpoint for pushed authorization requests returned.'),
  ...CodeRequestParameters,
})
export type AuthorizeParameters = z.output<typeof AuthorizeQuery>
export type CodeParameters = Omit<AuthorizeParameters, 'client_id' | 'request_uri'>
export const PushBody = RecordOut('OAuthPushRequest', {
  ...Credentials,
  ...CodeRequestParameters,
  request_uri: Text('Not allowed here.'),
})
export const DeviceBody = RecordOut('OAuthDeviceRequest', {
  ...Credentials,
  ...AccessParameters,
  code_challenge: CodeRequestParameters.code_challenge,
  code_challenge_method: CodeRequestParameters.code_challenge_method,
})
export type DeviceParameters = z.output<typeof DeviceBody>

export const TokenBody = RecordOut('OAuthTokenRequest', {
  ...Credentials,
  grant_type: Text('`authorization_code`, `refresh_token` or `urn:ietf:params:oauth:grant-type:device_code`'),
  code: Text('Required for `authorization_code`.'),
  code_verifier: Text('Required for `authorization_code` and for a device code.'),
  redirect_uri: Text('Optional. Checked if present.'),
  refresh_token: Text('Required for `refresh_token`.'),
  device_code: Text('Required for a device code.'),
  scope: Text('For `refresh_token`: a subset of the granted scopes.'),
  resource: Texts('A subset of the resources that the person approved.'),
})
export type TokenParameters = z.output<typeof TokenBody>

const TokenOnlyBody = z.object({ ...Credentials, token: Text('Required.'), token_type_hint: Text('Optional.') })
export const RevocationBody = TokenOnlyBody.meta({ id: 'OAuthRevocationRequest' })
export const IntrospectionBody = TokenOnlyBody.meta({ id: 'OAuthIntrospectionRequest' })

const Details = z
  .array(SpendingControls.extend({ type: z.literal('payment') }))
  .describe('The granted limits. They may be lower than the requested ones.')

export const TokenResponse = RecordOut('OAuthTokens', {
  access_token: z.string(),
  token_type: z.literal('Bearer'),
  expires_in: z.number().int(),
  refresh_token: z.string().optional(),
  scope: z.string(),
  authorization_details: Details.optional(),
})
export type TokenResponse = z.output<typeof TokenResponse>

export const Introspection = RecordOut('OAuthIntrospection', {
  active: z.boolean().describe('Whether the token is active. An inactive token has no other fields.'),
  scope: z.string().optional(),
  client_id: z.string().optional(),
  token_type: z.string().optional(),
  exp: z.number().int().optional().describe('When the token expires, in seconds since 1970.'),
  iat: z.number().int().optional().describe('When the token was issued, in seconds since 1970.'),
  sub: IdOut('account').optional(),
  aud: z
    .union([z.string(), z.array(z.string())])
    .optional()
    .describe('The resource that the token is for.'),
  iss: z.string().optional().describe('The issuer of the token.'),
  grant_id: IdOut('grant').optional(),
  workspace_id: IdOut('workspace').optional(),
  authorization_details: Details.optional(),
})
export type Introspection = z.output<typeof Introspection>

export const Pushed = RecordOut('OAuthPushedRequest', { request_uri: z.string(), expires_in: z.number().int() })

export const DeviceAuthorization = RecordOut('OAuthDeviceAuthorization', {
  device_code: z.string(),
  user_code: z.string(),
  verification_uri: z.string().describe('The page on which a person enters the code.'),
  verification_uri_complete: z.string().describe('The same page with the code filled in.'),
  expires_in: z.number().int(),
  interval: z.number().int().describe('The minimum number of seconds between two polls.'),
})

export const ClientMetadataBody = z.looseObject({}).meta({
  id: 'OAuthClientMetadata',
  description:
    'Client metadata (RFC 7591): redirect_uris, client_name, client_uri, grant_types, response_types, token_endpoint_auth_method (none, client_secret_basic, client_secret_post), scope. Unknown fields are ignored. Default `grant_types`: authorization_code and refresh_token. The device flow needs `urn:ietf:params:oauth:grant-type:device_code`.',
})

export const RegisteredClient = RecordOut('OAuthClientRegistration', {
  client_id: z.string(),
  client_id_issued_at: z.number().int().describe('When the application was registered, in seconds since 1970.'),
  client_secret: z.string().optional(),
  client_secret_expires_at: z
    .number()
    .int()
    .optional()
    .describe('When the secret expires, in seconds since 1970; 0 if it does not expire.'),
  client_name: z.string(),
  client_uri: z.string().optional(),
  redirect_uris: z.array(z.string()),
  grant_types: z.array(z.string()),
  response_types: z.array(z.string()),
  token_endpoint_auth_method: z.string(),
  scope: z.string().optional(),
})
export type RegisteredClient = z.output<typeof RegisteredClient>

const Client = RecordOut('OAuthClient', {
  id: z.string(),
  name: z.string(),
  uri: z.string().nullable(),
  verified_host: z
    .string()
    .nullable()
    .describe(
      'The host that proves the identity of the client and receives the answer. Null if no host proves it, and always null for a device.',
    ),
})

export const Authorization = RecordOut('OAuthAuthorization', {
  id: IdOut('oauth_authorization'),
  flow: z.enum(['code', 'device']),
  status: z.enum(['pending', 'approved', 'denied', 'expired']),
  client: Client.describe('The application that requests access.'),
  user_code: z.string().nullable(),
  redirect_host: z.string().nullable().describe('The host that receives the answer; null for a device.'),
  redirect_is_local: z
    .boolean()
    .describe(
      'True if the answer goes to a program on the computer of the person who decides. Any program there can impersonate this client.',
    ),
  scopes: z.array(z.enum(permissions)).describe('The requested permissions.'),
  spending_controls: SpendingControls,
  resources: z.array(z.string()).describe('The resources that the token would be for.'),
  workspaces: z
    .array(z.object({ id: IdOut('workspace'), name: z.string(), role: z.enum(roles), permissions: z.array(z.enum(permissions)) }))
    .describe('The workspaces in which the caller can authorize this client, each with the scopes that the caller has there.'),
  created_at: TimeOut,
  expires_at: TimeOut,
})
export type Authorization = z.output<typeof Authorization>

const Decision = z.strictObject({
  decision: z.enum(['approve', 'deny']),
  permissions: z
    .array(z.enum(permissions))
    .min(1)
    .max(100)
    .optional()
    .describe('The granted scopes. Defaults to all requested scopes that the caller has in the workspace.'),
  spending_controls: SpendingControlsIn.optional().describe(
    'The granted limits. They cannot exceed the requested limits, which are the default.',
  ),
  workspace_id: IdIn('workspace').optional().describe("Defaults to the caller's current workspace."),
  expires_at: TimeIn.optional().describe('When access ends, even if tokens are refreshed. If omitted, access does not expire.'),
})
export type Decision = z.output<typeof Decision>
export const AuthorizationDecision = Decision.meta({ id: 'OAuthDecision' })
export const DeviceDecision = Decision.meta({ id: 'OAuthDeviceDecision' })

export const Decided = RecordOut('OAuthDecided', {
  status: z.enum(['approved', 'denied']),
  redirect_to: z.string().describe('The URL that the browser opens next.'),
})

const OAuthErrorBody = z
  .object({
    error: z.string(),
    error_description: z.string().describe('The error in one sentence.'),
    message: z.string(),
    details: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({ id: 'OAuthError', description: 'An error as defined in RFC 6749, section 5.2. `message` repeats `error_description`.' })

/** Any endpoint can be temporarily unavailable. */
export const oauthRefusals = (...codes: OAuthErrorCode[]) =>
  Object.fromEntries(
    [...Map.groupBy([...codes, 'temporarily_unavailable' as const], (code) => oauthCatalogue[code][0])].map(([status, of]) => [
      status,
      {
        description: of.map((code) => `\`${code}\`: ${oauthCatalogue[code][1]}`).join(' '),
        content: { 'application/json': { schema: OAuthErrorBody } },
      },
    ]),
  )
