import type { FastifyReply, FastifyRequest } from 'fastify'
import { type ProviderName, providerTitles } from '../../../../auth/providers/provider.ts'
import type { App } from '../../../../http/app-type.ts'
import { originOf } from '../../../../http/origin.ts'
import { sendRefusalPage, wantsPage } from '../../../../http/page.ts'
import { isoTime, secondsAfter } from '../../../../lib/clock.ts'
import type { Refusal } from '../../../../lib/errors.ts'
import { isLoopbackUrl } from '../../../../lib/loopback.ts'
import type { Deps } from '../../deps.ts'
import { LinkFlow } from '../../identities/schema.ts'
import { setSessionCookie } from '../cookie.ts'
import { CallbackQuery, Redirect, StartQuery } from '../schema.ts'
import type { SignIn } from '../sign-in.ts'
import { type FinishedFlow, finishFlow } from './finish-flow.ts'
import { markBrowser, readBrowser } from './flow-cookie.ts'
import { flowTtlSeconds } from './flows.ts'
import { withOutcome } from './return-to.ts'
import { type StartedFlow, startLinkAs, startSignIn } from './start-flow.ts'

/** In development the service answers under every name of the loopback address, but the provider sends the browser back to one of them. */
const isElsewhere = (deps: Deps, request: FastifyRequest): boolean => {
  const { publicUrl, NODE_ENV } = deps.config
  const host = `http://${request.host}`
  return (
    NODE_ENV !== 'production' &&
    isLoopbackUrl(publicUrl) &&
    URL.canParse(host) &&
    isLoopbackUrl(host) &&
    new URL(publicUrl).host !== request.host
  )
}

/** A script on another site's page: browsers drop our cookie from such a response, so the answer tells it to navigate instead. */
const isCrossSiteFetch = ({ headers }: FastifyRequest): boolean =>
  headers['sec-fetch-site'] === 'cross-site' &&
  headers['sec-fetch-mode'] !== undefined &&
  headers['sec-fetch-mode'] !== 'navigate'

const answerWith = (reply: FastifyReply, finished: FinishedFlow, deps: Deps): FastifyReply => {
  if (finished.session) setSessionCookie(reply, deps.config, finished.session)
  return reply.header('cache-control', 'no-store').redirect(withOutcome(deps.config, finished.returnTo, finished.outcome), 303)
}

const registerProvider = (app: App, deps: Deps, signIn: SignIn, provider: ProviderName): void => {
  const label = providerTitles[provider]
  const start = async (request: FastifyRequest, reply: FastifyReply, returnTo: string | undefined): Promise<StartedFlow> => {
    const { caller } = request
    if (caller) return startLinkAs(deps, caller, { provider, returnTo })
    if (isElsewhere(deps, request) || isCrossSiteFetch(request)) {
      return { authorizationUrl: deps.config.publicUrl + request.url, expiresAt: secondsAfter(deps.clock.now(), flowTtlSeconds) }
    }
    return startSignIn(deps, originOf(request), { provider, returnTo, browser: markBrowser(request, reply, deps.config) })
  }
  app.get(
    `/v1/auth/${provider}/start`,
    {
      config: {
        operation: `sign_in.${provider}_start`,
        access: 'optional',
        credentialIssuing: true,
        refuses: ['invalid_request', 'forbidden', 'grant_frozen', 'account_frozen', 'provider_error', 'provider_not_configured'],
      },
      schema: {
        summary: `Start signing in with ${label}`,
        description: `Sends the browser to ${label} (302), or with \`Accept: application/json\` says where to send it. With a session or a bearer it links the identity to the current account instead of signing in, after a page that names the account.`,
        querystring: StartQuery,
        response: {
          200: LinkFlow,
          302: Redirect,
        },
      },
    },
    async (request, reply) => {
      const wantsJson = request.headers.accept?.includes('application/json') ?? false
      reply.header('cache-control', 'no-store').header('vary', 'accept')
      const { authorizationUrl, expiresAt } = await start(request, reply, request.query.return_to)
      if (!wantsJson) return reply.redirect(authorizationUrl, 302)
      return reply.send({ authorization_url: authorizationUrl, expires_at: isoTime(expiresAt) })
    },
  )
  app.get(
    `/v1/auth/${provider}/callback`,
    {
      config: {
        operation: `sign_in.${provider}_callback`,
        freshProof: 'by_content',
        access: 'public',
        query: 'lenient',
        credentialIssuing: true,
        pages: true,
        refuses: [
          'invalid_request',
          'invalid_token',
          'invalid_signature',
          'account_frozen',
          'conflict',
          'provider_error',
          'provider_not_configured',
        ],
      },
      schema: {
        summary: `Return from ${label}`,
        description: `Where ${label} sends the browser after a sign-in or a link. Ends at \`return_to\` with \`?outcome=\`. Programs do not call this. An identity that belongs to another account gives 409 \`conflict\`.`,
        querystring: CallbackQuery,
        response: {
          303: Redirect,
        },
      },
    },
    async (request, reply) => {
      const browser = readBrowser(request, deps.config)
      const finished = await finishFlow(deps, signIn, originOf(request), { ...request.query, provider, browser })
      if ('outcome' in finished) return answerWith(reply, finished, deps)
      if (!wantsPage(request)) throw finished.refusal
      return sendRefusalPage(reply, finished.refusal, titleOf(finished.refusal), [{ href: finished.returnTo, text: 'Go back' }])
    },
  )
}

const titleOf = (refusal: Refusal): string =>
  refusal.code === 'conflict' ? 'This sign-in belongs to another account' : 'That did not work'

export const registerProviders = (app: App, deps: Deps, signIn: SignIn): void => {
  registerProvider(app, deps, signIn, 'google')
  registerProvider(app, deps, signIn, 'github')
}
