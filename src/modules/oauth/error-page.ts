import type { FastifyReply, FastifyRequest } from 'fastify'
import { describeError } from '../../db/errors.ts'
import { errorPageUrl } from '../../http/envelope.ts'
import { toRefusal } from '../../http/errors.ts'
import { renderPage, sendHtml, wantsJson } from '../../http/page.ts'
import { isTemporary, Refusal } from '../../lib/errors.ts'
import { OAuthError } from './errors.ts'
import { redirectHost } from './redirect-uri.ts'

const formType = 'application/x-www-form-urlencoded'

/** Any error that is not a refusal is a bug. It is logged and never shown. */
const refusalOf = (error: unknown, request: FastifyRequest): OAuthError | Refusal => {
  if (error instanceof OAuthError) return error
  const refusal = toRefusal(error, request)
  // The body was not a form (RFC 6749 appendix B).
  if (refusal?.code === 'unsupported_media_type' && request.routeOptions.schema?.consumes?.includes(formType))
    return new OAuthError('invalid_request', `Send the parameters as a form: Content-Type: ${formType}.`)
  if (!refusal || refusal.status >= 500) request.log.error(describeError(error), refusal ? refusal.message : 'a request failed')
  if (isTemporary(refusal)) return new OAuthError('temporarily_unavailable', refusal?.message, refusal?.headers)
  return refusal ?? new Refusal('internal_error')
}

/** The error response of RFC 6749 section 5.2, with the `message` of our error envelope. */
const sendOAuthError = (
  { code, message, headers }: OAuthError | Refusal,
  status: number,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply => {
  const body = {
    error: code,
    error_description: message,
    message,
    details: { doc_url: errorPageUrl(request.server.publicUrl, code), request_id: request.id },
  }
  return reply
    .headers(headers ?? {})
    .code(status)
    .header('cache-control', 'no-store')
    .type('application/json')
    .send(JSON.stringify(body))
}

export const handleOAuthError = (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
  const refused = refusalOf(error, request)
  return sendOAuthError(refused, refused.status, request, reply)
}

const titles: Readonly<Record<number, string>> = {
  401: 'Sign in to continue',
  403: 'Not allowed',
  404: 'Not found',
  409: 'No longer valid',
  429: 'Too many requests',
  503: 'Try again later',
}

/** Shows an error on a page of ours. The page links to the client's address only if the client registered it. */
export const handlePageError = (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
  const refused = refusalOf(error, request)
  const { status, message, headers } = refused
  // 400 even for an unknown client: the error is in the link, and a 401 would make the browser ask for a password.
  const pageStatus = refused instanceof OAuthError && status < 500 ? 400 : status
  if (wantsJson(request)) return sendOAuthError(refused, pageStatus, request, reply)
  const title = titles[pageStatus] ?? (pageStatus >= 500 ? 'Something went wrong' : 'This request is not valid')
  const back = error instanceof OAuthError ? error.back : undefined
  const links = back === undefined ? [] : [{ href: back, text: `Back to ${redirectHost(back)}`, foreign: true }]
  const unverified = back === undefined ? [] : ['This address is not verified. Continue only if you came from there.']
  const page = renderPage({ title, paragraphs: [message, ...unverified], links })
  return sendHtml(reply.headers(headers ?? {}), pageStatus, page)
}
