import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Authenticated, Principal, RequestOrigin } from '../auth/principal.ts'
import type { BearerResolver, Resolve } from '../auth/resolve.ts'
import type { Tx } from '../db/client.ts'
import { invalidFields, Refusal } from '../lib/errors.ts'
import { parseId, type Uuid } from '../lib/ids.ts'
import { type App, mcpPath } from './app-type.ts'
import { malformedAuthorization, missingCredential, unknownToken } from './credential-hints.ts'
import { outerRequestOf } from './internal-call.ts'
import { idMessage } from './wire.ts'

/** `request.ip` uses forwarded headers only from configured proxies. */
export const originOf = (request: FastifyRequest): RequestOrigin => ({
  ip: request.ip,
  userAgent: request.headers['user-agent']?.slice(0, 300) ?? null,
  requestId: request.id,
})

export const sessionCookie = 'service_session'

type AuthenticateDeps = {
  bearers: readonly BearerResolver[]
  mcpBearers: readonly BearerResolver[]
  session: Resolve
  /** Called for every rejected credential, to count guesses against the limit of the IP address. Throws 429. */
  onRefused: (request: FastifyRequest, reply: FastifyReply) => Promise<void>
}

const bearerOf = (request: FastifyRequest): string | undefined => {
  const { authorization } = request.headers
  if (authorization === undefined) return undefined
  const match = /^bearer +([^\s]+) *$/i.exec(authorization)
  if (!match?.[1]) throw malformedAuthorization(authorization)
  return match[1]
}

const namedWorkspace = (request: FastifyRequest): Uuid | null => {
  const header = request.headers['workspace-id']
  if (header === undefined || request.routeOptions.config.ignoresWorkspace) return null
  const id = parseId('workspace', String(header))
  const message =
    header === '' ? 'must not be empty: send an id, or leave the header out' : idMessage('workspace', String(header))
  if (!id) throw invalidFields({ path: 'Workspace-Id', message })
  return id
}

type Credential = { isBearer: boolean; resolve: (tx?: Tx) => Promise<Authenticated> }

const ourCookie = new RegExp(`(?:^|;)\\s*${sessionCookie}=`, 'g')

/** Two cookies with our name are both ignored: a sibling site may have set one, to sign a person in to the attacker's account. */
export const sessionCookieOf = (request: FastifyRequest): string | undefined => {
  const value = request.cookies[sessionCookie]
  if (value === undefined) return undefined
  return (request.headers.cookie?.match(ourCookie)?.length ?? 0) > 1 ? undefined : value
}

const credentialOf = (deps: AuthenticateDeps, request: FastifyRequest): Credential | null => {
  const bearer = bearerOf(request)
  const isMcp = request.routeOptions.config.resource === mcpPath
  const bearers = isMcp ? deps.mcpBearers : deps.bearers
  if (bearer !== undefined) {
    const resolver = bearers.find(({ prefix }) => bearer.startsWith(prefix))
    if (!resolver) throw unknownToken(bearer)
    const workspaceId = namedWorkspace(request)
    return { isBearer: true, resolve: (tx) => resolver.resolve(bearer, workspaceId, tx) }
  }
  if (isMcp) return null
  const cookie = sessionCookieOf(request)
  if (!cookie) return null
  const workspaceId = namedWorkspace(request)
  return { isBearer: false, resolve: (tx) => deps.session(cookie, workspaceId, tx) }
}

/** Separate, because a stream retains this closure and everything in its scope. */
const recheck = (resolve: Credential['resolve'], origin: RequestOrigin) => async (tx?: Tx) => ({ ...(await resolve(tx)), origin })

const isUnauthenticated = (error: unknown): boolean => error instanceof Refusal && error.status === 401

const authenticate = async (deps: AuthenticateDeps, request: FastifyRequest, optional: boolean): Promise<void> => {
  const outer = outerRequestOf(request.raw)
  if (outer) {
    request.caller = outer.caller
    request.reauthenticate = outer.reauthenticate
    return
  }
  const credential = credentialOf(deps, request)
  if (!credential && !optional) throw missingCredential(request)
  if (!credential) return
  const origin = originOf(request)
  const { isBearer, resolve } = credential
  try {
    request.caller = { ...(await resolve()), origin }
    request.reauthenticate = recheck(resolve, origin)
  } catch (error) {
    // If the credential is optional, an expired cookie counts as no credential.
    if (!optional || isBearer || !isUnauthenticated(error)) throw error
  }
}

const refuseUnauthenticated = () => Promise.reject(new Refusal('authentication_required'))

/** Resolves the credential before the body is read. A bearer token, even a rejected one, takes precedence over a cookie. */
export const registerAuthentication = (app: App, deps: AuthenticateDeps): void => {
  app.decorateRequest('caller', null)
  app.decorateRequest('reauthenticate', refuseUnauthenticated)
  app.decorateRequest('principal', {
    getter(this: FastifyRequest): Principal {
      if (!this.caller) throw new Error(`${this.routeOptions.config.operation ?? this.url} has no caller`)
      return this.caller
    },
  })
  app.addHook('onRequest', async (request, reply) => {
    const { access, permission } = request.routeOptions.config
    if (access === 'public' || (access === undefined && permission === undefined)) return
    await authenticate(deps, request, access === 'optional').catch(async (error: unknown) => {
      if (isUnauthenticated(error)) await deps.onRefused(request, reply)
      throw error
    })
  })
}
