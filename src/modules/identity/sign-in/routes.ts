import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { requireActiveAccount } from '../../../auth/principal.ts'
import { type ProviderName, providerTitles } from '../../../auth/providers.ts'
import { prefers } from '../../../http/accept.ts'
import type { App } from '../../../http/app-type.ts'
import { originOf, sessionCookieOf } from '../../../http/authenticate.ts'
import { isNavigationFromOwnPage } from '../../../http/authorize.ts'
import { created, ok, respondOnce } from '../../../http/idempotency.ts'
import { type Page, renderPage, sendHtml, sendRefusalPage, wantsPage } from '../../../http/page.ts'
import { routesOf } from '../../../http/routes.ts'
import { bounded, NoContent } from '../../../http/wire.ts'
import { isoTime, secondsAfter } from '../../../lib/clock.ts'
import { Refusal } from '../../../lib/errors.ts'
import { isLoopbackUrl } from '../../../lib/loopback.ts'
import type { Parts } from '../../parts.ts'
import { readAccount } from '../accounts/service.ts'
import {
  CallbackQuery,
  CreateNonce,
  DashboardToken,
  LinkFlow,
  Nonce,
  Redirect,
  SignedIn,
  SignedMessage,
  StartQuery,
} from '../schema.ts'
import { createDashboardToken, logOut } from '../sessions/service.ts'
import { clearSessionCookie, readBrowserCookie, readFlowCookie, renewFlowCookie, setSessionCookie } from './cookie.ts'
import { flowTtlSeconds } from './flow-rows.ts'
import { finishFlow, startLinkAs, startSignIn } from './flows.ts'
import { continueLink, openLinkPage } from './link-page.ts'
import { withOutcome } from './return-to.ts'
import { linkWallet, signIn } from './service.ts'
import { createWalletNonce, examineForLink, examineWallet } from './wallet.ts'

/** In development, the service answers to every loopback name, but the provider sends the browser back to only one of them. */
const isOtherLoopbackHost = (deps: Parts, request: FastifyRequest): boolean => {
  const { publicUrl, NODE_ENV } = deps.config
  const host = `http://${request.host}`
  if (NODE_ENV === 'production' || !isLoopbackUrl(publicUrl) || !URL.canParse(host)) return false
  return isLoopbackUrl(host) && new URL(publicUrl).host !== request.host
}

/** A fetch by a script on another site. Browsers drop our cookie from the response, so the answer asks for a navigation. */
const isCrossSiteFetch = ({ headers }: FastifyRequest): boolean =>
  headers['sec-fetch-site'] === 'cross-site' &&
  headers['sec-fetch-mode'] !== undefined &&
  headers['sec-fetch-mode'] !== 'navigate'

const failedTitle = 'That did not work'
const noSessionMessage =
  "An API key or an agent's token has no session to end. Revoke a key with DELETE /v1/accounts/me/api-keys/:id, an agent's token with POST /v1/oauth/revoke."
const titleOf = ({ code, details }: Refusal): string => {
  if (code === 'conflict') return 'This sign-in belongs to another account'
  return details?.reason === 'sign_up' ? 'You need an invitation' : failedTitle
}

