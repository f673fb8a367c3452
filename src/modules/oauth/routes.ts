import { z } from 'zod'
import { type App, mcpPath, metadataPath, protectedResources } from '../../http/app-type.ts'
import { ok } from '../../http/idempotency.ts'
import { routesOf } from '../../http/routes.ts'
import { bounded, byId } from '../../http/wire.ts'
import type { Parts } from '../parts.ts'
import { authorize } from './authorize.ts'
import { registerClientEndpoints, registerRegistration, requireStorable, retryIfWritesLost } from './client-routes.ts'
import { decideAuthorization, readConsentRequest } from './consent.ts'
import { handlePageError } from './error-page.ts'
import { resourceMetadata, serverMetadata } from './metadata.ts'
import { Authorization, AuthorizationDecision, AuthorizeQuery, Decided, DeviceDecision, oauthRefusals } from './schema.ts'

const registerMetadata = (app: App, deps: Parts): void => {
  const routes = routesOf(app, deps)
  const { publicUrl } = deps.config
  const open = { access: 'public', query: 'lenient', cacheControl: 'public, max-age=300' } as const
  routes.get('/.well-known/oauth-authorization-server', 'oauth.server_metadata', {
    ...open,
    summary: 'Retrieve the authorization server metadata',
    description: 'RFC 8414: endpoints, grant types and scopes. OAuth client libraries read this document automatically.',
    response: { 200: serverMetadata.schema },
    read: async () => serverMetadata.at(publicUrl),
  })
  for (const resource of protectedResources) {
    const isMcp = resource === mcpPath
    routes.get(metadataPath(resource), isMcp ? 'oauth.mcp_resource_metadata' : 'oauth.resource_metadata', {
      ...open,
      summary: `Find the token issuer of ${isMcp ? 'the MCP server' : 'this API'}`,
      description: `RFC 9728: the authorization server and the scopes of ${isMcp ? 'the MCP endpoint' : 'this API'}. The \`WWW-Authenticate\` header links here.`,
      response: { 200: resourceMetadata.schema },
      read: async () => resourceMetadata.at(publicUrl, resource),
    })
  }
}

const registerAuthorize = (app: App, deps: Parts): void => {
  app.register(async (scope: App) => {
    const routes = routesOf(scope, deps)
    scope.setErrorHandler((error, request, reply) => handlePageError(retryIfWritesLost(deps, error), request, reply))
    scope.addHook('preValidation', async (request) => requireStorable(request.query))
    routes.handle('GET', '/v1/oauth/authorize', 'oauth.authorize', {
      access: 'optional',
      query: 'lenient',
      credentialIssuing: true,
      pages: true,
      cors: false,
      summary: 'Request consent',
      description:
        'A client sends the browser here. PKCE with S256 is required. A valid request redirects to the consent page, and from there to the redirect URI.',
      querystring: AuthorizeQuery,
      response: {
        302: z.undefined().describe('Redirect to the consent page, or back to the client with an error.'),
        ...oauthRefusals(
          'invalid_request',
          'unsupported_response_type',
          'invalid_scope',
          'invalid_target',
          'invalid_authorization_details',
        ),
      },
      handler: async (request, reply) =>
        reply.header('cache-control', 'no-store').redirect(await authorize(deps, request.caller, request.query), 302),
    })
  })
}

const ByUserCode = z.object({ user_code: bounded(40) })

const registerConsent = (app: App, deps: Parts): void => {
  const routes = routesOf(app, deps)
  const decided = ['conflict', 'forbidden', 'capability_disabled', 'workspace_frozen', 'membership_suspended'] as const
  routes.get('/v1/oauth/authorizations/:id', 'oauth.get_authorization', {
    access: 'undelegated',
    refuses: ['forbidden'],
    summary: 'Retrieve a client’s authorization request',
    description:
      'The client, scopes and spending controls of the request, and the host that receives the answer. Used by the consent page.',
    params: byId('oauth_authorization'),
    response: { 200: Authorization },
    read: ({ principal, params }) => readConsentRequest(deps, principal, params),
  })
  routes.post('/v1/oauth/authorizations/:id/decision', 'oauth.decide_authorization', {
    freshProof: 'by_content',
    access: 'undelegated',
    refuses: decided,
    summary: 'Approve or deny a client',
    description: 'Only a person can decide, and can only reduce the request. Returns the URL that the browser opens next.',
    params: byId('oauth_authorization'),
    body: AuthorizationDecision,
    response: { 200: Decided },
    work: async (tx, { principal, params, body }) => ok(await decideAuthorization(tx, deps, principal, params, body)),
  })
  routes.get('/v1/oauth/device/:user_code', 'oauth.get_device', {
    access: 'undelegated',
    credentialIssuing: true,
    refuses: ['forbidden'],
    summary: 'Retrieve a device’s authorization request',
    description: 'The request that belongs to the code that the person entered. Used by the device page.',
    params: ByUserCode,
    response: { 200: Authorization },
    read: ({ principal, params }) => readConsentRequest(deps, principal, params),
  })
  routes.post('/v1/oauth/device/:user_code/decision', 'oauth.decide_device', {
    freshProof: 'by_content',
    access: 'undelegated',
    credentialIssuing: true,
    refuses: decided,
    summary: 'Approve or deny a device',
    description: 'Same as the decision for a browser. The device gets its token with its next poll.',
    params: ByUserCode,
    body: DeviceDecision,
    response: { 200: Decided },
    work: async (tx, { principal, params, body }) => ok(await decideAuthorization(tx, deps, principal, params, body)),
  })
}

export const registerOAuth = (app: App, deps: Parts): void => {
  registerMetadata(app, deps)
  registerAuthorize(app, deps)
  registerClientEndpoints(app, deps)
  registerRegistration(app, deps)
  registerConsent(app, deps)
}
