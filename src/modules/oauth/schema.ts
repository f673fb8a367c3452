import { z } from 'zod'
import { permissions } from '../../auth/permissions.ts'
import { roles } from '../../db/tables/workspaces.ts'
import { bounded, IdIn, IdOut, RecordOut, TimeIn, TimeOut } from '../../http/wire.ts'
import { SpendingControls, SpendingControlsIn } from '../delegation/schema.ts'
import { type OAuthErrorCode, oauthCatalogue } from './errors.ts'

/** A parameter without a value counts as absent (RFC 6749 section 3.1). A repeated one is a list, and so refused. */
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
  client_id: Text('Required unless the client is named by HTTP Basic authentication.'),
  client_secret: Text('The secret of a confidential client that does not use HTTP Basic authentication.'),
}

const AccessParameters = {
  scope: Text(
    'Permission names, separated by spaces. Left out: what the client registered, else everything that can be requested.',
  ),
  resource: Texts(
    'What the token is for (RFC 8707): the address of this service (its API and its MCP server), or that of the MCP server. Left out: both.',
  ),
  authorization_details: Text(
    'A JSON list with one object of type `payment` and the members of SpendingControls: the limits that the client requests (RFC 9396).',
  ),
}

const CodeRequestParameters = {
  response_type: Text('`code`'),
  redirect_uri: Text('One of the registered ones; may be left out when there is only one.'),
  state: Text('Comes back as it is.'),
  code_challenge: Text('PKCE, required.'),
  code_challenge_method: Text('`S256`, required.'),
  response_mode: Text('`query`'),
  prompt: Text('`none` is refused: consent is always required.'),
  request: Text('Not supported.'),
  ...AccessParameters,
}

export const AuthorizeQuery = z.object({
  client_id: Text('Required.'),
  request_uri: Text('What the pushed authorization request endpoint answered.'),
  ...CodeRequestParameters,
})
export type AuthorizeParameters = z.output<typeof AuthorizeQuery>
export type CodeParameters = Omit<AuthorizeParameters, 'client_id' | 'request_uri'>
export const PushBody = RecordOut('OAuthPushRequest', {
  ...Credentials,
  ...CodeRequestParameters,
  request_uri: Text('Must be left out.'),
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
  code: Text('With authorization_code.'),
  code_verifier: Text('With authorization_code; with a device code when a code_challenge was sent.'),
  redirect_uri: Text('Optional; checked when it is sent.'),
  refresh_token: Text('With refresh_token.'),
  device_code: Text('With a device code.'),
  scope: Text('With refresh_token: no more than was granted.'),
  resource: Texts('No more than was consented to.'),
})
export type TokenParameters = z.output<typeof TokenBody>

const TokenOnlyBody = z.object({ ...Credentials, token: Text('Required.'), token_type_hint: Text('Not needed.') })
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
  active: z.boolean().describe('Whether the token is active. Nothing else is returned for one that is not.'),
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
  iss: z.string().optional().describe('Who issued the token.'),
  grant_id: IdOut('grant').optional(),
  workspace_id: IdOut('workspace').optional(),
  authorization_details: Details.optional(),
})
export type Introspection = z.output<typeof Introspection>

export const Pushed = RecordOut('OAuthPushedRequest', { request_uri: z.string(), expires_in: z.number().int() })

export const DeviceAuthorization = RecordOut('OAuthDeviceAuthorization', {
  device_code: z.string(),
  user_code: z.string(),
  verification_uri: z.string().describe('Where a person enters the code.'),
  verification_uri_complete: z.string().describe('The same, with the code in it.'),
  expires_in: z.number().int(),
  interval: z.number().int().describe('How many seconds to wait between two requests.'),
})

export const ClientMetadataBody = z.looseObject({}).meta({
  id: 'OAuthClientMetadata',
  description:
    'Client metadata (RFC 7591): redirect_uris, client_name, client_uri, grant_types, response_types, token_endpoint_auth_method (none, client_secret_basic, client_secret_post), scope. What is not known is ignored.',
})

export const RegisteredClient = RecordOut('OAuthClientRegistration', {
  client_id: z.string(),
  client_id_issued_at: z.number().int().describe('When the application was registered, in seconds since 1970.'),
  client_secret: z.string().optional(),
  client_secret_expires_at: z.number().int().optional().describe('When the secret expires, in seconds since 1970; 0 for never.'),
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
      'The host that proves who this client is and that the answer goes to; null if no host does, and always for a device.',
    ),
})

export const Authorization = RecordOut('OAuthAuthorization', {
  id: IdOut('oauth_authorization'),
  flow: z.enum(['code', 'device']),
  status: z.enum(['pending', 'approved', 'denied', 'expired']),
  client: Client.describe('The application that asks.'),
  user_code: z.string().nullable(),
  redirect_host: z.string().nullable().describe('Where the answer goes; null for a device.'),
  redirect_is_local: z
    .boolean()
    .describe(
      'The answer goes to a program on the machine of the person who decides: any program there can pretend to be this client.',
    ),
  scopes: z.array(z.enum(permissions)).describe('The permissions that are asked for.'),
  spending_controls: SpendingControls,
  resources: z.array(z.string()).describe('The resources that the token would be for.'),
  workspaces: z
    .array(z.object({ id: IdOut('workspace'), name: z.string(), role: z.enum(roles), permissions: z.array(z.enum(permissions)) }))
    .describe('The workspaces in which the caller could give this client a grant, with the scopes that the caller has there.'),
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
    .describe('The granted scopes. Left out: all requested ones that the caller has in the workspace.'),
  spending_controls: SpendingControlsIn.optional().describe(
    'Never wider than the request; what is left out is granted as requested.',
  ),
  workspace_id: IdIn('workspace').optional().describe("Left out: the caller's current one."),
  expires_at: TimeIn.optional().describe('When access ends, even if it is refreshed. Left out: it does not expire.'),
})
export type Decision = z.output<typeof Decision>
export const AuthorizationDecision = Decision.meta({ id: 'OAuthDecision' })
export const DeviceDecision = Decision.meta({ id: 'OAuthDeviceDecision' })

export const Decided = RecordOut('OAuthDecided', {
  status: z.enum(['approved', 'denied']),
  redirect_to: z.string().describe('The next address of the browser.'),
})

const OAuthErrorBody = z
  .object({
    error: z.string(),
    error_description: z.string().describe('The error in a sentence.'),
    message: z.string(),
    details: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({ id: 'OAuthError', description: 'The error of RFC 6749 section 5.2; message repeats error_description.' })

export const oauthRefusals = (...codes: OAuthErrorCode[]) =>
  Object.fromEntries(
    [...Map.groupBy(codes, (code) => oauthCatalogue[code][0])].map(([status, of]) => [
      status,
      {
        description: of.map((code) => `\`${code}\`: ${oauthCatalogue[code][1]}`).join(' '),
        content: { 'application/json': { schema: OAuthErrorBody } },
      },
    ]),
  )
