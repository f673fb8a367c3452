import { z } from 'zod'
import type { Permission } from '../../../auth/permissions.ts'
import { clientAuthMethods, clientGrantTypes } from '../../../db/tables/oauth.ts'
import { cleanName } from '../../../lib/text.ts'
import { OAuthError } from '../errors.ts'
import { knownScopes } from '../scopes.ts'
import { redirectHost, redirectUriProblem } from './redirect-uris.ts'

export type ClientAuthMethod = (typeof clientAuthMethods)[number]
export type ClientGrantType = (typeof clientGrantTypes)[number]
export const deviceGrantType = 'urn:ietf:params:oauth:grant-type:device_code'

/** What we store of a client's metadata (RFC 7591 section 2); the rest is ignored, and so not echoed. */
export type ClientMetadata = {
  name: string
  redirectUris: string[]
  grantTypes: ClientGrantType[]
  authMethod: ClientAuthMethod
  scopes: Permission[] | null
  uri: string | null
}

const Wire = z.object({
  redirect_uris: z.array(z.string()).max(20).default([]),
  client_name: z.string().optional(),
  client_uri: z.string().max(500).optional(),
  grant_types: z.array(z.string()).max(20).optional(),
  response_types: z.array(z.string()).max(20).optional(),
  token_endpoint_auth_method: z.string().optional(),
  scope: z.string().max(2000).optional(),
})

const maxNameLength = 120

const refused = (why: string) => new OAuthError('invalid_client_metadata', why)

const readName = (text: string | undefined, redirectUris: readonly string[]): string => {
  const name = cleanName(text ?? '')
  const [first] = redirectUris
  return name ?? (first === undefined ? 'Unnamed application' : redirectHost(first).slice(0, maxNameLength))
}

const readRedirectUris = (uris: readonly string[]): string[] => {
  for (const uri of uris) {
    const problem = redirectUriProblem(uri)
    if (problem !== undefined) throw new OAuthError('invalid_redirect_uri', `A redirect URI ${problem}.`)
  }
  return [...new Set(uris)]
}

const isAuthMethod = (text: string): text is ClientAuthMethod => (clientAuthMethods as readonly string[]).includes(text)

/**
 * Grant types that we do not support are left out; one of the rest must be able to begin a flow. Without any the client redirects (RFC 7591,
 * section 2): one that only devices use names its grant type.
 */
const readGrantTypes = (named: readonly string[] | undefined, redirectUris: readonly string[]): ClientGrantType[] => {
  const types: ClientGrantType[] =
    named === undefined || named.length === 0
      ? ['authorization_code' as const, 'refresh_token' as const]
      : clientGrantTypes.filter((type) => named.includes(type))
  if (!types.includes('authorization_code') && !types.includes(deviceGrantType))
    throw refused(`grant_types must have authorization_code or ${deviceGrantType}.`)
  if (types.includes('authorization_code') && redirectUris.length === 0)
    throw new OAuthError(
      'invalid_redirect_uri',
      `redirect_uris must name at least one; a client without a browser names ${deviceGrantType} in grant_types.`,
    )
  return types
}

const readUri = (text: string | undefined): string | null => {
  if (text === undefined || text === '') return null
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) throw refused('client_uri must be an http or https URL.')
  return text
}

/**
 * Checks a client's metadata, whether it was posted or fetched. `authMethod`: the default when the client names none. A document is written for
 * many servers: of its redirect URIs those that are not acceptable here are left out, and a request that uses one is refused.
 */
export const readClientMetadata = (
  input: unknown,
  { fetched, ...defaults }: { authMethod: ClientAuthMethod; fetched?: true },
): ClientMetadata => {
  const parsed = Wire.safeParse(input)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw refused(`${issue?.path.join('..') || 'The metadata'}: ${issue?.message ?? 'is not valid'}`)
  }
  const wire = parsed.data
  const redirectUris = readRedirectUris(
    fetched ? wire.redirect_uris.filter((uri) => redirectUriProblem(uri) === undefined) : wire.redirect_uris,
  )
  const grantTypes = readGrantTypes(wire.grant_types, redirectUris)
  if (wire.response_types && grantTypes.includes('authorization_code') && !wire.response_types.includes('code'))
    throw refused('response_types must have code.')
  const authMethod = wire.token_endpoint_auth_method ?? defaults.authMethod
  if (!isAuthMethod(authMethod)) throw refused(`token_endpoint_auth_method must be one of ${clientAuthMethods.join(', ')}.`)
  return {
    name: readName(wire.client_name, redirectUris),
    redirectUris,
    grantTypes,
    authMethod,
    scopes: knownScopes(wire.scope) ?? null,
    uri: readUri(wire.client_uri),
  }
}
