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

/** A handler whose request and reply are typed by the route's schemas. */
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

/** Callers of a route without a permission. `optional`: a credential is read if sent. `undelegated`: one without a grant. */
export type Access = 'public' | 'optional' | 'authenticated' | 'undelegated' | 'admin'

/** The resource of an access token (RFC 8707): either the API, which is the public URL itself, or the MCP server. */
export const mcpPath = '/mcp'
export type ProtectedResource = '' | typeof mcpPath

export const protectedResources: readonly ProtectedResource[] = ['', mcpPath]

export const resourceUrl = (publicUrl: string, resource: ProtectedResource): string => publicUrl + resource

/** RFC 9728, section 3.1. */
export const metadataPath = (resource: ProtectedResource): string => `/.well-known/oauth-protected-resource${resource}`

/** Whether this process is about to stop. It keeps serving, because a load balancer takes time to notice. */
export type Shutdown = { hasBegun: boolean }

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Unique name in the form `feature.verb`, used in logs, metrics, the API table and tests. */
    operation?: string
    /** Any one permission of an array is enough. A refusal names the first. */
    permission?: Permission | readonly [Permission, ...Permission[]]
    access?: Access
    /** Error codes of the route itself. Registration adds the codes that follow from the other fields. */
    refuses?: readonly ErrorCode[]
    /** Supports Idempotency-Key, as every authenticated POST that creates something must. */
    idempotent?: boolean
    /** Its work records refusals, so a freeze refuses a request only after its body has been validated. */
    recordsRefusals?: true
    /** Allowed while the workspace is frozen, because the route only stops something or returns money. */
    whileFrozen?: boolean
    /** Allowed for a caller whose session has chosen a workspace that no longer admits the account. */
    whileNotAdmitted?: boolean
    /** Ignores the `Workspace-Id` header, so that a session can end even if it names a workspace that the account has left. */
    ignoresWorkspace?: true
    /** The person must have confirmed their identity recently: always, or if the service requires it (`requireFreshProof`). */
    freshProof?: 'always' | 'by_content'
    /** The route issues credentials or allows guessing them, so the stricter limit per IP address applies. */
    credentialIssuing?: boolean
    /** Accepts only API keys and bearer tokens for this resource. */
    resource?: ProtectedResource
    /** Pages of other origins cannot read the route. */
    cors?: false
    /** For load balancers: no rate limit applies. */
    unlimited?: boolean
    /** Ignores unknown query parameters, as required by OAuth and by the providers that send callbacks. */
    query?: 'lenient'
    /** Accepts JSON text that cannot be stored. The service cleans or rejects it. */
    text?: 'lenient'
    /** Errors are a page for browsers and JSON for programs. */
    pages?: true
    /** The response lasts as long as the reader wants, so it does not count as a request in progress. */
    longLived?: boolean
    /** The route's POST only reads, so the request log includes it only if it is refused. */
    changesNothing?: boolean
    /** Not part of the documented API. */
    internal?: boolean
  }
  interface FastifyInstance {
    publicUrl: string
    shutdown: Shutdown
  }
  interface FastifyRequest {
    /** Null if the route requires no credential and none was sent. */
    caller: Principal | null
    /** The caller. Only for routes that require a credential. */
    readonly principal: Principal
    /** Resolves the credential again, for work that outlives the request or, with `tx`, runs under locks. Throws its refusal. */
    reauthenticate: (tx?: Tx) => Promise<Principal>
    refusal: Refusal | null
    /** The id of the returned record, with its prefix. */
    answeredId: string | null
    /** The body as received, for comparison with the body of an earlier request with the same idempotency key. */
    rawBody: string | null
    /** When the last byte arrived, in milliseconds of `performance.now()`. Clients can prolong the time before it. */
    arrivedAt: number
  }
}
