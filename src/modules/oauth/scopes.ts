import { type Permission, permissions, undelegable } from '../../auth/permissions.ts'
import { mcpPath, protectedResources, resourceUrl } from '../../http/app-type.ts'
import { OAuthError } from './errors.ts'

/** Scopes are the permission names, except permissions that only a person can delegate. */
export const oauthScopes: readonly Permission[] = permissions.filter((permission) => !undelegable.has(permission))

/** Advertised, because some clients refresh only if they see it. It has no effect: refresh tokens need no scope here. */
export const offlineAccess = 'offline_access'

const scopeWords = (text: string): string[] => text.split(' ').filter((word) => word !== '' && word !== offlineAccess)

const scopesAmong = (named: readonly string[]): Permission[] => oauthScopes.filter((scope) => named.includes(scope))

/** The scopes that a request names, in the catalogue's order; undefined for a request without scopes. */
export const parseScope = (text: string | undefined): Permission[] | undefined => {
  const named = scopeWords(text ?? '')
  if (named.length === 0) return undefined
  const scopes = scopesAmong(named)
  const unknown = named.find((word) => !scopes.some((scope) => scope === word))
  if (unknown !== undefined)
    throw new OAuthError('invalid_scope', `There is no scope ${JSON.stringify(unknown.slice(0, 60))}; see scopes_supported.`)
  return scopes
}

/** Scopes of a registration. Unknown scopes are ignored, because a client registers alike with many servers. Null: none named. */
export const knownScopes = (text: string | undefined): Permission[] | null => {
  const known = scopesAmong(scopeWords(text ?? ''))
  return known.length === 0 ? null : known
}

export const isSubset = <Item>(part: readonly Item[], whole: readonly Item[]): boolean =>
  part.every((item) => whole.includes(item))

export const formatScope = (scopes: readonly string[]): string => scopes.join(' ')

export const mcpScopes = [
  'account.read',
  'beneficiary.read',
  'beneficiary.manage',
  'policy.read',
  'payment.read',
  'payment.create',
  'approval.read',
  'mandate.read',
  'topup.read',
  'topup.create',
] as const satisfies readonly Permission[]

const maxNamed = 5
const maxLength = 500

const ownResources = (publicUrl: string): string[] => protectedResources.map((known) => resourceUrl(publicUrl, known))

/**
 * The resources that an indicator covers (RFC 8707). Clients name the MCP server's address or the origin from its metadata, so
 * both must lead to tokens that open the MCP server. Anything else is refused before a person is asked.
 */
const resourcesOf = (text: string, publicUrl: string): string[] => {
  const [api, mcp] = [publicUrl, resourceUrl(publicUrl, mcpPath)]
  if (text.length <= maxLength && URL.canParse(text)) {
    const { href } = new URL(text)
    if (href === `${api}/`) return ownResources(publicUrl)
    if (href === mcp || href === `${mcp}/`) return [mcp]
  }
  throw new OAuthError('invalid_target', `resource must be ${api} (the API and its MCP server) or ${mcp}.`)
}

/**
 * The requested audience, within the consented one. An authorization request may ask for all resources of this service. A grant
 * from before API tokens opened the MCP server keeps its narrower audience.
 */
export const readResources = (requested: string[] | undefined, publicUrl: string, consented = ownResources(publicUrl)) => {
  const resources = [...new Set((requested ?? []).filter((text) => text !== ''))]
  if (resources.length > maxNamed) throw new OAuthError('invalid_target', `At most ${maxNamed} resources can be named.`)
  if (resources.length === 0) return [...consented]
  const wanted = resources.flatMap((text) => {
    const [first, ...others] = resourcesOf(text, publicUrl)
    if (first === undefined || !consented.includes(first))
      throw new OAuthError('invalid_target', 'The resource is not one that was consented to.')
    return [first, ...others.filter((one) => consented.includes(one))]
  })
  return [...new Set(wanted)].sort()
}
