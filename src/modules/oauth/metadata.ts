import { z } from 'zod'
import { clientAuthMethods, clientGrantTypes } from '../../db/tables/oauth.ts'
import { mcpPath, type ProtectedResource, resourceUrl } from '../../http/app-type.ts'
import { mcpScopes, oauthScopes, offlineAccess } from './scopes.ts'

const Strings = z.array(z.string())

export const ServerMetadata = z
  .object({
    issuer: z.string(),
    authorization_endpoint: z.string(),
    token_endpoint: z.string(),
    registration_endpoint: z.string().meta({ description: 'Where an application registers (RFC 7591).' }),
    revocation_endpoint: z.string().meta({ description: 'Where a token is revoked (RFC 7009).' }),
    introspection_endpoint: z.string().meta({ description: 'Where a token is looked at (RFC 7662).' }),
    device_authorization_endpoint: z.string().meta({ description: 'Where a device begins (RFC 8628).' }),
    pushed_authorization_request_endpoint: z.string().meta({ description: 'Where a request is sent ahead (RFC 9126).' }),
    require_pushed_authorization_requests: z.boolean().meta({ description: 'Whether requests must be sent ahead.' }),
    scopes_supported: Strings,
    response_types_supported: Strings.meta({ description: 'What can be asked for.' }),
    response_modes_supported: Strings.meta({ description: 'How the answer is sent back.' }),
    grant_types_supported: Strings.meta({ description: 'How tokens are given.' }),
    code_challenge_methods_supported: Strings.meta({ description: 'The forms of PKCE that are accepted.' }),
    token_endpoint_auth_methods_supported: Strings.meta({ description: 'How a client authenticates there.' }),
    revocation_endpoint_auth_methods_supported: Strings.meta({ description: 'How a client authenticates there.' }),
    introspection_endpoint_auth_methods_supported: Strings.meta({ description: 'How a client authenticates there.' }),
    authorization_response_iss_parameter_supported: z
      .boolean()
      .meta({ description: 'Whether the answer names the issuer (RFC 9207).' }),
    authorization_details_types_supported: Strings,
    client_id_metadata_document_supported: z
      .boolean()
      .meta({ description: 'Whether a client may be named by the address of its metadata.' }),
    service_documentation: z.string().meta({ description: 'Where the service is documented.' }),
  })
  .meta({ id: 'OAuthServerMetadata' })

export const ResourceMetadata = z
  .object({
    resource: z.string(),
    authorization_servers: Strings.meta({ description: 'Who issues tokens for it.' }),
    scopes_supported: Strings,
    bearer_methods_supported: Strings.meta({ description: 'How a token may be sent.' }),
    authorization_details_types_supported: Strings,
    resource_name: z.string().meta({ description: 'The name of the resource.' }),
    resource_documentation: z.string().meta({ description: 'Where the resource is documented.' }),
  })
  .meta({ id: 'OAuthResourceMetadata' })

/** RFC 8414. From the configured address alone: no header can change where a client is sent. */
export const serverMetadata = (publicUrl: string): z.output<typeof ServerMetadata> => ({
  issuer: publicUrl,
  authorization_endpoint: `${publicUrl}/v1/oauth/authorize`,
  token_endpoint: `${publicUrl}/v1/oauth/token`,
  registration_endpoint: `${publicUrl}/v1/oauth/register`,
  revocation_endpoint: `${publicUrl}/v1/oauth/revoke`,
  introspection_endpoint: `${publicUrl}/v1/oauth/introspect`,
  device_authorization_endpoint: `${publicUrl}/v1/oauth/device_authorization`,
  pushed_authorization_request_endpoint: `${publicUrl}/v1/oauth/par`,
  require_pushed_authorization_requests: false,
  scopes_supported: [...oauthScopes, offlineAccess],
  response_types_supported: ['code'],
  response_modes_supported: ['query'],
  grant_types_supported: [...clientGrantTypes],
  code_challenge_methods_supported: ['S256'],
  token_endpoint_auth_methods_supported: [...clientAuthMethods],
  revocation_endpoint_auth_methods_supported: [...clientAuthMethods],
  introspection_endpoint_auth_methods_supported: [...clientAuthMethods],
  authorization_response_iss_parameter_supported: true,
  authorization_details_types_supported: ['payment'],
  client_id_metadata_document_supported: true,
  service_documentation: `${publicUrl}/docs/guides/oauth`,
})

/** RFC 9728. The MCP server's tools need fewer scopes: a client that asks for all should not get more. */
export const resourceMetadata = (publicUrl: string, resource: ProtectedResource): z.output<typeof ResourceMetadata> => ({
  resource: resourceUrl(publicUrl, resource),
  authorization_servers: [publicUrl],
  scopes_supported: [...(resource === mcpPath ? mcpScopes : oauthScopes), offlineAccess],
  bearer_methods_supported: ['header'],
  authorization_details_types_supported: ['payment'],
  resource_name: resource === mcpPath ? 'Payments service: MCP' : 'Payments service',
  resource_documentation: `${publicUrl}/docs/guides/${resource === mcpPath ? 'mcp' : 'quickstart'}`,
})
