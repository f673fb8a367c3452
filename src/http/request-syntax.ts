import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { parse } from 'node:querystring'
import type { FastifyRequest } from 'fastify'
import { didYouMean } from '../lib/did-you-mean.ts'
import { invalidFields, Refusal, refuseFields } from '../lib/errors.ts'
import { repeatedName } from '../lib/repeated-name.ts'
import type { App } from './app-type.ts'
import { fieldNames } from './sentences.ts'

const maxDepth = 16
/** Maximum length of any array: the payments of a batch. */
const maxEntries = 1_000
/** Maximum number of array and object members in a body: three times what a full batch needs. */
const maxMembers = 100_000

/** Databases and logs cannot store NUL or an unpaired surrogate. */
export const isStorable = (text: string): boolean => !text.includes('\u0000') && text.isWellFormed()

const checkTexts = (body: unknown, isAccepted: (text: string) => boolean): void => {
  let members = 0
  const checkValue = (value: unknown, path: string, depth: number): void => {
    if (depth > maxDepth) throw invalidFields({ path: path || 'body', message: 'is nested too deeply' })
    if (typeof value === 'string' && !isAccepted(value))
      throw invalidFields({ path: path || 'body', message: 'has characters that cannot be stored' })
    if (typeof value !== 'object' || value === null) return
    if (Array.isArray(value) && value.length > maxEntries)
      throw invalidFields({ path: path || 'body', message: `must have at most ${maxEntries} entries` })
    const entries = Object.entries(value)
    members += entries.length
    if (members > maxMembers) throw invalidFields({ path: 'body', message: `must have at most ${maxMembers} fields and entries` })
    for (const [key, entry] of entries) {
      const at = path ? `${path}.${key}` : key
      // Code that copies objects carelessly would use this name to set the prototype.
      if (key === '__proto__') throw invalidFields({ path: at, message: 'is not a known field' })
      if (!isAccepted(key)) throw invalidFields({ path: path || 'body', message: 'has a name that cannot be stored' })
      checkValue(entry, at, depth + 1)
    }
  }
  checkValue(body, '', 0)
}

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    throw invalidFields({ path: 'body', message: 'must be valid JSON' })
  }
}

/** Parses JSON whose texts can be stored or pass `isAccepted`, and that all parsers read in the same way. Throws 400. */
export const readJson = (text: string, isAccepted = isStorable): unknown => {
  const value = parseJson(text)
  checkTexts(value, isAccepted)
  const repeated = repeatedName(text)
  if (repeated !== undefined) throw invalidFields({ path: repeated, message: 'is given more than once' })
  return value
}

/** Headers that must have a single value. Node joins repeated headers with a comma or keeps only the first. */
const singleHeaders = ['Authorization', 'Idempotency-Key', 'Last-Event-ID', 'Workspace-Id'] as const
const singleHeaderTitles: ReadonlyMap<string, string> = new Map(singleHeaders.map((name) => [name.toLowerCase(), name]))

/** A header sent twice with one value counts once: "a, a" would be another idempotency key than "a": a repeat would pay twice. */
const joinEqualHeaders = ({ rawHeaders, headers }: IncomingMessage): void => {
  const seen = new Map<string, string>()
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? ''
    const title = singleHeaderTitles.get(name)
    if (title === undefined) continue
    const value = rawHeaders[index + 1] ?? ''
    const before = seen.get(name)
    if (before !== undefined && before !== value)
      throw invalidFields({ path: title, message: 'is sent more than once, with different values: send one' })
    if (before !== undefined) headers[name] = value
    seen.set(name, value)
  }
}

type Values = Record<string, unknown>

/** Without Node's limit of a thousand parameters, after which it drops the rest silently. The server bounds an address's length. */
const parseParameters = (text: string): Values => parse(text, '&', '=', { maxKeys: 0 })

const bracketed = /^([^[\]]+)\[([^[\]]+)\]$/

/** `metadata[invoice]=17` becomes `{metadata: {invoice: '17'}}`, without a prototype, because callers choose the names. */
export const parseQuery = (text: string): Values => {
  const values = parseParameters(text)
  if (!text.includes('[') && !/%5b/i.test(text)) return values
  const folded = Object.create(null) as Values
  for (const [name, value] of Object.entries(values)) {
    const [, base, key] = bracketed.exec(name) ?? []
    if (base === undefined || key === undefined) {
      folded[name] = value
      continue
    }
    const inner = folded[base]
    const object =
      typeof inner === 'object' && inner !== null && !Array.isArray(inner) ? (inner as Values) : (Object.create(null) as Values)
    object[key] = value
    folded[base] = object
  }
  return folded
}

