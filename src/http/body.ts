import { isUtf8 } from 'node:buffer'
import type { FastifyRequest } from 'fastify'
import { invalidFields, Refusal } from '../lib/errors.ts'
import type { App } from './app-type.ts'
import { atOnce } from './at-once.ts'
import { repeatedName } from './repeated-name.ts'

const maxDepth = 16

/** Text that no database and no log can hold as it is: NUL, and surrogates without their other half. */
const isStorable = (text: string): boolean => !text.includes('\u0000') && text.isWellFormed()

const check = (value: unknown, path: string, depth: number): void => {
  if (depth > maxDepth) throw invalidFields({ path: path || 'body', message: 'is nested too deeply' })
  if (typeof value === 'string' && !isStorable(value))
    throw invalidFields({ path: path || 'body', message: 'has characters that cannot be stored' })
  if (typeof value !== 'object' || value === null) return
  for (const [key, entry] of Object.entries(value)) {
    const at = path ? `${path}.${key}` : key
    // A name that a careless copy would take for the object's prototype.
    if (key === '__proto__') throw invalidFields({ path: at, message: 'is not a known field' })
    if (!isStorable(key)) throw invalidFields({ path: path || 'body', message: 'has a name that cannot be stored' })
    check(entry, at, depth + 1)
  }
}

const byteOrderMark = '\ufeff'

const textOf = (bytes: Buffer): string => {
  if (!isUtf8(bytes)) throw invalidFields({ path: 'body', message: 'must be UTF-8' })
  const text = bytes.toString()
  return text.startsWith(byteOrderMark) ? text.slice(1) : text
}

/** A field that nobody reads may be a limit that somebody meant: a body where none belongs is refused unless it says nothing. */
const refuseUnreadBody = (request: FastifyRequest): void => {
  const { body, routeOptions } = request
  // Nothing stands at this path: that is the answer, whatever was sent there.
  if (request.is404) return
  if (routeOptions.schema?.body !== undefined || request.rawBody === null) return
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw invalidFields({ path: 'body', message: 'is not expected here' })
  const names = Object.keys(body)
  if (names.length > 0) throw invalidFields(...names.map((path) => ({ path, message: 'is not a known field' })))
}

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    throw invalidFields({ path: 'body', message: 'must be valid JSON' })
  }
}

const readJson = (text: string): unknown => {
  const value = parseJson(text)
  check(value, '', 0)
  const repeated = repeatedName(text)
  if (repeated !== undefined) throw invalidFields({ path: repeated, message: 'is given more than once' })
  return value
}

/** JSON and nothing else; a request without a body may carry any Content-Type. */
export const registerBodyParsing = (app: App): void => {
  app.decorateRequest('rawBody', null)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (request: FastifyRequest, bytes: Buffer) => {
    if (bytes.length === 0) return undefined
    request.rawBody = textOf(bytes)
    return readJson(request.rawBody)
  })
  // What is not JSON is refused; that nothing at all came is only known when nothing came.
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async (_request: FastifyRequest, bytes: Buffer) => {
    if (bytes.length > 0) throw new Refusal('unsupported_media_type')
  })
  app.addHook(
    'onRequest',
    atOnce((request) => {
      const { headers } = request.raw
      const empty = headers['transfer-encoding'] === undefined && (headers['content-length'] ?? '0') === '0'
      if (empty) delete headers['content-type']
      // Parsers disagree about a tab in it, and such a disagreement has let bodies past their checks.
      if (headers['content-type']?.includes('\t')) throw new Refusal('unsupported_media_type')
      if (/%00/.test(request.raw.url ?? '')) throw new Refusal('not_found')
    }),
  )
  app.addHook('preValidation', atOnce(refuseUnreadBody))
}
