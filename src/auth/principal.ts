import { secondsAfter } from '../lib/clock.ts'
import { Refusal } from '../lib/errors.ts'
import type { Uuid } from '../lib/ids.ts'
import type { Permission, Role } from './permissions.ts'

/** Keys and agents need no proof: a person gave them their permissions. Dashboard tokens never have one: pages can read them. */
export type Proof = 'not_needed' | 'never' | { readonly at: Date }

/** `provenAt`: of the session, or of the session that issued the dashboard token. */
export const proofOf = (kind: Principal['credential']['kind'], isDelegated: boolean, provenAt: Date | null): Proof =>
  isDelegated ? 'not_needed' : kind === 'session' && provenAt ? { at: provenAt } : 'never'

/** The caller, for every kind of credential. Created once per request. Contains no secret, so it is safe to log. */
export type Principal = {
  readonly accountId: Uuid
  readonly accountStatus: 'active' | 'frozen' | 'closed'
  readonly capabilities: { topups: boolean; payments: boolean; apiKeys: boolean; oauth: boolean }
  readonly workspace: {
    readonly id: Uuid
    readonly owningAccountId: Uuid
    /** The account that holds the workspace's balance. Payments, top-ups, limits and locks all use this account. */
    readonly balanceAccountId: Uuid
    /** Whether the workspace once shared its owner's balance. Payments from that time settle on the owner's balance. */
    readonly isSeparated: boolean
    readonly frozen: boolean
    readonly closed: boolean
    readonly timeZone: string
    readonly nextTimeZone: string | null
    readonly nextTimeZoneFrom: Date | null
    readonly kind: 'personal' | 'team'
    readonly name: string
    readonly createdAt: Date
  }
  /** Null if the account is not a member of the credential's workspace. */
  readonly role: Role | null
  readonly memberId: Uuid | null
  readonly memberStatus: 'active' | 'suspended' | null
  readonly permissions: ReadonlySet<Permission>
  /** The grant behind the credential. Null for a person's session. `lineage`: root first, this grant last. */
  readonly grant: { readonly id: Uuid; readonly lineage: readonly Uuid[] } | null
  readonly isAdmin: boolean
  readonly credential: { readonly kind: 'api_key' | 'oauth' | 'dashboard' | 'session'; readonly id: Uuid }
  /** When the person confirmed their identity, for acts that a stolen session alone must not allow (`requireFreshProof`). */
  readonly proof: Proof
  /** When the person last confirmed their identity, in this session or the session of this dashboard token. Null for a grant. */
  readonly provenAt: Date | null
  /** The caller's browser session, or the session that issued the dashboard token. Null for a key or an agent. */
  readonly originSessionId: Uuid | null
  /** The caller's grant, or the grant that linked its sign-in method: everything the caller creates or links ends with it. */
  readonly originGrantId: Uuid | null
  /** Whether this grant, or one from which it comes, is frozen: the caller then moves no money. */
  readonly grantFrozen: boolean
  readonly expiresAt: Date | null
  readonly origin: RequestOrigin
}

export type RequestOrigin = { readonly ip: string | null; readonly userAgent: string | null; readonly requestId: string | null }

export type Authenticated = Omit<Principal, 'origin'>

type BalanceOf = Pick<Principal['workspace'], 'kind' | 'owningAccountId' | 'balanceAccountId'>

/** A team without its own balance uses its owner's balance, as all teams did before version 0.4.0. */
export const isBalanceShared = ({ kind, owningAccountId, balanceAccountId }: BalanceOf): boolean =>
  kind === 'team' && balanceAccountId === owningAccountId

/** Members who can read a team's payments can read its balance. Only the owner can read a personal or shared balance. */
export const maySeeBalance = (reader: {
  readonly accountId: Uuid
  readonly permissions: ReadonlySet<Permission>
  readonly workspace: BalanceOf
}): boolean => {
  const { workspace, permissions } = reader
  if (workspace.balanceAccountId !== workspace.owningAccountId) return permissions.has('payment.read')
  return reader.accountId === workspace.owningAccountId && permissions.has('account.read')
}

/** A shared balance also contains payments of other workspaces, so no member of a workspace sees all of it. */
export const seesWholeBalance = (reader: Parameters<typeof maySeeBalance>[0]): boolean =>
  maySeeBalance(reader) && !isBalanceShared(reader.workspace)

/**
 * Whether the reader may see what every payment from the balance was for, and who requested it. Any other reader sees this only
 * for its own workspace. `holderId`: the account that holds the balance.
 */
export const seesEveryPayment = ({ grant, accountId }: Pick<Principal, 'grant' | 'accountId'>, holderId: Uuid): boolean =>
  grant === null && holderId === accountId

/** All accounts that hold money for the workspace's payments: its balance account, and the owner's if it was once shared. */
export const balanceAccountsOf = ({ balanceAccountId, owningAccountId, isSeparated }: Principal['workspace']): readonly Uuid[] =>
  isSeparated ? [balanceAccountId, owningAccountId] : [balanceAccountId]

/** Refuses callers whose account is not active, on routes that remain open to frozen accounts because they mostly stop things. */
export const requireActiveAccount = ({ accountStatus }: Pick<Principal, 'accountStatus'>): void => {
  if (accountStatus !== 'active') throw new Refusal('account_frozen')
}

export const proofMaxAgeSeconds = 600

const byToken = 'A dashboard token cannot do this: do it in the session that issued it.'

/** @throws 403 `step_up_required` unless the identity was confirmed in the last ten minutes, and not before `since` */
export const requireProvenAt = (provenAt: Date | null, now: Date, since: Date | null = null): void => {
  if (provenAt && secondsAfter(provenAt, proofMaxAgeSeconds) >= now && (since === null || provenAt >= since)) return
  throw new Refusal('step_up_required', {
    ...(provenAt === null && { message: byToken }),
    details: { max_age_seconds: proofMaxAgeSeconds, proven_at: provenAt?.toISOString() ?? null },
  })
}

/**
 * Guards operations that a stolen session alone must not perform (listed in docs/authorization.md). A proof older than `since`
 * does not count.
 */
export const requireFreshProof = ({ proof }: Pick<Principal, 'proof'>, now: Date, since: Date | null = null): void => {
  if (proof !== 'not_needed') requireProvenAt(proof === 'never' ? null : proof.at, now, since)
}
