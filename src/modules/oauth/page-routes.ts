import formbody from '@fastify/formbody'
import { z } from 'zod'
import type { Principal } from '../../auth/principal.ts'
import { equalBytes } from '../../auth/secrets.ts'
import { inTx } from '../../db/client.ts'
import type { App } from '../../http/app-type.ts'
import { notFound, Refusal } from '../../lib/errors.ts'
import { formatId, parseId } from '../../lib/ids.ts'
import type { Deps } from '../deps.ts'
import type { AuthorizationName } from './authorizations.ts'
import { decideAuthorization, readQuestion } from './consent.ts'
import { readUserCode } from './device.ts'
import { handlePageError } from './error-page.ts'
import { parseForm, readLimits, requireStorable } from './form.ts'
import { devicePage, messagePage, pageHeaders, questionPage, signInPage } from './pages.ts'
import { presentQuestion } from './present.ts'
import { redirectSource } from './redirect-uris.ts'
import { Decision } from './schema.ts'

const Field = z.string().max(200).optional()
const ConsentQuery = z.object({ authorization: Field })
const DeviceQuery = z.object({ user_code: Field, outcome: Field })
const AnswerForm = z.object({
  csrf: Field,
  authorization: Field,
  user_code: Field,
  decision: Field,
  permissions: z.union([z.string(), z.array(z.string())]).optional(),
  workspace_id: Field,
  per_payment_limit: Field,
  daily_limit: Field,
  monthly_limit: Field,
  approval_threshold: Field,
})
type AnswerForm = z.output<typeof AnswerForm>

const Html = z.string().meta({ description: 'A page.' })
const Redirect = z.undefined().meta({ description: 'The browser goes on.' })

const nameOf = (fields: { authorization?: string | undefined; user_code?: string | undefined }): AuthorizationName => {
  const userCode = fields.user_code === undefined ? undefined : readUserCode(fields.user_code)
  const id = fields.authorization === undefined ? undefined : parseId('oauth_authorization', fields.authorization)
  if (userCode !== undefined) return { userCode }
  if (id !== undefined) return { id }
  throw notFound()
}

/** Bound to the session and to what is decided: a form that somebody else made can't carry it. */
const csrfText = (principal: Principal, name: AuthorizationName): string =>
  `${principal.credential.id}:${'id' in name ? name.id : name.userCode}`

const requireCsrf = (deps: Deps, principal: Principal, name: AuthorizationName, token: string | undefined): void => {
  const given = Buffer.from(token ?? '', 'hex')
  const fits = deps.derivations.macs('oauth.csrf', csrfText(principal, name)).some(({ mac }) => equalBytes(mac, given))
  if (!fits)
    throw new Refusal('csrf_rejected', { message: 'This form was not made by this page, or is too old. Go back and try again.' })
}

const readAnswer = (form: AnswerForm): Decision => {
  const approve = form.decision === 'approve'
  const permissions = form.permissions === undefined ? [] : [form.permissions].flat()
  const {
    permissions: chosen,
    workspace_id: workspaceId,
    decision,
  } = Decision.omit({ spending_controls: true }).parse({
    decision: approve ? 'approve' : 'deny',
    ...(approve && { permissions, ...(form.workspace_id !== undefined && { workspace_id: form.workspace_id }) }),
  })
  return { decision, permissions: chosen, workspace_id: workspaceId, ...(approve && { spending_controls: readLimits(form) }) }
}

const person = (caller: Principal | null): Principal | null => (caller?.grant ? null : caller)

