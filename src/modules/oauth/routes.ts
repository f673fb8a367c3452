import { z } from 'zod'
import { type App, mcpPath, metadataPath, protectedResources } from '../../http/app-type.ts'
import { ok } from '../../http/idempotency.ts'
import { routesOf } from '../../http/routes.ts'
import { bounded, byId } from '../../http/wire.ts'
import type { Parts } from '../parts.ts'
import { authorize } from './authorize.ts'
import { registerClientEndpoints, registerRegistration, requireStorable } from './client-routes.ts'
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
    summary: 'Find the authorization server',
    description: 'RFC 8414: endpoints, grant types and scopes. OAuth client libraries read this by themselves.',
    response: { 200: serverMetadata.schema },
    read: async () => serverMetadata.at(publicUrl),
  })
  for (const resource of protectedResources) {
    const isMcp = resource === mcpPath
    routes.get(metadataPath(resource), isMcp ? 'oauth.mcp_resource_metadata' : 'oauth.resource_metadata', {
      ...open,
      summary: `Find the issuer of tokens for ${isMcp ? 'the MCP server' : 'this API'}`,
      description: `RFC 9728: which authorization server and which scopes belong to ${isMcp ? 'the MCP endpoint' : 'this API'}. \`WWW-Authenticate\` points here.`,
      response: { 200: resourceMetadata.schema },
      read: async () => resourceMetadata.at(publicUrl, resource),
    })
  }
}

const registerAuthorize = (app: App, deps: Parts): void => {
  app.register(async (scope: App) => {
    const routes = routesOf(scope, deps)
    scope.setErrorHandler(handlePageError)
    scope.addHook('preValidation', async (request) => requireStorable(request.query))
    routes.handle('GET', '/v1/oauth/authorize', 'oauth.authorize', {
      access: 'optional',
      query: 'lenient',
      credentialIssuing: true,
      pages: true,
      cors: false,
      summary: 'Ask a person for consent',
      description:
        'Where a client sends the browser. PKCE with S256 is required. A valid request leads on to the consent page, and from there back to the redirect URI.',
      querystring: AuthorizeQuery,
      response: {
        302: z.undefined().describe('To the consent page, or back to the client with an error.'),
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

export const registerOAuth = (app: App, deps: Parts): void => {
  registerMetadata(app, deps)
  registerAuthorize(app, deps)
  registerClientEndpoints(app, deps)
  registerRegistration(app, deps)
  registerConsent(app, deps)
}

const ByUserCode = z.object({ user_code: bounded(40) })

const registerConsent = (app: App, deps: Parts): void => {
  const routes = routesOf(app, deps)
  const decided = ['conflict', 'forbidden', 'capability_disabled', 'account_frozen', 'membership_suspended'] as const
  routes.get('/v1/oauth/authorizations/:id', 'oauth.get_authorization', {
    access: 'undelegated',
    refuses: ['forbidden'],
    summary: 'Read the request of a client',
    description: 'For the consent page: client, scopes, requested controls, and where the answer goes.',
    params: byId('oauth_authorization'),
    response: { 200: Authorization },
    read: ({ principal, params }) => readConsentRequest(deps, principal, params),
  })
  routes.post('/v1/oauth/authorizations/:id/decision', 'oauth.decide_authorization', {
    freshProof: 'by_content',
    access: 'undelegated',
    refuses: decided,
    summary: 'Consent or refuse',
    description: 'Only a person decides, and can only reduce what was requested. Returns the next address of the browser.',
    params: byId('oauth_authorization'),
    body: AuthorizationDecision,
    response: { 200: Decided },
    work: async (tx, { principal, params, body }) => ok(await decideAuthorization(tx, deps, principal, params, body)),
  })
  routes.get('/v1/oauth/device/:user_code', 'oauth.get_device', {
    access: 'undelegated',
    credentialIssuing: true,
    refuses: ['forbidden'],
    summary: 'Read the request of a device',
    description: 'For the device page: the request with the code that the person typed.',
    params: ByUserCode,
    response: { 200: Authorization },
    read: ({ principal, params }) => readConsentRequest(deps, principal, params),
  })
  routes.post('/v1/oauth/device/:user_code/decision', 'oauth.decide_device', {
    freshProof: 'by_content',
    access: 'undelegated',
    credentialIssuing: true,
    refuses: decided,
    summary: 'Consent to a device or refuse',
    description: 'As for a browser; the device gets its token with its next poll.',
    params: ByUserCode,
    body: DeviceDecision,
    response: { 200: Decided },
    work: async (tx, { principal, params, body }) => ok(await decideAuthorization(tx, deps, principal, params, body)),
  })
}
