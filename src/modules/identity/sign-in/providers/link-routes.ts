import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { App } from '../../../../http/app-type.ts'
import { isNavigationFromOwnPage } from '../../../../http/csrf.ts'
import { renderPage, sendHtml, sendRefusalPage, wantsPage } from '../../../../http/page.ts'
import { bounded } from '../../../../http/wire.ts'
import { Refusal } from '../../../../lib/errors.ts'
import type { Deps } from '../../deps.ts'
import { Redirect } from '../schema.ts'
import { markBrowser, readBrowser } from './flow-cookie.ts'
import { leaveLinkPage, passLinkPage, showLinkPage } from './link-page.ts'

const Params = z.object({ flow: bounded(100).min(1) })
const Html = z.string().meta({ description: 'A page.' })

const answerWithPage = async (
  request: FastifyRequest,
  reply: FastifyReply,
  work: () => Promise<FastifyReply>,
): Promise<FastifyReply> => {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Refusal && wantsPage(request)) return sendRefusalPage(reply, error, 'That did not work')
    throw error
  }
}

/** Our pages for a link that was begun outside the browser that finishes it. */
export const registerLinkPages = (app: App, deps: Deps): void => {
  app.get(
    '/link/:flow',
    {
      config: {
        operation: 'sign_in.link_page',
        access: 'optional',
        credentialIssuing: true,
        refuses: ['not_found', 'provider_error'],
      },
      schema: { hide: true, params: Params, response: { 200: Html, 302: Redirect } },
    },
    async (request, reply) => {
      await answerWithPage(request, reply, async () => {
        const { flow } = request.params
        const asker = isNavigationFromOwnPage(request) ? readBrowser(request, deps.config) : null
        const url = await passLinkPage(deps, flow, asker, request.caller)
        if (url !== null) return reply.header('cache-control', 'no-store').redirect(url, 302)
        const browser = markBrowser(request, reply, deps.config)
        return sendHtml(reply, 200, renderPage(await showLinkPage(deps, flow, browser, request.caller)))
      })
      return reply
    },
  )
  app.get(
    '/link/:flow/continue',
    {
      config: {
        operation: 'sign_in.link_continue',
        access: 'public',
        credentialIssuing: true,
        refuses: ['not_found', 'provider_error'],
      },
      schema: {
        hide: true,
        params: Params,
        querystring: z.object({ page: bounded(100).default('') }),
        response: { 302: Redirect },
      },
    },
    async (request, reply) => {
      await answerWithPage(request, reply, async () => {
        const browser = readBrowser(request, deps.config)
        const url = await leaveLinkPage(deps, request.params.flow, browser, request.query.page)
        return reply.header('cache-control', 'no-store').redirect(url, 302)
      })
      return reply
    },
  )
}
