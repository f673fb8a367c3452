import { z } from 'zod'
import type { App } from '../../http/app-type.ts'
import { mcpPath, metadataPath, protectedResources } from '../../http/protected-resource.ts'
import { authorize } from './authorize/authorize.ts'
import { registerConsent } from './consent/routes.ts'
import type { Deps } from './deps.ts'
import { allowPreflight, anyOrigin } from './endpoints/cors.ts'
import { requireStorable } from './endpoints/form.ts'
import { registerClientEndpoints, registerRegistration } from './endpoints/routes.ts'
import { handlePageError } from './error-page.ts'
import { ResourceMetadata, resourceMetadata, ServerMetadata, serverMetadata } from './metadata.ts'
import { AuthorizeQuery, oauthRefusals } from './schema.ts'

const registerMetadata = (app: App, deps: Deps): void => {
  const { publicUrl } = deps.config
  const server = '/.well-known/oauth-authorization-server'
  allowPreflight(app, server, ...protectedResources.map(metadataPath))
  app.get(
    server,
    {
      config: { operation: 'oauth.server_metadata', access: 'public', query: 'lenient', cors: anyOrigin },
      schema: {
        summary: 'Find the authorization server',
        description: 'RFC 8414: endpoints, grant types and scopes. OAuth client libraries read this by themselves.',
        response: { 200: ServerMetadata },
      },
    },
    async (_request, reply) => reply.header('cache-control', 'public, max-age=300').send(serverMetadata(publicUrl)),
  )
  for (const resource of protectedResources) {
    const isMcp = resource === mcpPath
    app.get(
      metadataPath(resource),
      {
        config: {
          operation: isMcp ? 'oauth.mcp_resource_metadata' : 'oauth.resource_metadata',
          access: 'public',
          query: 'lenient',
          cors: anyOrigin,
        },
        schema: {
          summary: `Find the issuer of tokens for ${isMcp ? 'the MCP server' : 'this API'}`,
          description: `RFC 9728: which authorization server and which scopes belong to ${isMcp ? 'the MCP endpoint' : 'this API'}. \`WWW-Authenticate\` points here.`,
          response: { 200: ResourceMetadata },
        },
      },
      async (_request, reply) => reply.header('cache-control', 'public, max-age=300').send(resourceMetadata(publicUrl, resource)),
    )
  }
}

/** Where a browser brings a client's authorization request. */
const registerAuthorize = (app: App, deps: Deps): void => {
  app.register(async (scope: App) => {
    scope.setErrorHandler(handlePageError)
    scope.addHook('preValidation', async (request) => requireStorable(request.query))
    scope.get(
      '/v1/oauth/authorize',
      {
        config: {
          operation: 'oauth.authorize',
          access: 'optional',
          query: 'lenient',
          credentialIssuing: true,
          pages: true,
          cors: false,
        },
        schema: {
          summary: 'Ask a person for consent',
          description:
            'Where a client sends the browser. PKCE with S256 is required. A valid request leads on to the consent page, and from there back to the redirect URI.',
          querystring: AuthorizeQuery,
          response: {
            302: z.undefined().meta({
              description: 'To the consent page, or back to the client with an error.',
            }),
            ...oauthRefusals(
              'invalid_request',
              'unsupported_response_type',
              'invalid_scope',
              'invalid_target',
              'invalid_authorization_details',
            ),
          },
        },
      },
      async (request, reply) =>
        reply.header('cache-control', 'no-store').redirect(await authorize(deps, request.caller, request.query), 302),
    )
  })
}

export const registerOAuth = (app: App, deps: Deps): void => {
  registerMetadata(app, deps)
  registerAuthorize(app, deps)
  registerClientEndpoints(app, deps)
  registerRegistration(app, deps)
  registerConsent(app, deps)
}
