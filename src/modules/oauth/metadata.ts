import { z } from 'zod'
import { clientAuthMethods, clientGrantTypes } from '../../db/tables/oauth.ts'
import { mcpPath, type ProtectedResource, resourceUrl } from '../../http/app-type.ts'
import { mcpScopes, oauthScopes, offlineAccess } from './scopes.ts'

/** The value of a document's field, and a description unless the name explains the field. */
type Field = readonly [value: string | boolean | string[], description?: string]

const typeOf = ([value, description]: Field) => {
  const type = Array.isArray(value) ? z.array(z.string()) : typeof value === 'string' ? z.string() : z.boolean()
  return description === undefined ? type : type.describe(description)
}

type FieldsAt = (publicUrl: string, resource: ProtectedResource) => Readonly<Record<string, Field>>

/** Declares a document: its schema, and its content for a public URL. */
const documentOf = (id: string, fieldsAt: FieldsAt) => ({
  schema: z
    .object(Object.fromEntries(Object.entries(fieldsAt('', '')).map(([name, field]) => [name, typeOf(field)])))
    .meta({ id }),
  at: (publicUrl: string, resource: ProtectedResource = '') =>
    Object.fromEntries(Object.entries(fieldsAt(publicUrl, resource)).map(([name, [value]]) => [name, value])),
})

/** RFC 8414. Uses only the configured URL, so that no header can change where a client is sent. */
export const serverMetadata = documentOf('OAuthServerMetadata', (publicUrl) => ({
  issuer: [publicUrl],
  authorization_endpoint: [`${publicUrl}/v1/oauth/authorize`],
  token_endpoint: [`${publicUrl}/v1/oauth/token`],
  registration_endpoint: [`${publicUrl}/v1/oauth/register`, 'The endpoint that registers clients (RFC 7591).'],
  revocation_endpoint: [`${publicUrl}/v1/oauth/revoke`, 'The endpoint that revokes tokens (RFC 7009).'],
  introspection_endpoint: [`${publicUrl}/v1/oauth/introspect`, 'The endpoint that introspects tokens (RFC 7662).'],
  device_authorization_endpoint: [`${publicUrl}/v1/oauth/device_authorization`, 'The device flow endpoint (RFC 8628).'],
  pushed_authorization_request_endpoint: [`${publicUrl}/v1/oauth/par`, 'The endpoint for pushed requests (RFC 9126).'],
  require_pushed_authorization_requests: [false, 'Whether authorization requests must be pushed.'],
  scopes_supported: [[...oauthScopes, offlineAccess]],
  response_types_supported: [['code'], 'The supported response types.'],
  response_modes_supported: [['query'], 'The supported response modes.'],
  grant_types_supported: [[...clientGrantTypes], 'The supported grant types.'],
  code_challenge_methods_supported: [['S256'], 'The supported PKCE methods.'],
  token_endpoint_auth_methods_supported: [[...clientAuthMethods], 'The client authentication methods.'],
  revocation_endpoint_auth_methods_supported: [[...clientAuthMethods], 'The client authentication methods.'],
  introspection_endpoint_auth_methods_supported: [[...clientAuthMethods], 'The client authentication methods.'],
  authorization_response_iss_parameter_supported: [true, 'Whether the response includes the issuer (RFC 9207).'],
  authorization_details_types_supported: [['payment']],
  client_id_metadata_document_supported: [true, 'Whether the URL of a client’s metadata can be its client ID.'],
  service_documentation: [`${publicUrl}/docs/guides/oauth`, 'The URL of the documentation.'],
}))

/** RFC 9728. Lists only the scopes of the MCP server's tools for that server: a client that asks for all gets no more. */
export const resourceMetadata = documentOf('OAuthResourceMetadata', (publicUrl, resource) => ({
  resource: [resourceUrl(publicUrl, resource)],
  authorization_servers: [[publicUrl], 'The authorization servers that issue tokens for the resource.'],
  scopes_supported: [[...(resource === mcpPath ? mcpScopes : oauthScopes), offlineAccess]],
  bearer_methods_supported: [['header'], 'The supported ways to send a token.'],
  authorization_details_types_supported: [['payment']],
  resource_name: [resource === mcpPath ? 'Payments service: MCP' : 'Payments service', 'The name of the resource.'],
  resource_documentation: [
    `${publicUrl}/docs/guides/${resource === mcpPath ? 'mcp' : 'quickstart'}`,
    'The URL of the documentation of the resource.',
  ],
}))
