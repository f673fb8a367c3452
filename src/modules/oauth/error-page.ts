import type { FastifyReply, FastifyRequest } from 'fastify'
import { sha256 } from '../../auth/secrets.ts'
import { describeError } from '../../db/errors.ts'
import { toRefusal } from '../../http/errors.ts'
import { Refusal } from '../../lib/errors.ts'
import { redirectHost } from './clients/redirect-uris.ts'
import { OAuthError } from './errors.ts'

/** Error pages before the dashboard's pages are reached: no script, nothing loaded, no link but the one back to the client. */
const style = `:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}body{max-width:34rem;margin:3rem auto;padding:0 1rem}
h1{font-size:1.4rem}fieldset{border:1px solid #8888;border-radius:.5rem;margin:1rem 0}label{display:block;margin:.3rem 0}
input[type=text],select{font:inherit;padding:.2rem .4rem;max-width:100%}button{font:inherit;padding:.5rem 1.2rem;margin-right:.5rem}
.warn{border-left:.3rem solid #c60;padding:.2rem .8rem}code{font-size:1.1em;letter-spacing:.05em}small{opacity:.75}`

const styleHash = sha256(style).toString('base64')

const pageHeaders = () => ({
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'`,
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
})

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const html = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? '')

const page = (title: string, body: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>${html(title)}</title><style>${style}</style></head><body><main><h1>${html(title)}</h1>${body}</main></body></html>`

const linkBack = (back: string): string =>
  `<p><a rel="noreferrer" href="${html(back)}">Back to ${html(redirectHost(back))}</a></p><p><small>This address is not verified. Continue only if you came from there.</small></p>`

const messagePage = (title: string, message: string, back: string | undefined): string =>
  page(title, `<p>${html(message)}</p>${back === undefined ? '' : linkBack(back)}`)

const formType = 'application/x-www-form-urlencoded'

/** RFC 6749 appendix B: the body was not a form. */
const noForm = (): OAuthError => new OAuthError('invalid_request', `Send the parameters as a form: Content-Type: ${formType}.`)

/** A refusal of ours or of OAuth's; anything else is a bug: logged, and never shown. */
const refusalOf = (error: unknown, request: FastifyRequest): OAuthError | Refusal => {
  if (error instanceof OAuthError) return error
  const refusal = toRefusal(error)
  if (refusal?.code === 'unsupported_media_type' && request.routeOptions.schema?.consumes?.includes(formType)) return noForm()
  if (!refusal || refusal.status >= 500) request.log.error(describeError(error), refusal ? refusal.message : 'a request failed')
  return refusal ?? new Refusal('internal_error')
}

/** RFC 6749 section 5.2, with the envelope's `message` beside it. */
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
    details: { doc_url: request.server.errorUrlOf(code), request_id: request.id },
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

const wantsJson = (request: FastifyRequest): boolean => {
  const { accept } = request.headers
  return accept?.includes('application/json') === true && !accept.includes('text/html')
}

const titles: Readonly<Record<number, string>> = {
  401: 'Sign in first',
  403: 'Not allowed',
  404: 'Not found',
  409: 'Too late',
  429: 'Too many requests',
}

/** For a browser: an error stays on a page of ours. It links to the client's address where that is one that the client registered. */
export const handlePageError = (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
  const refused = refusalOf(error, request)
  const { status, message, headers } = refused
  // An unknown client is an error in the link, and no reason for a browser to ask for a password.
  const pageStatus = error instanceof OAuthError ? 400 : status
  if (wantsJson(request)) return sendOAuthError(refused, pageStatus, request, reply)
  const title = titles[pageStatus] ?? (pageStatus >= 500 ? 'Something went wrong' : 'This request cannot be answered')
  return reply
    .headers(headers ?? {})
    .code(pageStatus)
    .headers(pageHeaders())
    .send(messagePage(title, message, error instanceof OAuthError ? error.back : undefined))
}
