import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifySchema,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
  RouteGenericInterface,
  RouteHandlerMethod,
} from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import type { Permission } from '../auth/permissions.ts'
import type { Principal } from '../auth/principal.ts'
import type { Tx } from '../db/client.ts'
import type { ErrorCode } from '../errors/catalogue.ts'
import type { Refusal } from '../lib/errors.ts'

export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  ZodTypeProvider
>

/** A handler whose request and reply have the types of the route's schemas. */
export type Handler<Schema extends FastifySchema> = RouteHandlerMethod<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  RouteGenericInterface,
  unknown,
  Schema,
  ZodTypeProvider,
  FastifyBaseLogger
>

/**
 * The callers of a route that needs no permission. `optional`: a credential is read if there is one. `undelegated`: any
 * credential without a grant.
 */
export type Access = 'public' | 'optional' | 'authenticated' | 'undelegated' | 'admin'

/** The resources of an access token (RFC 8707): the API, which is the public address itself, or the MCP server, never both. */
export const mcpPath = '/mcp'
export type ProtectedResource = '' | typeof mcpPath

export const protectedResources: readonly ProtectedResource[] = ['', mcpPath]

export const resourceUrl = (publicUrl: string, resource: ProtectedResource): string => publicUrl + resource

/** RFC 9728 section 3.1. */
export const metadataPath = (resource: ProtectedResource): string => `/.well-known/oauth-protected-resource${resource}`

/** Whether this process is about to end. It continues to serve, because a load balancer takes time to notice. */
export type Departure = { hasBegun: boolean }

declare module 'fastify' {
  interface FastifyContextConfig {
    /** `feature.verb`, unique: the name in logs, metrics, the API table and tests. */
    operation?: string
    /** Any permission of an array is enough; a refusal names the first. */
    permission?: Permission | readonly [Permission, ...Permission[]]
    access?: Access
    /** Refusals of the route itself. Its registration adds those that follow from the other declarations. */
    refuses?: readonly ErrorCode[]
    /** Honours Idempotency-Key; for every authenticated POST that creates something. */
    idempotent?: boolean
    /** Allowed while the workspace is frozen: the route only stops something or gives money back. */
    whileFrozen?: boolean
    /** Open to a caller whose chosen workspace no longer admits it. */
    whileNotAdmitted?: boolean
    /** A session must have confirmed its person's identity lately: always, or if its service asks (`requireFreshProof`). */
    freshProof?: 'always' | 'by_content'
    /** The route issues credentials, or lets callers guess them: the stricter limit for each address applies. */
    credentialIssuing?: boolean
    /** Only bearer tokens for this resource, and API keys, are accepted. */
    resource?: ProtectedResource
    /** No page of another origin may read the route. */
    cors?: false
    /** For load balancers: no rate limit. */
    unlimited?: boolean
    /** Ignores unknown query parameters, as OAuth and the providers that call back require. */
    query?: 'lenient'
    /** Takes text in JSON that cannot be stored: its service cleans or refuses it. */
    text?: 'lenient'
    /** Refuses with a page for a browser, and with JSON for a program. */
    pages?: true
    /** The response lasts as long as its reader wants: it is not counted among the requests under way. */
    longLived?: boolean
    /** The route's POST only reads: the request log has it only if it is refused. */
    changesNothing?: boolean
    /** Not an operation of the API. */
    internal?: boolean
  }
  interface FastifyInstance {
    publicUrl: string
    departure: Departure
  }
  interface FastifyRequest {
    /** Null if no credential is needed and none was sent. */
    caller: Principal | null
    /** The caller; a route that needs no credential must not read it. */
    readonly principal: Principal
    /** The credential's present principal, for work that outlives the request or, with `tx`, under locks. Throws its refusal. */
    reauthenticate: (tx?: Tx) => Promise<Principal>
    refusal: Refusal | null
    /** The id of the answered record, with its prefix. */
    answeredId: string | null
    /** The body as it was sent, to compare it with the idempotency key's. */
    rawBody: string | null
    /** The arrival of the last byte, in milliseconds of `performance.now()`. A client can stretch the time before it. */
    arrivedAt: number
  }
}
