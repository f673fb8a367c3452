import { isPermission, type Permission, permissions, undelegable } from '../../auth/permissions.ts'
import { OAuthError } from './errors.ts'

/** Scopes are the permission names, without those that only a person can delegate. */
export const oauthScopes: readonly Permission[] = permissions.filter((permission) => !undelegable.has(permission))

/** Advertised, because some clients refresh only where it is; it changes nothing: refresh tokens need no scope here. */
export const offlineAccess = 'offline_access'

const words = (text: string): string[] => text.split(' ').filter((word) => word !== '' && word !== offlineAccess)

const isScope = (word: string): word is Permission => isPermission(word) && oauthScopes.includes(word)

const inOrder = (scopes: ReadonlySet<Permission>): Permission[] => oauthScopes.filter((scope) => scopes.has(scope))

/** The scopes that a request names, in the catalogue's order; undefined when it names none. */
export const parseScope = (text: string | undefined): Permission[] | undefined => {
  const named = words(text ?? '')
  if (named.length === 0) return undefined
  const unknown = named.find((word) => !isScope(word))
  if (unknown !== undefined)
    throw new OAuthError('invalid_scope', `There is no scope ${JSON.stringify(unknown.slice(0, 60))}; see scopes_supported.`)
  return inOrder(new Set(named.filter(isScope)))
}

/** For a registration: unknown scopes are left out, because a client registers the same way with many servers. */
export const knownScopes = (text: string | undefined): Permission[] | undefined => {
  const known = words(text ?? '').filter(isScope)
  return known.length === 0 ? undefined : inOrder(new Set(known))
}

export const isSubset = <Item>(part: readonly Item[], whole: readonly Item[]): boolean =>
  part.every((item) => whole.includes(item))

export const formatScope = (scopes: readonly string[]): string => scopes.join(' ')

/** The scopes that the MCP server's tools need. */
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
