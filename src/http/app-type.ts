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

/** Its request and its reply have the types of the route's schemas. */
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
 * Who may call a route that needs no permission. `optional`: a credential is read if there is one. `undelegated`: any credential
 * without a grant.
 */
export type Access = 'public' | 'optional' | 'authenticated' | 'undelegated' | 'admin'

/** What an access token can be for (RFC 8707): the API, which is the public address itself, or the MCP server, never both. */
export const mcpPath = '/mcp'
export type ProtectedResource = '' | typeof mcpPath

export const protectedResources: readonly ProtectedResource[] = ['', mcpPath]

export const resourceUrl = (publicUrl: string, resource: ProtectedResource): string => publicUrl + resource

/** RFC 9728 section 3.1. */
export const metadataPath = (resource: ProtectedResource): string => `/.well-known/oauth-protected-resource${resource}`

/** Whether this process is about to end. It serves on meanwhile: a load balancer takes time to notice. */
export type Departure = { hasBegun: boolean }

declare module 'fastify' {
  interface FastifyContextConfig {
    /** `feature.verb`, unique: the name in logs, metrics, the API table and tests. */
    operation?: string
    /** Any permission of a list is enough; a refusal names the first. */
    permission?: Permission | readonly [Permission, ...Permission[]]
    access?: Access
    /** What the route itself can refuse. What follows from its other declarations is added when it is registered. */
    refuses?: readonly ErrorCode[]
    /** Honours Idempotency-Key; for every authenticated POST that creates something. */
    idempotent?: boolean
    /** Allowed while the workspace is frozen: it only stops something or gives back. */
    whileFrozen?: boolean
    /** Open to a caller whose chosen workspace no longer admits it. */
    whileNotAdmitted?: boolean
    /** A session must have proven lately who its person is: always, or where its service asks (`requireFreshProof`). */
    freshProof?: 'always' | 'by_content'
    /** The route issues credentials, or lets callers guess them: the stricter limit for each address applies. */
    credentialIssuing?: boolean
    /** Only bearer tokens for this resource, and API keys, are accepted. */
    resource?: ProtectedResource
    /** No page of another origin may read it. */
    cors?: false
    /** For load balancers: no rate limit. */
    unlimited?: boolean
    /** Ignores unknown query parameters, as OAuth and the providers that call back require. */
    query?: 'lenient'
    /** Takes text in JSON that cannot be stored: its service cleans or refuses it. */
    text?: 'lenient'
    /** Refuses with a page for a browser, with JSON for a program. */
    pages?: true
    /** The response lasts as long as its reader wants: it is not counted among the requests under way. */
    longLived?: boolean
    /** Its POST only reads: the request log has it only where it is refused. */
    changesNothing?: boolean
    /** Not an operation of the API. */
    internal?: boolean
  }
  interface FastifyInstance {
    publicUrl: string
    departure: Departure
  }
  interface FastifyRequest {
    /** Null where no credential is needed and none was sent. */
    caller: Principal | null
    /** Reading it on a route that needs no credential is a bug. */
    readonly principal: Principal
    /** The credential's principal now, for work that outlives the request or, with `tx`, under locks. Throws its refusal. */
    reauthenticate: (tx?: Tx) => Promise<Principal>
    refusal: Refusal | null
    /** Of the record that was answered, as the API names it. */
    answeredId: string | null
    /** The body as it was sent, to compare it with the idempotency key's. */
    rawBody: string | null
    /** In milliseconds of `performance.now()`: when the last byte was here. A client can stretch what comes before. */
    arrivedAt: number
  }
}
