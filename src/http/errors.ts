import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { effectivePermissions, type Permission, permissions, undelegable } from '../auth/permissions.ts'
import type { Principal } from '../auth/principal.ts'
import { describeError, sqlState, translateDatabaseError } from '../db/errors.ts'
import { errorRow } from '../errors/catalogue.ts'
import { catchRefusal, invalidAt, invalidFields, Refusal } from '../lib/errors.ts'
import { quoted } from '../lib/text.ts'
import { type App, metadataPath } from './app-type.ts'
import { checkEligibility } from './authorize.ts'
import { refusalAnswer, retryHeader } from './envelope.ts'
import { undeclaredDetails } from './error-details.ts'
import { createNotFoundAnswer } from './not-found.ts'
import { opensPage, sendRefusalPage } from './page.ts'
import { wrongMediaType } from './request-syntax.ts'

/** Fastify rejects a Content-Type that is malformed or has no parser. The other two errors occur while the body is read. */
const frameworkErrors: Readonly<Record<string, (request: FastifyRequest) => Refusal>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: wrongMediaType,
  FST_ERR_CTP_BODY_TOO_LARGE: () => new Refusal('payload_too_large'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () => invalidFields({ path: 'body', message: 'must be valid JSON' }),
}

// A schema accepted text that Postgres cannot store (NUL, a bad encoding) or a number out of range, so the request is invalid.
const unstorable = new Set(['22021', '22P05', '22003'])

const invalidRequest = () => invalidAt('request', errorRow('invalid_request').sentence)

/** Converts a thrown value to a refusal. Undefined if the value is a bug. */
export const toRefusal = (error: unknown, request: FastifyRequest): Refusal | undefined => {
  const translated = translateDatabaseError(error)
  if (translated instanceof Refusal) return translated
  if (unstorable.has(sqlState(error) ?? '')) return invalidRequest()
  const { code = '', statusCode } = error as Partial<FastifyError>
  const known = frameworkErrors[code]
  if (known) return known(request)
  return statusCode !== undefined && statusCode >= 400 && statusCode < 500 ? invalidRequest() : undefined
}

/** The permission that the refusal names, which the route may not declare; else the route's, any one of which is enough. */
const permissionsOf = (refusal: Refusal, request: FastifyRequest): readonly Permission[] => {
  const ofRoute = [request.routeOptions.config.permission ?? []].flat()
  const required = permissions.find((known) => known === refusal.details?.required_permission)
  return required === undefined || ofRoute.includes(required) ? ofRoute : [required]
}

/** The needed scopes and the caller's own, because a new token has only what it requests. Empty if no scope would help. */
const scopesFor = (refusal: Refusal, request: FastifyRequest): string[] => {
  const needed = permissionsOf(refusal, request).find((candidate) => !undelegable.has(candidate))
  if (needed === undefined) return []
  const { caller } = request
  if (caller && !effectivePermissions(caller.memberStatus === 'suspended' ? null : caller.role, null).has(needed)) return []
  const held = caller?.grant ? [...caller.permissions].filter((candidate) => !undelegable.has(candidate)) : []
  return [...new Set([needed, ...held])]
}

/** RFC 6750 section 3 and RFC 9728 section 5.1: where to get a token, and the missing scopes. */
const challenge = (refusal: Refusal, request: FastifyRequest): string | undefined => {
  // A new token cannot replace a signature in the body, and a public route accepts no token.
  if (refusal.code === 'invalid_signature' || request.routeOptions.config.access === 'public') return undefined
  const scopes = scopesFor(refusal, request)
  const scope = scopes.length === 0 ? '' : `, scope="${scopes.join(' ')}"`
  const resource = `Bearer resource_metadata="${request.server.publicUrl}${metadataPath(request.routeOptions.config.resource ?? '')}"`
  if (refusal.code === 'authentication_required') return resource + scope
  if (refusal.status === 401) return `${resource}, error="invalid_token"${scope}`
  const missing = refusal.code === 'forbidden' && refusal.details?.required_permission !== undefined
  return missing && scope !== '' && request.headers.authorization !== undefined
    ? `${resource}, error="insufficient_scope"${scope}`
    : undefined
}

