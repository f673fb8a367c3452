import { z } from 'zod'
import type { Config } from '../../config.ts'
import { clientAuthMethods, clientGrantTypes } from '../../db/tables/oauth.ts'
import { FetchError, isPublicAddress } from '../../http/guarded-fetch.ts'
import { isStorable } from '../../http/request-syntax.ts'
import { fieldErrors, sentences } from '../../http/sentences.ts'
import { secondsAfter } from '../../lib/clock.ts'
import { refuseFields } from '../../lib/errors.ts'
import { isLoopbackUrl } from '../../lib/loopback.ts'
import { cleanName } from '../../lib/text.ts'
import type { Parts } from '../parts.ts'
import { asSentence, OAuthError } from './errors.ts'
import { redirectHost, redirectUriProblem } from './redirect-uri.ts'
import { knownScopes } from './scopes.ts'

export const deviceGrantType = 'urn:ietf:params:oauth:grant-type:device_code'
type ClientGrantType = (typeof clientGrantTypes)[number]

export const requireGrantType = ({ grantTypes }: { grantTypes: readonly ClientGrantType[] }, type: ClientGrantType): void => {
  if (grantTypes.includes(type)) return
  const message = `The client is not registered for this grant type: register a client with ${type} in grant_types.`
  throw new OAuthError('unauthorized_client', message)
}

/** RFC 7591 section 2. Other members are ignored and not echoed. */
const ClientMetadata = z.object({
  redirect_uris: z.array(z.string()).max(20).default([]),
  client_name: z.string().optional(),
  client_uri: z.string().max(500).optional(),
  grant_types: z.array(z.string()).max(20).optional(),
  response_types: z.array(z.string()).max(20).optional(),
  token_endpoint_auth_method: z.string().optional(),
  scope: z.string().max(2000).optional(),
})

const maxNameLength = 120

const refusedMetadata = (why: string) => new OAuthError('invalid_client_metadata', why)

const readName = (text: string | undefined, redirectUris: readonly string[]): string => {
  const name = cleanName(text ?? '')
  const [first] = redirectUris
  return name ?? (first === undefined ? 'Unnamed application' : redirectHost(first).slice(0, maxNameLength))
}

/** Ignores unknown types. One of the known types must begin a flow. The default is the redirect flow (RFC 7591, section 2). */
const readGrantTypes = (named: readonly string[] | undefined, redirectUris: readonly string[]): ClientGrantType[] => {
  const all = named === undefined || named.length === 0 ? ['authorization_code', 'refresh_token'] : named
  const types = clientGrantTypes.filter((type) => all.includes(type))
  if (!types.includes('authorization_code') && !types.includes(deviceGrantType))
    throw refusedMetadata(`grant_types must have authorization_code or ${deviceGrantType}.`)
  if (types.includes('authorization_code') && redirectUris.length === 0)
    throw new OAuthError(
      'invalid_redirect_uri',
      `redirect_uris must name at least one; a client without a browser names ${deviceGrantType} in grant_types.`,
    )
  return types
}

const readUri = (text: string | undefined): string | null => {
  if (text === undefined || text === '') return null
  if (!isStorable(text) || !URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw refusedMetadata('client_uri must be an http or https URL.')
  return text
}

/** Removes null members, because many libraries write null for an absent member. */
const withoutNulls = (input: unknown): unknown =>
  typeof input === 'object' && input !== null && !Array.isArray(input)
    ? Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null))
    : input

/** `fetched`: a document serves many servers, so an unacceptable redirect URI is ignored until a request uses it. */
export const readClientMetadata = (
  input: unknown,
  { fetched, ...defaults }: { authMethod: (typeof clientAuthMethods)[number]; fetched?: true },
) => {
  const parsed = ClientMetadata.safeParse(withoutNulls(input), { error: sentences() })
  if (!parsed.success) throw refusedMetadata(asSentence(refuseFields(fieldErrors(parsed.error.issues)).message))
  const wire = parsed.data
  const redirectUris = [...new Set(wire.redirect_uris)].filter((uri) => {
    const problem = redirectUriProblem(uri)
    if (problem !== undefined && !fetched) throw new OAuthError('invalid_redirect_uri', `A redirect URI ${problem}.`)
    return problem === undefined
  })
  const grantTypes = readGrantTypes(wire.grant_types, redirectUris)
  if (wire.response_types && grantTypes.includes('authorization_code') && !wire.response_types.includes('code'))
    throw refusedMetadata('response_types must have code.')
  const named = wire.token_endpoint_auth_method
  const authMethod = named === undefined ? defaults.authMethod : clientAuthMethods.find((method) => method === named)
  if (!authMethod) throw refusedMetadata(`token_endpoint_auth_method must be one of ${clientAuthMethods.join(', ')}.`)
  return {
    name: readName(wire.client_name, redirectUris),
    redirectUris,
    grantTypes,
    authMethod,
    scopes: knownScopes(wire.scope),
    uri: readUri(wire.client_uri),
  }
}

