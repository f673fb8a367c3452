import { Refusal } from '../lib/errors.ts'
import type { Uuid } from '../lib/ids.ts'
import type { Permission, Role } from './permissions.ts'

export type Capabilities = { topups: boolean; payments: boolean; apiKeys: boolean; oauth: boolean }

/**
 * Who is asking, for every kind of credential. Made once for each request and safe to log: it holds no secret. Routes and services read
 * everything but `credential`, which is for the audit log and for ending a stream when its credential ends.
 */
export type Principal = {
  readonly accountId: Uuid
  readonly accountStatus: 'active' | 'frozen' | 'closed'
  readonly capabilities: Capabilities
  readonly workspace: {
    readonly id: Uuid
    readonly owningAccountId: Uuid
    readonly frozen: boolean
    readonly closed: boolean
    /** Where its days and months begin. */
    readonly zone: { readonly timeZone: string; readonly nextTimeZone: string | null; readonly nextFrom: Date | null }
    readonly kind: 'personal' | 'team'
    readonly name: string
    readonly createdAt: Date
  }
  /** Null when the account is no member (any more) of the workspace that its credential is bound to. */
  readonly role: Role | null
  readonly memberStatus: 'active' | 'suspended' | null
  readonly memberSuspended: boolean
  readonly permissions: ReadonlySet<Permission>
  /** The delegation that the credential carries; null for the person itself. `lineage` is root first, the grant itself last. */
  readonly grant: { readonly id: Uuid; readonly lineage: readonly Uuid[]; readonly frozen: boolean } | null
  readonly isAdmin: boolean
  readonly credential: { readonly kind: 'api_key' | 'oauth' | 'dashboard' | 'session'; readonly id: Uuid }
  /** When the credential ends by itself. */
  readonly expiresAt: Date | null
  readonly origin: RequestOrigin
}

/** What is known from the credential alone; the request adds its origin. */
export type Authenticated = Omit<Principal, 'origin'>

/** From where a request came: what an audit row says besides who. */
export type RequestOrigin = { readonly ip: string | null; readonly userAgent: string | null; readonly requestId: string | null }

/** For routes that stay open to a frozen account because most of what they do only stops something: for the rest of it. */
export const requireActiveAccount = ({ accountStatus }: Pick<Principal, 'accountStatus'>): void => {
  if (accountStatus !== 'active') throw new Refusal('account_frozen')
}
