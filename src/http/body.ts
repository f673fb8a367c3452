import { invalidFields, Refusal } from '../lib/errors.ts'
import type { App } from './app-type.ts'

const maxDepth = 16

/** Text that no database and no log can hold as it is: NUL, and surrogates without their other half. */
const isStorable = (text: string): boolean => !text.includes('\u0000') && text.isWellFormed()

const check = (value: unknown, path: string, depth: number): void => {
  if (depth > maxDepth) throw invalidFields({ path: path || 'body', message: 'is nested too deeply' })
  if (typeof value === 'string' && !isStorable(value))
    throw invalidFields({ path: path || 'body', message: 'has characters that can not be stored' })
  if (typeof value !== 'object' || value === null) return
  for (const [key, entry] of Object.entries(value)) {
    const at = path ? `${path}.${key}` : key
    if (!isStorable(key)) throw invalidFields({ path: path || 'body', message: 'has a name that can not be stored' })
    check(entry, at, depth + 1)
  }
}

/** JSON and nothing else; a request without a body may carry any Content-Type. */
export const registerBodyParsing = (app: App): void => {
  app.decorateRequest('rawBody', null)
  app.removeContentTypeParser('text/plain')
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, text, done) => {
    request.rawBody = text.toString()
    parse(request, request.rawBody, (error, value) => {
      if (error) return done(error, undefined)
      try {
        check(value, '', 0)
        done(null, value)
      } catch (refusal) {
        done(refusal instanceof Error ? refusal : new Refusal('invalid_request'), undefined)
      }
    })
  })
  app.addHook('onRequest', async (request) => {
    const { headers } = request.raw
    const empty = headers['transfer-encoding'] === undefined && (headers['content-length'] ?? '0') === '0'
    if (empty) delete headers['content-type']
    if (/%00/.test(request.raw.url ?? '')) throw new Refusal('not_found')
  })
}
