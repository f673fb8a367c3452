import formbody from '@fastify/formbody'
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { App } from '../../http/app-type.ts'
import { originOf } from '../../http/authenticate.ts'
import { isStorable } from '../../http/request-syntax.ts'
import { routesOf } from '../../http/routes.ts'
import { invalidFields } from '../../lib/errors.ts'
import type { Parts } from '../parts.ts'
import { pushRequest } from './authorize.ts'
import { deviceGrantType } from './client-metadata.ts'
import { authenticateClient, type ClientCredentials, registerClient, requireClient } from './clients.ts'
import { pollDevice, startDevice } from './device.ts'
import { handleOAuthError } from './error-page.ts'
import { OAuthError, writesLost } from './errors.ts'
import { redeemCode } from './redeem.ts'
import { createRefreshTokens } from './refresh.ts'
import {
  ClientMetadataBody,
  DeviceAuthorization,
  DeviceBody,
  Introspection,
  IntrospectionBody,
  oauthRefusals,
  PushBody,
  Pushed,
  RegisteredClient,
  RevocationBody,
  TokenBody,
  TokenResponse,
} from './schema.ts'
import { introspectToken, revokeToken } from './tokens.ts'

/** Refuses text that the database cannot store. The JSON parser does so for bodies, this function for forms and queries. */
export const requireStorable = (values: unknown): void => {
  if (typeof values !== 'object' || values === null) return
  for (const [name, value] of Object.entries(values))
    for (const text of [name, value].flat())
      if (typeof text === 'string' && !isStorable(text))
        throw invalidFields({
          path: name.replaceAll('\u0000', '').toWellFormed(),
          message: 'has characters that cannot be stored',
        })
}

const form = ['application/x-www-form-urlencoded']
const registrationLimitBytes = 16 * 1024

const publicRoute = { access: 'public', query: 'lenient', credentialIssuing: true } as const

type Form = FastifyRequest<{ Body: Omit<ClientCredentials, 'authorization'> }>

const tokenMissing = () => new OAuthError('invalid_request', 'token is required.')

const clientOf = (deps: Parts, { headers: { authorization }, body }: Form, find?: typeof requireClient) =>
  authenticateClient(deps, { ...body, authorization }, find)

const requestRefusals = oauthRefusals(
  'invalid_request',
  'invalid_client',
  'unauthorized_client',
  'invalid_scope',
  'invalid_target',
  'invalid_authorization_details',
)

/** A client discards tokens that are called invalid. If lost writes may contain them, the client is told to retry instead. */
export const retryIfWritesLost = ({ lossDetection }: Parts, error: unknown): unknown =>
  error instanceof OAuthError &&
  (error.code === 'invalid_grant' || error.code === 'invalid_client') &&
  lossDetection.mayHaveLost()
    ? writesLost()
    : error