/** If an unknown filter were ignored, the response would look as if every item matched it. */
const refuseUnknown = (request: FastifyRequest): void => {
  const { config, schema } = request.routeOptions
  if (request.is404 || config.internal || config.query === 'lenient') return
  const names = Object.keys(request.query as object)
  if (names.length === 0) return
  const known = fieldNames(schema?.querystring)
  const unknown = names.filter((name) => !known.includes(name))
  if (unknown.length === 0) return
  throw refuseFields(unknown.map((path) => ({ path, message: `is not a known query parameter${didYouMean(path, known)}` })))
}

const byteOrderMark = '\ufeff'

const textOfBody = (bytes: Buffer): string => {
  if (!isUtf8(bytes)) throw invalidFields({ path: 'body', message: 'must be UTF-8' })
  const text = bytes.toString()
  return text.startsWith(byteOrderMark) ? text.slice(1) : text
}

/** Rejects a body on a route that takes none, because the caller may have meant one of its fields as a limit. */
const refuseUnreadBody = (request: FastifyRequest): void => {
  const { body, routeOptions } = request
  if (routeOptions.schema?.body !== undefined || request.rawBody === null) return
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw invalidFields({ path: 'body', message: 'is not expected here' })
  const names = Object.keys(body)
  if (names.length > 0) throw refuseFields(names.map((path) => ({ path, message: 'is not a known field' })))
}

/** A NUL in the path matches nothing, and in a parameter the error names the parameter. */
const refuseNul = (url: string): void => {
  if (!url.includes('%00')) return
  const index = url.indexOf('?')
  if (index === -1 || url.slice(0, index).includes('%00')) throw new Refusal('not_found')
  const parameters = Object.entries(parseParameters(url.slice(index + 1)))
  const [name = 'query'] = parameters.find((each) => each.join('').includes('\u0000')) ?? []
  throw invalidFields({ path: name.replaceAll('\u0000', ''), message: 'has characters that cannot be stored' })
}

/** A small body arrives together with its headers: it is complete before hooks that wait, but parsed after them. */
const recordArrival = (request: FastifyRequest): void => {
  const { raw } = request
  const arrive = () => {
    request.arrivedAt ||= performance.now()
  }
  process.nextTick(() => {
    if (raw.complete) arrive()
  })
  raw.once('end', arrive)
}

/** Names the types that the route accepts: JSON, and for a payment batch CSV too. */
export const wrongMediaType = ({ routeOptions }: FastifyRequest): Refusal => {
  const types = routeOptions.schema?.consumes ?? ['application/json']
  const message = `The request body must be ${types.join(', ').replace(/, ([^,]+)$/, ' or $1')}.`
  return new Refusal('unsupported_media_type', { message })
}

/** Accepts only JSON bodies. A request without a body may have any Content-Type. */
export const registerRequestSyntax = (app: App): void => {
  app.decorateRequest('rawBody', null)
  app.decorateRequest('arrivedAt', 0)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (request: FastifyRequest, bytes: Buffer) => {
    if (bytes.length === 0 || request.is404) return undefined
    request.rawBody = textOfBody(bytes)
    return readJson(request.rawBody, request.routeOptions.config.text === 'lenient' ? () => true : isStorable)
  })
  // A chunked body may turn out to be empty. Only then is its Content-Type ignored.
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async (request: FastifyRequest, bytes: Buffer) => {
    if (bytes.length > 0 && !request.is404) throw wrongMediaType(request)
  })
  app.addHook('onRequest', async (request) => {
    const { raw } = request
    recordArrival(request)
    joinEqualHeaders(raw)
    const { headers } = raw
    const empty = headers['transfer-encoding'] === undefined && (headers['content-length'] ?? '0') === '0'
    if (empty) delete headers['content-type']
    // A wrong path is answered as one, whatever the body.
    if (request.is404) return
    // Bodies are never decompressed, because a small body could expand to a huge one.
    if (!empty && !/^(?:identity)?$/i.test(headers['content-encoding'] ?? ''))
      throw new Refusal('unsupported_media_type', { message: 'Send the body as it is, without Content-Encoding.' })
    // Parsers disagree on tabs in this header, and such differences have let bodies bypass checks.
    if (headers['content-type']?.includes('\t')) throw wrongMediaType(request)
    refuseNul(raw.url ?? '')
  })
  app.addHook('preValidation', async (request) => {
    refuseUnreadBody(request)
    refuseUnknown(request)
  })
}