const maxBytes = 5 * 1024
const maxAddressLength = 500
const defaultFreshSeconds = 3600
const freshSeconds = { min: 60, max: 86_400 }

const refusedDocument = (why: string) => new OAuthError('invalid_client', `The client metadata document ${why}.`)
const unavailable = (why: string) =>
  new OAuthError('temporarily_unavailable', `The client metadata document ${why}.`, { 'retry-after': '5' })

/** In development, a client on this machine may serve its document over http, on any port of the loopback address. */
const onLoopback = (config: Config, url: URL): boolean => config.metadataLoopback && isLoopbackUrl(url.href)

export const documentUrl = (config: Config, clientId: string): URL | undefined => {
  if (!/^https?:\/\//i.test(clientId)) return undefined
  if (clientId.length > maxAddressLength || !URL.canParse(clientId)) throw refusedDocument('has no valid address')
  const url = new URL(clientId)
  // Refuses a URL that a parser would rewrite (dot segments, uppercase, a default port), because ids are compared as text.
  if (url.href !== clientId || clientId.includes('#') || url.username !== '' || url.password !== '' || url.pathname === '/') {
    throw refusedDocument('must have an https address with a path, in its plain spelling')
  }
  if (!onLoopback(config, url) && (url.protocol !== 'https:' || url.port !== ''))
    throw refusedDocument('must be at an https address on the usual port')
  return url
}

const cacheSeconds = (cacheControl: string): number => {
  if (/no-(?:store|cache)/i.test(cacheControl)) return freshSeconds.min
  const age = /max-age=(\d{1,9})/i.exec(cacheControl)?.[1]
  return age === undefined ? defaultFreshSeconds : Math.min(Math.max(Number(age), freshSeconds.min), freshSeconds.max)
}

const isJson = (type: string | undefined): boolean => /^application\/(?:[\w.-]+\+)?json(?:;|$)/i.test(type ?? '')

const parse = (text: string): Record<string, unknown> => {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  } catch {
    // Invalid JSON is refused below.
  }
  throw refusedDocument('is not a JSON object')
}

/** Fetches a client's metadata (draft-ietf-oauth-client-id-metadata-document). Never called inside a transaction. */
export const readClientDocument = async (deps: Pick<Parts, 'clientDocuments' | 'clock' | 'config'>, url: URL) => {
  const allows = onLoopback(deps.config, url) ? () => true : isPublicAddress
  const answer = await deps.clientDocuments(url, { accept: 'application/json', maxBytes, allows }).catch((error: unknown) => {
    if (!(error instanceof FetchError)) throw error
    throw error.cause === undefined ? refusedDocument(error.message) : unavailable(error.message)
  })
  if (answer.status !== 200) throw refusedDocument('did not answer with 200; redirects are not followed')
  if (!isJson(answer.headers['content-type'])) throw refusedDocument('is not application/json')
  const document = parse(answer.text)
  if (document.client_id !== url.href) throw refusedDocument('names another client_id than its own address')
  if ('client_secret' in document || 'client_secret_expires_at' in document)
    throw refusedDocument('must not have a secret: everybody can read it')
  const metadata = readClientMetadata(document, { authMethod: 'none', fetched: true })
  if (metadata.authMethod !== 'none') throw refusedDocument('must have the token_endpoint_auth_method none')
  return { metadata, freshUntil: secondsAfter(deps.clock.now(), cacheSeconds(answer.headers['cache-control'] ?? '')) }
}
