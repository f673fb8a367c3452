import { protectedResources, resourceUrl } from '../../http/protected-resource.ts'
import { OAuthError } from './errors.ts'

const maxResources = 5
const maxLength = 500

/** A URL parser writes `https://host/` for `https://host`: clients send either and mean the same. */
const canonical = (url: URL): string => (url.pathname === '/' && url.search === '' ? url.origin : url.href)

const loopback = new Set(['localhost', '127.0.0.1', '[::1]'])

const parse = (text: string, own: string): string => {
  const refused = (why: string) => new OAuthError('invalid_target', `resource ${why}.`)
  if (text.length > maxLength || !URL.canParse(text)) throw refused('must be an absolute URI')
  const url = new URL(text)
  if (text.includes('#')) throw refused('must not have a fragment')
  if (url.username !== '' || url.password !== '') throw refused('must not have a user name or password')
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && loopback.has(url.hostname))) throw refused('must be https')
  const resource = canonical(url)
  const ownResources = protectedResources.map((known) => resourceUrl(own, known))
  if (url.origin === own && !ownResources.includes(resource)) throw refused(`is not one of ours: ${ownResources.join(' or ')}`)
  return resource
}

/**
 * The audience of a token (RFC 8707), in one spelling. It is this API unless the client names others: a token for another server is not
 * accepted here, and that server asks the introspection endpoint about it.
 */
export const parseResources = (requested: readonly string[] | undefined, own: string): string[] | undefined => {
  const resources = [...new Set((requested ?? []).filter((text) => text !== '').map((text) => parse(text, own)))]
  if (resources.length > maxResources) throw new OAuthError('invalid_target', `At most ${maxResources} resources can be named.`)
  return resources.length === 0 ? undefined : resources.sort()
}