export const undeclaredRefusal = 'a route refused with a code or details that the document does not have'

/** Clients generated from the API document do not expect undeclared codes. Tests fail if this line is logged. */
const checkDeclared = (refusal: Refusal, request: FastifyRequest): void => {
  const { operation, refuses } = request.routeOptions.config
  if (operation !== undefined && refuses && !refuses.includes(refusal.code))
    request.log.error({ operation, code: refusal.code }, undeclaredRefusal)
  const details = undeclaredDetails(refusal.details)
  if (details.length > 0) request.log.error({ operation, code: refusal.code, details }, undeclaredRefusal)
}

const sendRefusal = (refusal: Refusal, request: FastifyRequest, reply: FastifyReply) => {
  checkDeclared(refusal, request)
  request.refusal = refusal
  const authenticate = challenge(refusal, request)
  if (authenticate !== undefined) reply.header('www-authenticate', authenticate)
  if (opensPage(request)) {
    const title = refusal.status === 404 ? 'There is no such page' : 'This page can’t be shown'
    return sendRefusalPage(reply.headers(retryHeader(refusal)), refusal, title)
  }
  const { headers, body } = refusalAnswer(refusal, request.id, request.server.publicUrl)
  return reply.code(refusal.status).headers(headers).send(body)
}

const unknownAddress = 'Nothing is at this address. It may be mistyped, or only a part of it was copied.'
const unknown = (message: string): Refusal => new Refusal('not_found', { message })

/** A path that cannot be decoded, or that has a segment too long, matches no route, and no hooks have run. */
export const refuseUnroutable = (_error: FastifyError, request: FastifyRequest, reply: FastifyReply) =>
  sendRefusal(
    unknown(opensPage(request) ? unknownAddress : 'There is no such path.'),
    request,
    reply.headers({ 'x-content-type-options': 'nosniff', 'x-request-id': request.id }),
  )

/** Names the workspace that was searched, because the ID in the path may be from another workspace of the caller. */
const inWorkspace = (refusal: Refusal, { caller, routeOptions: { config, schema, url } }: FastifyRequest): Refusal => {
  const { code, message } = refusal
  const isBare = code === 'not_found' && message === errorRow(code).sentence
  if (!isBare || !caller || !schema?.params || !config.permission || url?.startsWith('/v1/accounts/')) return refusal
  return new Refusal(code, { message: `There is no such resource in the workspace ${quoted(caller.workspace.name)}.` })
}

/** A freeze is named before a mistake in the request, also where it is otherwise checked under the locks. */
const freezeFirst = (refusal: Refusal, request: FastifyRequest): Refusal => {
  const { caller, routeOptions } = request
  if (refusal.status !== 400 || !caller || !routeOptions.config.recordsRefusals) return refusal
  return catchRefusal(() => checkEligibility(request, caller)) ?? refusal
}

/** The only function that turns thrown values into responses. `addExisting` adds the state of records that a refusal names. */
export const registerErrors = (app: App, addExisting: (refusal: Refusal, caller: Principal | null) => Promise<Refusal>): void => {
  app.decorateRequest('refusal', null)
  const refusalOfUnknownRoute = createNotFoundAnswer(app)
  app.setErrorHandler(async (error, request, reply) => {
    const refusal = toRefusal(error, request)
    if (refusal && refusal.status < 500) {
      const completed = await addExisting(freezeFirst(refusal, request), request.caller).catch((failure: unknown) => {
        request.log.warn(describeError(failure), 'the records that a refusal names could not be read')
        return refusal
      })
      return sendRefusal(inWorkspace(completed, request), request, reply)
    }
    request.log.error(describeError(error), refusal ? refusal.message : 'a request failed')
    return sendRefusal(refusal ?? new Refusal('internal_error'), request, reply)
  })
  app.setNotFoundHandler((request, reply) => {
    const refusal = opensPage(request) ? unknown(unknownAddress) : refusalOfUnknownRoute(request)
    return sendRefusal(refusal, request, reply)
  })
}
