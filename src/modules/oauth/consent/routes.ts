import { z } from 'zod'
import type { App } from '../../../http/app-type.ts'
import { ok } from '../../../http/idempotency.ts'
import { routesOf } from '../../../http/routes.ts'
import { bounded, byId } from '../../../http/wire.ts'
import { notFound } from '../../../lib/errors.ts'
import type { AuthorizationName } from '../authorize/authorizations.ts'
import type { Deps } from '../deps.ts'
import { readUserCode } from '../device/device.ts'
import { Authorization, AuthorizationDecision, Decided, DeviceDecision } from '../schema.ts'
import { decideAuthorization, readConsentRequest } from './consent.ts'
import { presentConsentRequest } from './present.ts'

const ByUserCode = z.object({ user_code: bounded(40) })

const deviceName = (text: string): AuthorizationName => {
  const userCode = readUserCode(text)
  if (userCode === undefined) throw notFound()
  return { userCode }
}

/** The data for a consent page: the dashboard's, or any other page of ours. */
export const registerConsent = (app: App, deps: Deps): void => {
  const routes = routesOf(app, deps)
  const decided = [
    'invalid_request',
    'not_found',
    'conflict',
    'forbidden',
    'capability_disabled',
    'account_frozen',
    'membership_suspended',
  ] as const
  routes.get('/v1/oauth/authorizations/:id', {
    config: { operation: 'oauth.get_authorization', access: 'undelegated', refuses: ['not_found', 'forbidden'] },
    schema: {
      summary: 'Read the request of a client',
      description: 'For the consent page: client, scopes, requested controls, and where the answer goes.',
      params: byId('oauth_authorization'),
      response: { 200: Authorization },
    },
    read: async ({ principal, params }) =>
      presentConsentRequest(await readConsentRequest(deps.db, principal, params), deps.clock.now()),
  })
  routes.post('/v1/oauth/authorizations/:id/decision', {
    config: { operation: 'oauth.decide_authorization', freshProof: 'by_content', access: 'undelegated', refuses: decided },
    schema: {
      summary: 'Consent or refuse',
      description: 'Only a person decides, and can only reduce what was requested. Returns the next address of the browser.',
      params: byId('oauth_authorization'),
      body: AuthorizationDecision,
      response: { 200: Decided },
    },
    work: async (tx, { principal, params, body }) => {
      const { status, redirectTo } = await decideAuthorization(tx, deps, principal, params, body)
      return ok({ status, redirect_to: redirectTo })
    },
  })
  routes.get('/v1/oauth/device/:user_code', {
    config: {
      operation: 'oauth.get_device',
      access: 'undelegated',
      credentialIssuing: true,
      refuses: ['not_found', 'forbidden'],
    },
    schema: {
      summary: 'Read the request of a device',
      description: 'For the device page: the request with the code that the person typed.',
      params: ByUserCode,
      response: { 200: Authorization },
    },
    read: async ({ principal, params }) =>
      presentConsentRequest(await readConsentRequest(deps.db, principal, deviceName(params.user_code)), deps.clock.now()),
  })
  routes.post('/v1/oauth/device/:user_code/decision', {
    config: {
      operation: 'oauth.decide_device',
      freshProof: 'by_content',
      access: 'undelegated',
      credentialIssuing: true,
      refuses: decided,
    },
    schema: {
      summary: 'Consent to a device or refuse',
      description: 'As for a browser; the device gets its token with its next poll.',
      params: ByUserCode,
      body: DeviceDecision,
      response: { 200: Decided },
    },
    work: async (tx, { principal, params, body }) => {
      const { status, redirectTo } = await decideAuthorization(tx, deps, principal, deviceName(params.user_code), body)
      return ok({ status, redirect_to: redirectTo })
    },
  })
}
