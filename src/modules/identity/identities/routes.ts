import type { App } from '../../../http/app-type.ts'
import { isRequestOfOwnPage } from '../../../http/csrf.ts'
import { created, ok, respondOnce } from '../../../http/idempotency.ts'
import { PageQuery, pageOf } from '../../../http/pagination.ts'
import { routesOf } from '../../../http/routes.ts'
import { isoTime } from '../../../lib/clock.ts'
import type { Parts } from '../../parts.ts'
import { Identity, LinkFlow, LinkIdentity } from '../schema.ts'
import { markBrowser } from '../sign-in/cookie.ts'
import { readLinkReturnTo, requireProvider, startLink } from '../sign-in/flows.ts'
import { linkWallet } from '../sign-in/service.ts'
import { examineForLink } from '../sign-in/wallet.ts'
import { pageIdentities, presentIdentity } from './queries.ts'

export const registerIdentities = (app: App, deps: Parts): void => {
  const routes = routesOf(app, deps)
  routes.list('/v1/accounts/me/identities', {
    config: { operation: 'identities.list', permission: 'account.read' },
    schema: {
      summary: 'List sign-in methods',
      description: 'The identities that are linked to the account.',
      querystring: PageQuery,
      response: { 200: pageOf(Identity) },
    },
    of: ({ principal }) => principal.accountId,
    read: (page, { principal }) => pageIdentities(deps.db, principal.accountId, page),
    present: (rows) => rows.map((row) => presentIdentity(row)),
  })
  app.post(
    '/v1/accounts/me/identities',
    {
      config: {
        operation: 'identities.link',
        freshProof: 'by_content',
        permission: 'account.manage',
        idempotent: true,
        credentialIssuing: true,
        refuses: ['invalid_signature', 'forbidden', 'grant_frozen', 'provider_not_configured'],
      },
      schema: {
        summary: 'Link a sign-in method',
        description:
          'A wallet by a signed message, at once; Google and GitHub by an address that the person opens in a browser. An identity belongs to one account (409 `conflict`).\n\nLinks a sign-in method. A wallet is linked at once: 201, or 200 when it was linked already. Google and GitHub: 202, and a page to open.',
        body: LinkIdentity,
        response: {
          200: Identity,
          201: Identity,
          202: LinkFlow,
        },
      },
    },
    async (request, reply) => {
      const { body } = request
      if (body.provider !== 'wallet') {
        requireProvider(deps, body.provider)
        const { principal } = request
        const isOwn = principal.credential.kind === 'session' && isRequestOfOwnPage(request, deps.config.publicUrl)
        const browser = isOwn ? markBrowser(request, reply, deps.config) : null
        const input = { provider: body.provider, returnTo: readLinkReturnTo(deps, body.return_to), browser }
        return respondOnce(deps, request, reply, async (tx) => {
          const { authorizationUrl, expiresAt } = await startLink(tx, deps, principal, input)
          return { status: 202, body: { authorization_url: authorizationUrl, expires_at: isoTime(expiresAt) } }
        })
      }
      const verdict = await examineForLink(deps, { ...body, intent: 'link' })
      return respondOnce(deps, request, reply, async (tx) => {
        const link = await linkWallet(tx, deps.config, request.principal, verdict)
        const identity = presentIdentity(link.identity)
        return link.outcome === 'linked' ? created(identity) : ok(identity)
      })
    },
  )
}