export const registerClientEndpoints = (app: App, deps: Parts): void => {
  const refreshTokens = createRefreshTokens(deps)
  app.register(async (scope: App) => {
    scope.removeAllContentTypeParsers()
    await scope.register(formbody)
    const routes = routesOf(scope, deps)
    scope.setErrorHandler((error, request, reply) => handleOAuthError(retryIfWritesLost(deps, error), request, reply))
    scope.addHook('preValidation', async (request) => {
      // A form without parameters has no body. The error then names the missing parameters, as for any other form.
      request.body ??= {}
      requireStorable(request.body)
    })
    scope.addHook('onRequest', async (_request, reply) => void reply.headers({ 'cache-control': 'no-store', pragma: 'no-cache' }))

    routes.ask('/v1/oauth/token', 'oauth.token', {
      ...publicRoute,
      summary: 'Get or refresh tokens',
      description:
        'Redeems a code, a device code or a refresh token. A refresh token works once; using it again revokes the grant. The body is form-encoded.',
      consumes: form,
      body: TokenBody,
      response: {
        200: TokenResponse,
        ...oauthRefusals(
          'invalid_request',
          'invalid_client',
          'invalid_grant',
          'unauthorized_client',
          'unsupported_grant_type',
          'invalid_scope',
          'invalid_target',
          'authorization_pending',
          'slow_down',
          'expired_token',
          'access_denied',
        ),
      },
      read: async (request) => {
        const { body } = request
        const origin = originOf(request)
        const { grant_type: type } = body
        if (type === undefined) throw new OAuthError('invalid_request', 'grant_type is required.')
        const client = await clientOf(deps, request)
        const elapsedMs = () => performance.now() - request.arrivedAt
        if (type === 'refresh_token') return refreshTokens(client, origin, body, elapsedMs)
        if (type === 'authorization_code') return redeemCode(deps, client, origin, body)
        if (type === deviceGrantType) return pollDevice(deps, client, origin, body)
        throw new OAuthError('unsupported_grant_type')
      },
    })
    routes.ask('/v1/oauth/revoke', 'oauth.revoke', {
      ...publicRoute,
      summary: 'Revoke a token',
      description: 'RFC 7009. Revoking an access token or a refresh token ends its grant. Unknown tokens get the same answer.',
      consumes: form,
      body: RevocationBody,
      response: {
        // Clients parse every answer as JSON, so the body is an empty object.
        200: z.object({}).meta({ id: 'Revoked', description: 'The token was revoked, or the client has no such token.' }),
        ...oauthRefusals('invalid_request', 'invalid_client'),
      },
      read: async (request) => {
        const { token } = request.body
        if (token === undefined) throw tokenMissing()
        await revokeToken(deps, await clientOf(deps, request), originOf(request), token)
        return {}
      },
    })
    routes.ask('/v1/oauth/introspect', 'oauth.introspect', {
      access: 'public',
      query: 'lenient',
      summary: 'Introspect a token',
      description:
        'RFC 7662, for resource servers: whether a token is active, its account, its scopes and its spending controls.',
      consumes: form,
      body: IntrospectionBody,
      response: { 200: Introspection, ...oauthRefusals('invalid_request', 'invalid_client') },
      read: async (request) => {
        const { token } = request.body
        if (token === undefined) throw tokenMissing()
        return introspectToken(deps, await clientOf(deps, request), token)
      },
    })
    routes.handle('POST', '/v1/oauth/par', 'oauth.push', {
      ...publicRoute,
      summary: 'Push an authorization request',
      description: 'RFC 9126: sends the parameters in advance. The browser gets only a short reference and cannot change them.',
      consumes: form,
      body: PushBody,
      response: { 201: Pushed, ...requestRefusals },
      handler: async (request, reply) => {
        if (request.body.request_uri !== undefined) throw new OAuthError('invalid_request', 'request_uri cannot be pushed.')
        return reply.code(201).send(await pushRequest(deps, await clientOf(deps, request, requireClient), request.body))
      },
    })
    routes.ask('/v1/oauth/device_authorization', 'oauth.device_authorization', {
      ...publicRoute,
      summary: 'Start the device flow',
      description:
        'RFC 8628, for agents without a browser. A person enters the code on the device page while the client polls for the token. PKCE is required here too.',
      consumes: form,
      body: DeviceBody,
      response: { 200: DeviceAuthorization, ...requestRefusals },
      read: async (request) => startDevice(deps, await clientOf(deps, request, requireClient), request.body),
    })
  })
}

export const registerRegistration = (app: App, deps: Parts): void => {
  app.register(async (scope: App) => {
    const routes = routesOf(scope, deps)
    scope.setErrorHandler(handleOAuthError)
    routes.handle('POST', '/v1/oauth/register', 'oauth.register', {
      ...publicRoute,
      // The same rule as for a client's metadata document.
      text: 'lenient',
      summary: 'Register a client',
      description: 'RFC 7591. A public client gets an ID. A confidential client also gets a secret, which is shown only once.',
      body: ClientMetadataBody,
      response: { 201: RegisteredClient, ...oauthRefusals('invalid_redirect_uri', 'invalid_client_metadata') },
      bodyLimit: registrationLimitBytes,
      handler: async (request, reply) => {
        const registered = await registerClient(deps, originOf(request), request.body)
        return reply.code(201).header('cache-control', 'no-store').send(registered)
      },
    })
  })
}
