import { mcpPath, protectedResources, resourceUrl } from '../../http/protected-resource.ts'
import { OAuthError } from './errors.ts'
import { isSubset } from './scopes.ts'

const maxNamed = 5
const maxLength = 500

const ownResources = (own: string): string[] => protectedResources.map((known) => resourceUrl(own, known))

/**
 * What a resource indicator covers (RFC 8707). Clients name the MCP server's address, or the origin that they read from its metadata, and both
 * must lead to tokens that open it. Anything else is refused here, before a person is asked.
 */
const covered = (text: string, own: string): string[] => {
  const [api, mcp] = [own, resourceUrl(own, mcpPath)]
  if (text.length <= maxLength && URL.canParse(text)) {
    const { href } = new URL(text)
    if (href === `${api}/`) return ownResources(own)
    if (href === mcp || href === `${mcp}/`) return [mcp]
  }
  throw new OAuthError('invalid_target', `resource must be ${api} (the API and its MCP server) or ${mcp}.`)
}

const named = (requested: readonly string[] | undefined): string[] => {
  const resources = [...new Set((requested ?? []).filter((text) => text !== ''))]
  if (resources.length > maxNamed) throw new OAuthError('invalid_target', `At most ${maxNamed} resources can be named.`)
  return resources
}

/** The audience that an authorization request asks for; without a resource it is everything of this service. */
export const requestedResources = (requested: readonly string[] | undefined, own: string): string[] => {
  const resources = named(requested).flatMap((text) => covered(text, own))
  return resources.length === 0 ? ownResources(own) : [...new Set(resources)].sort()
}

/**
 * The audience of a token within what was consented to. A grant from before a token for the API opened the MCP server keeps its narrower one.
 */
export const narrowedResources = (
  requested: readonly string[] | undefined,
  consented: readonly string[],
  own: string,
): string[] => {
  const resources = named(requested).flatMap((text) => {
    const wanted = covered(text, own)
    const [first] = wanted
    if (first === undefined || !isSubset([first], consented))
      throw new OAuthError('invalid_target', 'The resource is not one that was consented to.')
    return wanted.filter((one) => consented.includes(one))
  })
  return resources.length === 0 ? [...consented] : [...new Set(resources)].sort()
}