const registerProvider = (routes: ReturnType<typeof routesOf>, deps: Parts, provider: ProviderName): void => {
  const label = providerTitles[provider]
  const start = async (request: FastifyRequest, reply: FastifyReply, returnTo: string | undefined) => {
    const { caller } = request
    if (caller) return startLinkAs(deps, caller, { provider, returnTo })
    if (isOtherLoopbackHost(deps, request) || isCrossSiteFetch(request)) {
      const expires_at = isoTime(secondsAfter(deps.clock.now(), flowTtlSeconds))
      return { authorization_url: deps.config.publicUrl + request.url, expires_at }
    }
    return startSignIn(deps, originOf(request), { provider, returnTo, flowCookie: renewFlowCookie(request, reply, deps.config) })
  }
  routes.handle('GET', `/v1/auth/${provider}/start`, `sign_in.${provider}_start`, {
    access: 'optional',
    credentialIssuing: true,
    refuses: ['forbidden', 'grant_frozen', 'account_frozen', 'provider_error', 'provider_not_configured'],
    summary: `Start signing in with ${label}`,
    description: `Redirects the browser to ${label} (302), or returns the URL with \`Accept: application/json\`. With a session or a bearer token, it links the identity to the current account instead, after a page that names the account.`,
    querystring: StartQuery,
    response: { 200: LinkFlow, 302: Redirect },
    handler: async (request, reply) => {
      const wantsJson = prefers(request, 'application/json', 'text/html')
      reply.header('cache-control', 'no-store').header('vary', 'accept')
      const started = await start(request, reply, request.query.return_to)
      return wantsJson ? reply.send(started) : reply.redirect(started.authorization_url, 302)
    },
  })
  routes.handle('GET', `/v1/auth/${provider}/callback`, `sign_in.${provider}_callback`, {
    freshProof: 'by_content',
    access: 'public',
    query: 'lenient',
    credentialIssuing: true,
    pages: true,
    refuses: [
      'invalid_token',
      'invalid_signature',
      'forbidden',
      'account_frozen',
      'grant_frozen',
      'conflict',
      'provider_error',
      'provider_not_configured',
    ],
    summary: `Return from ${label}`,
    description: `${label} sends the browser here after a sign-in or a link. Redirects to \`return_to\` with \`?outcome=\`. Programs do not call this. If the identity belongs to another account, the answer is 409 \`conflict\`.`,
    querystring: CallbackQuery,
    response: { 303: Redirect },
    handler: async (request, reply) => {
      const browserCookie = readBrowserCookie(request, deps.config)
      const finished = await finishFlow(deps, originOf(request), {
        ...request.query,
        provider,
        flowCookie: readFlowCookie(request, deps.config),
        browserCookie,
        sessionCookie: sessionCookieOf(request),
      })
      const { returnTo } = finished
      if ('outcome' in finished) {
        const { outcome, session } = finished
        if (session) setSessionCookie(request, reply, deps.config, { session, browserCookie })
        return reply.header('cache-control', 'no-store').redirect(withOutcome(deps.config, returnTo, outcome), 303)
      }
      const { refusal } = finished
      if (!wantsPage(request)) throw refusal
      return sendRefusalPage(reply, refusal, titleOf(refusal), [{ href: returnTo, text: 'Go back' }])
    },
  })
}

const Params = z.object({ flow: bounded(100).min(1) })
const Html = z.string().describe('A page.')

const sendPageOrRedirect = async (request: FastifyRequest, reply: FastifyReply, result: Promise<string | Page>) => {
  try {
    const next = await result
    if (typeof next !== 'string') return sendHtml(reply, 200, renderPage(next))
    return reply.header('cache-control', 'no-store').redirect(next, 302)
  } catch (error) {
    if (error instanceof Refusal && wantsPage(request)) return sendRefusalPage(reply, error, failedTitle)
    throw error
  }
}

