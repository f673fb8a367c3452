import type { FastifyRequest } from 'fastify'
import type { Permission } from '../auth/permissions.ts'
import { type Principal, requireFreshProof, requireProvenAt } from '../auth/principal.ts'
import type { Clock } from '../lib/clock.ts'
import { permissionMissing, Refusal } from '../lib/errors.ts'
import type { App } from './app-type.ts'

export const isUnsafe = (method: string): boolean => !['GET', 'HEAD', 'OPTIONS'].includes(method)

const requiredPermissions = ({ routeOptions: { config } }: FastifyRequest): readonly Permission[] =>
  [config.permission ?? []].flat()

/** A frozen workspace does not block operations of the account. */
const ofWorkspace = (permission: Permission | undefined): boolean =>
  permission !== undefined && !permission.startsWith('account.')

export const checkPermission = (principal: Principal, anyOf: readonly Permission[]): void => {
  const [first] = anyOf
  if (!first || anyOf.some((permission) => principal.permissions.has(permission))) return
  if (principal.memberStatus === 'suspended') throw new Refusal('membership_suspended')
  throw permissionMissing(first)
}

/** A freeze blocks new work. Repeating a stored response is not new work. */
export const checkEligibility = (request: FastifyRequest, principal: Principal): void => {
  if (!isUnsafe(request.method)) return
  const { config } = request.routeOptions
  if (principal.accountStatus === 'frozen' && !config.whileFrozen) throw new Refusal('account_frozen')
  if (!ofWorkspace(requiredPermissions(request)[0]) || config.whileFrozen) return
  if (principal.workspace.frozen || principal.workspace.closed) throw new Refusal('workspace_frozen')
}

/** Checks the route's declaration, except for frozen workspaces. Routes never depend on the kind of credential. */
export const checkAuthority = (request: FastifyRequest, principal: Principal): void => {
  const { access, whileNotAdmitted } = request.routeOptions.config
  // A session whose chosen workspace no longer admits the account must choose another. A grant is bound to its workspace.
  if (principal.grant === null && principal.memberStatus !== 'active' && access !== 'optional') {
    if (whileNotAdmitted) return
    const message = 'The current workspace of this session no longer admits this account: choose another one first.'
    throw new Refusal(principal.memberStatus === 'suspended' ? 'membership_suspended' : 'forbidden', { message })
  }
  if (access === 'admin' && !principal.isAdmin) throw new Refusal('admin_required')
  if (access === 'undelegated' && principal.grant)
    throw new Refusal('forbidden', { message: "An API key or an agent's token cannot do this: sign in as a person." })
  checkPermission(principal, requiredPermissions(request))
}

/** Admission is then checked under the locks: once an idempotency key is known to be new, and where refusals are recorded. */
const isAdmittedLater = ({ headers, routeOptions: { config } }: FastifyRequest): boolean =>
  config.recordsRefusals === true || (config.idempotent === true && headers['idempotency-key'] !== undefined)

/** A stolen session alone must not move other people's money or change anything that outlasts the session. */
const checkProof = ({ method, routeOptions: { config } }: FastifyRequest, caller: Principal, now: Date): void => {
  if (config.access === 'admin' && isUnsafe(method)) requireProvenAt(caller.provenAt, now)
  if (config.freshProof === 'always') requireFreshProof(caller, now)
}

/** Whether the caller may start something new. A stored response is repeated without this check. */
export const checkAdmission = (request: FastifyRequest, caller: Principal, now: Date): void => {
  checkEligibility(request, caller)
  checkProof(request, caller, now)
}

/** Otherwise a key could link a wallet and, in the wallet's session, do what the key itself is not allowed to do. */
const checkSignInMethod = ({ routeOptions: { config } }: FastifyRequest, { originGrantId }: Principal): void => {
  if (config.access === 'undelegated' && originGrantId !== null)
    throw new Refusal('forbidden', {
      message:
        'This session began with a sign-in method that a key linked. Like that key, it cannot do this: sign in with a method of your own.',
    })
}

export const registerAuthorization = (app: App, clock: Clock): void => {
  app.addHook('onRequest', async (request) => {
    const { caller } = request
    if (!caller) return
    checkAuthority(request, caller)
    if (!isAdmittedLater(request)) checkAdmission(request, caller, clock.now())
    checkSignInMethod(request, caller)
  })
}

/** Uses the Fetch Metadata headers, or the Origin header if they are missing. */
const isFromOwnSite = (request: FastifyRequest, allowedOrigins: readonly string[]): boolean => {
  const { origin } = request.headers
  const site = request.headers['sec-fetch-site']
  if (origin !== undefined && allowedOrigins.includes(origin)) return true
  return site === undefined ? origin === undefined : site === 'same-origin' || site === 'none'
}

/** Every browser sends the Origin header with a script's request. */
export const isRequestOfOwnPage = ({ headers }: FastifyRequest, ownOrigin: string): boolean =>
  headers.origin === ownOrigin && (headers['sec-fetch-site'] ?? 'same-origin') === 'same-origin'

/** A page of another site cannot cause such a request, even through a redirect. */
export const isNavigationFromOwnPage = ({ headers }: FastifyRequest): boolean => headers['sec-fetch-site'] === 'same-origin'

/** Browsers attach cookies even to requests that their owner did not intend. */
export const registerCsrfGuard = (app: App, ownOrigin: string, allowedOrigins: readonly string[]): void => {
  const allowed = [ownOrigin, ...allowedOrigins]
  app.addHook('onRequest', async (request) => {
    if (!isUnsafe(request.method) || request.headers.authorization !== undefined || request.headers.cookie === undefined) return
    if (!isFromOwnSite(request, allowed)) throw new Refusal('csrf_rejected')
  })
}