export const registerOAuthPages = (app: App, deps: Deps): void => {
  app.register(async (scope: App) => {
    await scope.register(formbody, { parser: parseForm })
    scope.setErrorHandler(handlePageError)
    scope.addHook('preValidation', async (request) => {
      requireStorable(request.query)
      requireStorable(request.body)
    })

    const ask = async (principal: Principal, name: AuthorizationName) => {
      const found = await readQuestion(deps, principal, name)
      const question = presentQuestion(found, deps.clock.now())
      if (question.status !== 'pending')
        throw new Refusal('conflict', {
          message: 'This request was decided already, or has expired. The application has to ask again.',
        })
      const { redirectUri } = found.authorization
      const html = questionPage({
        question,
        action: redirectUri === null ? '/device' : '/consent',
        csrf: deps.derivations.mac('oauth.csrf', csrfText(principal, name)).toString('hex'),
        currency: deps.config.CURRENCY,
        own: deps.config.publicUrl,
        workspaceId: formatId('workspace', principal.workspace.id),
      })
      return { html, headers: pageHeaders(redirectUri === null ? undefined : redirectSource(redirectUri)) }
    }
    const answer = async (principal: Principal, form: AnswerForm): Promise<string> => {
      const name = nameOf(form)
      requireCsrf(deps, principal, name, form.csrf)
      return (await inTx(deps.db, (tx) => decideAuthorization(tx, deps, principal, name, readAnswer(form)))).redirectTo
    }
    const signInFirst = (path: string): string => `/sign-in?return_to=${encodeURIComponent(path)}`

    scope.get(
      '/consent',
      {
        config: { operation: 'oauth.consent_page', access: 'optional', cors: false },
        schema: { hide: true, querystring: ConsentQuery, response: { 200: Html, 302: Redirect } },
      },
      async (request, reply) => {
        const principal = person(request.caller)
        if (!principal) return reply.redirect(signInFirst(request.url), 302)
        const { html, headers } = await ask(principal, nameOf(request.query))
        return reply.headers(headers).send(html)
      },
    )
    scope.post(
      '/consent',
      {
        config: { operation: 'oauth.consent_form', access: 'undelegated', cors: false },
        schema: { hide: true, body: AnswerForm, response: { 303: Redirect } },
      },
      async (request, reply) =>
        reply
          .header('cache-control', 'no-store')
          .redirect(await answer(request.principal, { ...request.body, user_code: undefined }), 303),
    )
    scope.get(
      '/device',
      {
        config: { operation: 'oauth.device_page', access: 'optional', credentialIssuing: true, cors: false },
        schema: { hide: true, querystring: DeviceQuery, response: { 200: Html, 302: Redirect, 404: Html } },
      },
      async (request, reply) => {
        const principal = person(request.caller)
        const { user_code: code, outcome } = request.query
        if (outcome !== undefined) {
          const done =
            outcome === 'approved'
              ? messagePage('Connected', 'You can go back to your device.')
              : messagePage('Refused', 'The device was not let in.')
          return reply.headers(pageHeaders()).send(done)
        }
        if (!principal) return reply.redirect(signInFirst(request.url), 302)
        if (code === undefined) return reply.headers(pageHeaders()).send(devicePage())
        const userCode = readUserCode(code)
        const asked = userCode === undefined ? undefined : await ask(principal, { userCode }).catch(() => undefined)
        if (asked) return reply.headers(asked.headers).send(asked.html)
        return reply.code(404).headers(pageHeaders()).send(devicePage('There is no device waiting with this code.'))
      },
    )
    scope.post(
      '/device',
      {
        config: { operation: 'oauth.device_form', access: 'undelegated', credentialIssuing: true, cors: false },
        schema: { hide: true, body: AnswerForm, response: { 303: Redirect } },
      },
      async (request, reply) =>
        reply
          .header('cache-control', 'no-store')
          .redirect(await answer(request.principal, { ...request.body, authorization: undefined }), 303),
    )
    scope.get(
      '/sign-in',
      {
        config: { operation: 'oauth.sign_in_page', access: 'public', cors: false },
        schema: { hide: true, querystring: z.object({ return_to: z.string().max(2000).optional() }), response: { 200: Html } },
      },
      async (request, reply) => {
        const to = request.query.return_to ?? '/'
        const own = to.startsWith('/') && !/^\/[/\\]/.test(to)
        return reply.headers(pageHeaders()).send(signInPage(own ? to : '/'))
      },
    )
  })
}
