import type { RouteOptions } from 'fastify'
import type { ErrorCode } from '../errors/catalogue.ts'
import { isUnsafe } from './authorize.ts'

const ofCredentials: readonly ErrorCode[] = [
  'authentication_required',
  'invalid_token',
  'token_expired',
  'api_key_revoked',
  'api_key_expired',
  'session_revoked',
  // The account may no longer use this kind of credential.
  'capability_disabled',
  // `Workspace-Id` names a workspace in which the credential may not act.
  'not_found',
]

/** The refusals that can occur before a route's handler runs. They follow from its declaration, so that no route lists them. */
export const commonRefusals = (route: RouteOptions): ErrorCode[] => {
  const { permission, access, whileFrozen, idempotent, query, freshProof } = route.config ?? {}
  const unsafe = isUnsafe(String(route.method))
  const when = (holds: boolean, ...codes: readonly ErrorCode[]): readonly ErrorCode[] => (holds ? codes : [])
  return [
    'rate_limited',
    'internal_error',
    'unavailable',
    ...when(access !== 'public', ...ofCredentials),
    // A session's current workspace may no longer admit the account: this can happen on every route.
    ...when(permission !== undefined || (access !== 'public' && access !== 'optional'), 'forbidden', 'membership_suspended'),
    ...when(access === 'undelegated', 'forbidden'),
    ...when(access === 'admin', 'admin_required'),
    ...when((access === 'admin' && unsafe) || freshProof !== undefined, 'step_up_required'),
    ...when(unsafe, 'csrf_rejected', 'invalid_request', 'payload_too_large', 'unsupported_media_type'),
    ...when(unsafe && !whileFrozen && access !== 'public', 'account_frozen'),
    ...when(unsafe && !whileFrozen && permission !== undefined, 'workspace_frozen'),
    // A query parameter that the route does not know.
    ...when(query !== 'lenient' || route.schema?.querystring !== undefined, 'invalid_request'),
    ...when(route.schema?.params !== undefined, 'not_found'),
    ...when(idempotent === true, 'conflict'),
  ]
}
