import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
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

/**
 * Who may call a route that needs no permission. `public`: no credential is read. `optional`: a credential is read if there is one
 * (session-aware). `undelegated`: any credential without a grant.
 */
export type Access = 'public' | 'optional' | 'authenticated' | 'undelegated' | 'admin'

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

/** Whether this process is about to end. It serves on meanwhile, so that a load balancer has time to notice. */
export type Departure = { hasBegun: boolean }

declare module 'fastify' {
  interface FastifyContextConfig {
    /** `feature.verb`, unique: how logs, metrics, the API table and the tests name the route. */
    operation?: string
    /** Any permission of a list is enough; a refusal names the first. */
    permission?: Permission | readonly [Permission, ...Permission[]]
    access?: Access
    /**
     * What the route itself can refuse. Refusals that follow from its other declarations (credentials, limits, the body's schema) are added
     * when it is registered, so that this is the whole list afterwards.
     */
    refuses?: readonly ErrorCode[]
    /** Honours Idempotency-Key; for every authenticated POST that creates something. */
    idempotent?: boolean
    /** A write that is allowed while the workspace is frozen, because it only stops something or gives back. */
    whileFrozen?: boolean
    /** Open to a caller whose chosen workspace no longer admits it: what it needs to choose another one, or to leave. */
    whileNotAdmitted?: boolean
    /**
     * A session must have proven lately who its person is: for every request, or for some, which the service tells by what they change
     * (`requireFreshProof`). Administrators' writes always need it, and do not say so.
     */
    freshProof?: 'always' | 'by_content'
    /** Issues credentials, or lets callers guess them: the stricter limit for each address applies. */
    credentialIssuing?: boolean
    /** Another protected resource than the API: only bearer tokens for it, and API keys, are accepted. */
    resource?: ProtectedResource
    /** Instead of the configured origins: any origin, without cookies; or none at all. */
    cors?: false | { origin: '*'; credentials: false; methods: string; allowedHeaders: string }
    /** Has no rate limit: for load balancers. */
    unlimited?: boolean
    /** Ignores unknown query parameters, as the RFCs of OAuth and the providers that call back require. */
    query?: 'lenient'
    /** Its refusals are pages for a browser, and JSON for a program. */
    pages?: true
    /** Lasts as long as its reader wants: not counted among the requests under way. */
    longLived?: boolean
    /** Its POST only reads: the request log keeps it only when it is refused. */
    changesNothing?: boolean
    /** Not an operation of the API: pages, assets, the document itself. */
    internal?: boolean
  }
  interface FastifyInstance {
    publicUrl: string
    departure: Departure
  }
  interface FastifyRequest {
    /** The caller, or null where a route needs no credential and none was sent. */
    caller: Principal | null
    /** The caller; reading it on a route that needs no credential is a bug. */
    readonly principal: Principal
    /**
     * The credential's principal now: for work that outlives the request and, with `tx`, for a writer under its locks.
     * Throws what the request itself would be refused with.
     */
    reauthenticate: (tx?: Tx) => Promise<Principal>
    /** What the request was refused with, once it was. */
    refusal: Refusal | null
    /** The body as it was sent, to compare it with the idempotency key's. */
    rawBody: string | null
  }
}
