import type { Config } from '../../../config.ts'
import { invalidFields, type Refusal } from '../../../lib/errors.ts'

const maxLength = 2000

const returnToRefusal = (): Refusal =>
  invalidFields({
    path: 'return_to',
    message: 'must be the path of a page of this site (/…, not under /v1/ or /link/) or a URL of an allowed origin',
  })

/** Decodes until nothing changes, because a proxy or a page may decode the text again. Undefined if it is malformed. */
const fullyDecoded = (text: string): string | undefined => {
  try {
    for (let current = text; ; ) {
      const decoded = decodeURIComponent(current)
      if (decoded === current) return decoded
      current = decoded
    }
  } catch {
    return undefined
  }
}

/**
 * Browsers read a backslash as a slash and drop tabs and line breaks, so a text that looks like a path can name another host. With
 * encoded slashes, `..` can lead to another path of this site behind a proxy that decodes them.
 */
const isPlainPath = (pathname: string): boolean => {
  const decoded = fullyDecoded(pathname)
  return decoded !== undefined && /^\/(?!\/)[^\\\u0000-\u001f\u007f]*$/.test(decoded) && !/(?:^|\/)\.{1,2}(?:\/|$)/.test(decoded)
}

/** No sign-in returns to these paths, because opening them has an effect or because they have to name an account first. */
const isInternalPath = (pathname: string): boolean => /^\/(?:v1|link)(?:\/|$)/i.test(fullyDecoded(pathname) ?? '')

/** Accepts a path on this site or a URL of an allowed origin. Anything else is refused, not corrected. */
export const readReturnTo = (config: Config, input: string): string => {
  if (input.length > maxLength || /[\\\s\u0000-\u001f\u007f]/.test(input)) throw returnToRefusal()
  const isPath = input.startsWith('/')
  const url = URL.parse(input, isPath ? config.publicUrl : undefined)
  if (url?.username !== '' || url.password !== '' || !isPlainPath(url.pathname)) throw returnToRefusal()
  if (url.origin !== config.publicUrl && (isPath || !config.CORS_ORIGINS.includes(url.origin))) throw returnToRefusal()
  if (url.origin === config.publicUrl && isInternalPath(url.pathname)) throw returnToRefusal()
  return isPath ? url.pathname + url.search + url.hash : url.href
}

export const withOutcome = (config: Config, returnTo: string, outcome: string): string => {
  const url = new URL(returnTo, config.publicUrl)
  url.searchParams.set('outcome', outcome)
  return returnTo.startsWith('/') ? url.pathname + url.search + url.hash : url.href
}
