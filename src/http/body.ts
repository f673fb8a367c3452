import { isUtf8 } from 'node:buffer'
import { parse } from 'node:querystring'
import type { FastifyRequest } from 'fastify'
import { invalidFields, Refusal, refuseFields } from '../lib/errors.ts'
import type { App } from './app-type.ts'
import { atOnce } from './at-once.ts'
import { readJson } from './json-text.ts'

const byteOrderMark = '\ufeff'

/** The text of a body, without a byte order mark. */
const textOfBody = (bytes: Buffer): string => {
  if (!isUtf8(bytes)) throw invalidFields({ path: 'body', message: 'must be UTF-8' })
  const text = bytes.toString()
  return text.startsWith(byteOrderMark) ? text.slice(1) : text
}

/** A field that is not read may be a limit that the sender meant, so a body on a route without one is refused unless it is empty. */
const refuseUnreadBody = (request: FastifyRequest): void => {
  const { body, routeOptions } = request
  // There is no route at this path: every request gets this answer.
  if (request.is404) return
  if (routeOptions.schema?.body !== undefined || request.rawBody === null) return
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw invalidFields({ path: 'body', message: 'is not expected here' })
  const names = Object.keys(body)
  if (names.length > 0) throw refuseFields(names.map((path) => ({ path, message: 'is not a known field' })))
}

/** No id contains a NUL and no column can store one: a path with one is not found, and a parameter with one is refused by its name. */
const refuseNul = (url: string): void => {
  if (!url.includes('%00')) return
  const at = url.indexOf('?')
  if (at === -1 || url.slice(0, at).includes('%00')) throw new Refusal('not_found')
  const parameters = Object.entries(parse(url.slice(at + 1)))
  const [name = 'query'] = parameters.find((each) => each.join('').includes('\u0000')) ?? []
  throw invalidFields({ path: name.replaceAll('\u0000', ''), message: 'has characters that cannot be stored' })
}

/** Only JSON; a request without a body may have any Content-Type. */
export const registerBodyParsing = (app: App): void => {
  app.decorateRequest('rawBody', null)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (request: FastifyRequest, bytes: Buffer) => {
    if (bytes.length === 0) return undefined
    request.rawBody = textOfBody(bytes)
    return readJson(request.rawBody)
  })
  // A body that is not JSON is refused; an empty one is recognised only when nothing has arrived.
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async (_request: FastifyRequest, bytes: Buffer) => {
    if (bytes.length > 0) throw new Refusal('unsupported_media_type')
  })
  app.addHook(
    'onRequest',
    atOnce((request) => {
      const { headers } = request.raw
      const empty = headers['transfer-encoding'] === undefined && (headers['content-length'] ?? '0') === '0'
      if (empty) delete headers['content-type']
      // No body is unpacked here: a short one may become a very long one.
      if (!empty && !/^(?:identity)?$/i.test(headers['content-encoding'] ?? ''))
        throw new Refusal('unsupported_media_type', { message: 'Send the body as it is, without Content-Encoding.' })
      // Parsers treat a tab in it differently, and such differences have let bodies pass their checks.
      if (headers['content-type']?.includes('\t')) throw new Refusal('unsupported_media_type')
      refuseNul(request.raw.url ?? '')
    }),
  )
  app.addHook('preValidation', atOnce(refuseUnreadBody))
}
