import type { Config } from '../../../config.ts'
import { FetchError } from '../../../http/outbound/guarded-fetch.ts'
import { isPublicAddress } from '../../../http/outbound/public-address.ts'
import { secondsAfter } from '../../../lib/clock.ts'
import { isLoopbackUrl } from '../../../lib/loopback.ts'
import type { Deps } from '../deps.ts'
import { OAuthError } from '../errors.ts'
import { type ClientMetadata, readClientMetadata } from './client-metadata.ts'

const maxBytes = 5 * 1024
const maxLength = 500
const defaultFreshSeconds = 3600
const freshSeconds = { least: 60, most: 86_400 }

const refused = (why: string) => new OAuthError('invalid_client', `The client metadata document ${why}.`)
const unavailable = (why: string) =>
  new OAuthError('temporarily_unavailable', `The client metadata document ${why}.`, { 'retry-after': '5' })

/** During development on one machine a client may serve its document from the loopback address, over http and on any port. */
const onLoopback = (config: Config, url: URL): boolean => config.metadataLoopback && isLoopbackUrl(url.href)

/** A client id that is the address of a metadata document, or undefined when it is not a URL. */
export const documentUrl = (config: Config, clientId: string): URL | undefined => {
  if (!/^https?:\/\//i.test(clientId)) return undefined
  if (clientId.length > maxLength || !URL.canParse(clientId)) throw refused('has no valid address')
  const url = new URL(clientId)
  // A URL that a parser would rewrite (dot segments, capitals, a default port) is refused: ids are compared as text.
  if (url.href !== clientId || clientId.includes('#') || url.username !== '' || url.password !== '' || url.pathname === '/') {
    throw refused('must have an https address with a path, in its plain spelling')
  }
  if (!onLoopback(config, url) && (url.protocol !== 'https:' || url.port !== ''))
    throw refused('must be at an https address on the usual port')
  return url
}

const freshFor = (cacheControl: string): number => {
  if (/no-(?:store|cache)/i.test(cacheControl)) return freshSeconds.least
  const age = /max-age=(\d{1,9})/i.exec(cacheControl)?.[1]
  return age === undefined ? defaultFreshSeconds : Math.min(Math.max(Number(age), freshSeconds.least), freshSeconds.most)
}

const isJson = (type: string | undefined): boolean => /^application\/(?:[\w.-]+\+)?json(?:;|$)/i.test(type ?? '')

const parse = (text: string): Record<string, unknown> => {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  } catch {
    // Defined below.
  }
  throw refused('is not a JSON object')
}

/** Reads a client's metadata from its own address (draft-ietf-oauth-client-id-metadata-document). Never inside a transaction. */
export const readClientDocument = async (
  deps: Pick<Deps, 'clientDocuments' | 'clock' | 'config'>,
  url: URL,
): Promise<{ metadata: ClientMetadata; freshUntil: Date }> => {
  const allows = onLoopback(deps.config, url) ? () => true : isPublicAddress
  const answer = await deps.clientDocuments(url, { accept: 'application/json', maxBytes, allows }).catch((error: unknown) => {
    if (!(error instanceof FetchError)) throw error
    throw error.cause === undefined ? refused(error.message) : unavailable(error.message)
  })
  if (answer.status !== 200) throw refused('did not answer with 200; redirects are not followed')
  if (!isJson(answer.headers['content-type'])) throw refused('is not application/json')
  const document = parse(answer.text)
  if (document.client_id !== url.href) throw refused('names another client_id than its own address')
  if ('client_secret' in document || 'client_secret_expires_at' in document)
    throw refused('must not have a secret: everybody can read it')
  const metadata = readClientMetadata(document, { authMethod: 'none', fetched: true })
  if (metadata.authMethod !== 'none') throw refused('must have the token_endpoint_auth_method none')
  return { metadata, freshUntil: secondsAfter(deps.clock.now(), freshFor(answer.headers['cache-control'] ?? '')) }
}
