/**
 * The parts of this service that an access token can be for (RFC 8707): the API, named by the public address itself, or the MCP server,
 * named by its path. A token for one is not accepted by the other.
 */
export const mcpPath = '/mcp'
export type ProtectedResource = '' | typeof mcpPath

export const protectedResources: readonly ProtectedResource[] = ['', mcpPath]

export const resourceUrl = (publicUrl: string, resource: ProtectedResource): string => publicUrl + resource

/** RFC 9728 section 3.1: the path of the resource follows the well-known one. */
export const metadataPath = (resource: ProtectedResource): string => `/.well-known/oauth-protected-resource${resource}`
