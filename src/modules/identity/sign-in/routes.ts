import type { App } from '../../../http/app-type.ts'
import { originOf } from '../../../http/authenticate.ts'
import { created, ok, respondOnce } from '../../../http/idempotency.ts'
import { routesOf } from '../../../http/routes.ts'
import { NoContent } from '../../../http/wire.ts'
import { isoTime } from '../../../lib/clock.ts'
import { Refusal } from '../../../lib/errors.ts'
import type { Parts } from '../../parts.ts'
import { readAccount } from '../accounts/service.ts'
import { CreateNonce, DashboardToken, Nonce, SignedIn, SignedMessage } from '../schema.ts'
import { createDashboardToken, logOut } from '../sessions/service.ts'
import { clearSessionCookie, setSessionCookie } from './cookie.ts'
import { registerProviders } from './provider-routes.ts'
import { createSignIn, linkWallet } from './service.ts'
import { createWalletNonce, examineForLink, examineWallet } from './wallet.ts'

export const registerSignIn = (app: App, deps: Parts): void => {
  const routes = routesOf(app, deps)
  const signIn = createSignIn(deps)
  registerProviders(app, deps, signIn)
  app.post(
    '/v1/auth/wallet/nonce',
    {
      config: { operation: 'sign_in.wallet_nonce', access: 'public', credentialIssuing: true },
      schema: {
        summary: 'Begin signing in with a wallet',
        description:
          'A nonce for one Sign-In with Ethereum message, valid for ten minutes. With an `address` the answer contains the message to sign.',
        body: CreateNonce,
        response: { 200: Nonce },
      },
    },
    async (request, reply) => reply.header('cache-control', 'no-store').send(createWalletNonce(deps, request.body)),
  )
  app.post(
    '/v1/auth/wallet/verify',
    {
      config: {
        operation: 'sign_in.wallet_verify',
        freshProof: 'by_content',
        access: 'optional',
        credentialIssuing: true,
        refuses: ['invalid_signature', 'forbidden', 'account_frozen', 'grant_frozen', 'conflict'],
      },
      schema: {
        summary: 'Sign in with a wallet',
        description:
          'Checks the signed message and sets the session cookie; a wallet that no account has gets a new account. With a session or a bearer it links the wallet to the current account instead.',
        body: SignedMessage,
        response: {
          200: SignedIn,
        },
      },
    },
    async (request, reply) => {
      const { caller, body } = request
      reply.header('cache-control', 'no-store')
      if (!caller && body.intent === 'link')
        throw new Refusal('authentication_required', { message: 'Sign in first: a wallet is added to the account of a session.' })
      if (!caller || body.intent === 'sign_in') {
        const { outcome, account, session } = await signIn({
          ...(await examineWallet(deps, body)),
          provider: 'wallet',
          origin: originOf(request),
        })
        setSessionCookie(reply, deps.config, session)
        return reply.send({ outcome, account, session: { expires_at: isoTime(session.expiresAt) } })
      }
      if (!caller.permissions.has('account.manage'))
        throw new Refusal('forbidden', { details: { required_permission: 'account.manage' } })
      const verdict = await examineForLink(deps, body)
      return respondOnce(deps, request, reply, async (tx) => {
        const { outcome } = await linkWallet(tx, deps.config, request.principal, verdict)
        return ok({ outcome, account: await readAccount(tx, request.principal.accountId), session: null })
      })
    },
  )
  app.post(
    '/v1/auth/logout',
    {
      config: { operation: 'sign_in.logout', access: 'optional', whileFrozen: true, refuses: ['csrf_rejected'] },
      schema: {
        summary: 'Sign out',
        description: 'Ends the session at once, with its streams and its dashboard tokens, and clears the cookie.',
        response: { 204: NoContent },
      },
    },
    async (request, reply) => {
      const { caller } = request
      clearSessionCookie(reply, deps.config)
      return respondOnce(deps, request, reply, async (tx) => {
        if (caller) await logOut(tx, deps.config, caller)
        return { status: 204, body: undefined }
      })
    },
  )
  routes.post('/v1/auth/dashboard-tokens', {
    config: { operation: 'sign_in.create_dashboard_token', access: 'authenticated', idempotent: true, refuses: ['forbidden'] },
    schema: {
      summary: 'Get a short-lived token',
      description:
        'A bearer token of 15 minutes with the permissions of the request’s credential, for tools that cannot send its cookie. It ends with that credential.',
      response: { 201: DashboardToken },
    },
    work: async (tx, { principal }) => {
      const { token, expiresInSeconds } = await createDashboardToken(tx, deps.config, principal)
      return created({ token, token_type: 'Bearer' as const, expires_in: expiresInSeconds }, ['token'])
    },
  })
}
