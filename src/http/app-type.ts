import type {} from '@fastify/cookie'
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
import type { ErrorCode } from '../lib/errors.ts'
import type { ProtectedResource } from './protected-resource.ts'

export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  ZodTypeProvider
>

/**
 * Who may call a route without a permission being asked for. `public`: no credential is looked at. `optional`: a credential is
 * looked at when there is one (session-aware). `undelegated`: any credential that carries no grant.
 */
export type Access = 'public' | 'optional' | 'authenticated' | 'undelegated' | 'admin'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** `feature.verb`, unique: how logs, metrics, the API table and the tests name the route. */
    operation?: string
    /** Any permission of a list is enough; a refusal names the first. */
    permission?: Permission | readonly [Permission, ...Permission[]]
    access?: Access
    /**
     * What the route itself can refuse. What follows from its other declarations (credentials, limits, the body's shape) is added
     * when it is registered, so that this is the whole list afterwards.
     */
    refuses?: readonly ErrorCode[]
    /** Besides the permission: only for members of this role, in person. */
    role?: 'owner'
    /** Honours Idempotency-Key; for every authenticated POST that creates something. */
    idempotent?: boolean
    /** A write that stays possible while the workspace is frozen, because it only stops or gives back. */
    whileFrozen?: boolean
    /** Open to a caller whose chosen workspace no longer admits it: what it needs to choose another one, or to leave. */
    whileNotAdmitted?: boolean
    /** Issues or guesses at credentials: the stricter limit per address holds. */
    credentialIssuing?: boolean
    /** Another protected resource than the API: only bearer tokens for it, and API keys, are looked at. */
    resource?: ProtectedResource
    /** Instead of the configured origins: any origin, without cookies; or none at all. */
    cors?: false | { origin: '*'; credentials: false; methods: string; allowedHeaders: string }
    /** Never refused for being asked often: what a load balancer asks. */
    unlimited?: boolean
    /** Ignores query parameters that it does not know, as the RFCs of OAuth and the providers that call back ask for. */
    query?: 'lenient'
    /** Lasts as long as its reader likes: not counted among the requests under way. */
    longLived?: boolean
    /** Not an operation of the API: pages, assets, the document itself. */
    internal?: boolean
  }
  interface FastifyInstance {
    /** The page that explains an error's code. */
    errorUrlOf: (code: string) => string
  }
  interface FastifyRequest {
    /** Who is asking, or null where a route needs no credential and none was sent. */
    caller: Principal | null
    /** Who is asking; reading it on a route that lets strangers in is a bug. */
    readonly principal: Principal
    /**
     * Who the same credential stands for now: for what outlives the request, and, with `tx`, for a writer that holds its locks.
     * Throws as the request itself would have been refused.
     */
    reauthenticate: (tx?: Tx) => Promise<Principal>
    /** The body as it came, for the idempotency key's comparison. */
    rawBody: string | null
  }
}