export const registerSignIn = (app: App, deps: Parts): void => {
  const routes = routesOf(app, deps)
  registerProvider(routes, deps, 'google')
  registerProvider(routes, deps, 'github')
  routes.handle('GET', '/link/:flow', 'sign_in.link_page', {
    access: 'optional',
    credentialIssuing: true,
    refuses: ['provider_error'],
    hide: true,
    params: Params,
    response: { 200: Html, 302: Redirect },
    handler: async (request, reply) => {
      const ownFlowCookie = isNavigationFromOwnPage(request) ? readFlowCookie(request, deps.config) : null
      await sendPageOrRedirect(
        request,
        reply,
        openLinkPage(deps, request.params.flow, {
          ownFlowCookie,
          caller: request.caller,
          sessionCookie: sessionCookieOf(request),
          renewFlowCookie: () => renewFlowCookie(request, reply, deps.config),
        }),
      )
      return reply
    },
  })
  routes.handle('GET', '/link/:flow/continue', 'sign_in.link_continue', {
    access: 'public',
    credentialIssuing: true,
    refuses: ['provider_error'],
    hide: true,
    params: Params,
    querystring: z.object({ page: bounded(100).default('') }),
    response: { 302: Redirect },
    handler: async (request, reply) => {
      const from = {
        flowCookie: readFlowCookie(request, deps.config),
        sessionCookie: sessionCookieOf(request),
        page: request.query.page,
      }
      await sendPageOrRedirect(request, reply, continueLink(deps, request.params.flow, from))
      return reply
    },
  })
  routes.ask('/v1/auth/wallet/nonce', 'sign_in.wallet_nonce', {
    access: 'public',
    credentialIssuing: true,
    summary: 'Start signing in with a wallet',
    description:
      'Returns a nonce for one Sign-In with Ethereum message, valid for ten minutes. If the request contains an `address`, the answer contains the message to sign.',
    body: CreateNonce,
    response: { 200: Nonce },
    cacheControl: 'no-store',
    read: async ({ body }) => createWalletNonce(deps, body),
  })
  routes.handle('POST', '/v1/auth/wallet/verify', 'sign_in.wallet_verify', {
    freshProof: 'by_content',
    access: 'optional',
    // A sign-in ignores the caller, even one whose account is frozen.
    whileFrozen: true,
    credentialIssuing: true,
    refuses: ['invalid_signature', 'forbidden', 'account_frozen', 'grant_frozen', 'conflict'],
    summary: 'Sign in with a wallet',
    description:
      'Checks the signed message and sets the session cookie. A new wallet gets a new account. With a session or a bearer token, it links the wallet to the current account instead.',
    body: SignedMessage,
    response: { 200: SignedIn },
    handler: async (request, reply) => {
      const { caller, body } = request
      reply.header('cache-control', 'no-store')
      if (!caller && body.intent === 'link')
        throw new Refusal('authentication_required', { message: 'Sign in first: a wallet is added to the account of a session.' })
      if (!caller || body.intent === 'sign_in') {
        const browserCookie = readBrowserCookie(request, deps.config)
        const { outcome, account, session } = await signIn(deps, {
          ...(await examineWallet(deps, body)),
          provider: 'wallet',
          browserCookie,
          origin: originOf(request),
        })
        setSessionCookie(request, reply, deps.config, { session, browserCookie })
        return reply.send({ outcome, account, session: { expires_at: isoTime(session.expiresAt) } })
      }
      requireActiveAccount(caller)
      if (!caller.permissions.has('account.manage'))
        throw new Refusal('forbidden', { details: { required_permission: 'account.manage' } })
      const verdict = await examineForLink(deps, caller, body)
      return respondOnce(deps, request, reply, async (tx) => {
        const { outcome } = await linkWallet(tx, deps.config, request.principal, verdict)
        return ok({ outcome, account: await readAccount(tx, request.principal.accountId), session: null })
      })
    },
  })
  routes.post('/v1/auth/logout', 'sign_in.logout', {
    access: 'optional',
    whileFrozen: true,
    ignoresWorkspace: true,
    refuses: ['csrf_rejected', 'forbidden'],
    summary: 'Sign out',
    description:
      'Ends the session with its streams and dashboard tokens at once, and clears the cookie. An API key or an access token has no session (403).',
    response: { 204: NoContent },
    before: async (request, reply) => {
      if (request.caller?.grant) throw new Refusal('forbidden', { message: noSessionMessage })
      clearSessionCookie(request, reply, deps.config)
    },
    work: async (tx, { caller }) => {
      if (caller) await logOut(tx, deps.config, caller)
      return { status: 204, body: undefined } as const
    },
  })
  routes.post('/v1/auth/dashboard-tokens', 'sign_in.create_dashboard_token', {
    access: 'authenticated',
    idempotent: true,
    refuses: ['forbidden'],
    summary: 'Create a short-lived token',
    description:
      'Returns a bearer token with the permissions of the request’s credential, for tools that cannot send its cookie. It is valid for 15 minutes, or until that credential ends.',
    response: { 201: DashboardToken },
    work: async (tx, { principal }) => created(await createDashboardToken(tx, deps.config, principal), ['token']),
  })
}
