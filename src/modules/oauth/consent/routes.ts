import { z } from 'zod'
import type { App } from '../../../http/app-type.ts'
import { respondOnce } from '../../../http/idempotency.ts'
import { byId } from '../../../http/wire.ts'
import { notFound } from '../../../lib/errors.ts'
import type { AuthorizationName } from '../authorize/authorizations.ts'
import type { Deps } from '../deps.ts'
import { readUserCode } from '../device/device.ts'
import { Authorization, Decided, Decision } from '../schema.ts'
import { decideAuthorization, readConsentRequest } from './consent.ts'
import { presentConsentRequest } from './present.ts'

const ByUserCode = z.object({ user_code: z.string().max(40) })

const deviceName = (text: string): AuthorizationName => {
  const userCode = readUserCode(text)
  if (userCode === undefined) throw notFound()
  return { userCode }
}

/** The data for a consent page: the dashboard's, or any other page of ours. */
export const registerConsent = (app: App, deps: Deps): void => {
  const decided = [
    'invalid_request',
    'not_found',
    'conflict',
    'forbidden',
    'capability_disabled',
    'account_frozen',
    'membership_suspended',
  ] as const
  app.get(
    '/v1/oauth/authorizations/:id',
    {
      config: { operation: 'oauth.get_authorization', access: 'undelegated', refuses: ['not_found', 'forbidden'] },
      schema: { params: byId('oauth_authorization'), response: { 200: Authorization } },
    },
    async (request, reply) =>
      reply.send(presentConsentRequest(await readConsentRequest(deps, request.principal, request.params), deps.clock.now())),
  )
  app.post(
    '/v1/oauth/authorizations/:id/decision',
    {
      config: { operation: 'oauth.decide_authorization', access: 'undelegated', refuses: decided },
      schema: { params: byId('oauth_authorization'), body: Decision, response: { 200: Decided } },
    },
    async (request, reply) =>
      respondOnce(deps, request, reply, async (tx) => {
        const { status, redirectTo } = await decideAuthorization(tx, deps, request.principal, request.params, request.body)
        return { status: 200, body: { status, redirect_to: redirectTo } }
      }),
  )
  app.get(
    '/v1/oauth/device/:user_code',
    {
      config: {
        operation: 'oauth.get_device',
        access: 'undelegated',
        credentialIssuing: true,
        refuses: ['not_found', 'forbidden'],
      },
      schema: { params: ByUserCode, response: { 200: Authorization } },
    },
    async (request, reply) =>
      reply.send(
        presentConsentRequest(
          await readConsentRequest(deps, request.principal, deviceName(request.params.user_code)),
          deps.clock.now(),
        ),
      ),
  )
  app.post(
    '/v1/oauth/device/:user_code/decision',
    {
      config: { operation: 'oauth.decide_device', access: 'undelegated', credentialIssuing: true, refuses: decided },
      schema: { params: ByUserCode, body: Decision, response: { 200: Decided } },
    },
    async (request, reply) =>
      respondOnce(deps, request, reply, async (tx) => {
        const { status, redirectTo } = await decideAuthorization(
          tx,
          deps,
          request.principal,
          deviceName(request.params.user_code),
          request.body,
        )
        return { status: 200, body: { status, redirect_to: redirectTo } }
      }),
  )
}
