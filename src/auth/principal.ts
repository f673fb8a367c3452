import { secondsAfter } from '../lib/clock.ts'
import { Refusal } from '../lib/errors.ts'
import type { Uuid } from '../lib/ids.ts'
import type { Permission, Role } from './permissions.ts'

/** Keys and agents need no proof: a person gave them permissions. Dashboard tokens have none, because a page may hold them. */
export type Proof = 'not_needed' | 'never' | { readonly at: Date }

/** `provenAt`: of the session, or of a dashboard token's session. */
export const proofOf = (kind: Principal['credential']['kind'], isDelegated: boolean, provenAt: Date | null): Proof =>
  isDelegated ? 'not_needed' : kind === 'session' && provenAt ? { at: provenAt } : 'never'

type Capabilities = { topups: boolean; payments: boolean; apiKeys: boolean; oauth: boolean }

/** The caller, for every kind of credential. It is created once for each request, and is safe to log: it contains no secret. */
export type Principal = {
  readonly accountId: Uuid
  readonly accountStatus: 'active' | 'frozen' | 'closed'
  readonly capabilities: Capabilities
  readonly workspace: {
    readonly id: Uuid
    readonly owningAccountId: Uuid
    /** The account that holds the workspace's balance in the ledger: its payments, top-ups, limits and locks depend on it. */
    readonly balanceAccountId: Uuid
    /** Whether its balance was once its owner's: payments of that time are settled there. */
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
  /** Null if the account is not (or no longer) a member of the credential's workspace. */
  readonly role: Role | null
  readonly memberId: Uuid | null
  readonly memberStatus: 'active' | 'suspended' | null
  readonly permissions: ReadonlySet<Permission>
  /** The delegation behind the credential; null for the person. `lineage` is root first, the grant itself last. */
  readonly grant: { readonly id: Uuid; readonly lineage: readonly Uuid[]; readonly frozen: boolean } | null
  readonly isAdmin: boolean
  readonly credential: { readonly kind: 'api_key' | 'oauth' | 'dashboard' | 'session'; readonly id: Uuid }
  /** Whether its person has confirmed their identity, for acts that a stolen session alone must not do (`requireFreshProof`). */
  readonly proof: Proof
  /** When the person of the session, or of its dashboard token, last confirmed their identity. Null for a grant. */
  readonly provenAt: Date | null
  /** The browser session of the caller, even for a dashboard token that it issued. Null for a key or an agent. */
  readonly originSessionId: Uuid | null
  /** Its own grant, else the one that linked its session's sign-in method: everything it creates or links ends with it. */
  readonly originGrantId: Uuid | null
  readonly expiresAt: Date | null
  readonly origin: RequestOrigin
}

type BalanceOf = Pick<Principal['workspace'], 'kind' | 'owningAccountId' | 'balanceAccountId'>

/** A team without a balance of its own draws on its owner's, as all teams did until version 0.4.0. */
export const isBalanceShared = ({ kind, owningAccountId, balanceAccountId }: BalanceOf): boolean =>
  kind === 'team' && balanceAccountId === owningAccountId

/** A reader of a team's payments may read its balance; only the owner may read a personal or a shared balance. */
export const maySeeBalance = (reader: {
  readonly accountId: Uuid
  readonly permissions: ReadonlySet<Permission>
  readonly workspace: BalanceOf
}): boolean => {
  const { workspace, permissions } = reader
  if (workspace.balanceAccountId !== workspace.owningAccountId) return permissions.has('payment.read')
  return reader.accountId === workspace.owningAccountId && permissions.has('account.read')
}

/** Nobody sees a whole shared balance in the workspace: it has other workspaces' payments. */
export const seesWholeBalance = (reader: Parameters<typeof maySeeBalance>[0]): boolean =>
  maySeeBalance(reader) && !isBalanceShared(reader.workspace)

/** Every account on which a workspace's payments hold money: its balance's, and the one before its balance was separated. */
export const balanceAccountsOf = ({ balanceAccountId, owningAccountId, isSeparated }: Principal['workspace']): readonly Uuid[] =>
  isSeparated ? [balanceAccountId, owningAccountId] : [balanceAccountId]

export type Authenticated = Omit<Principal, 'origin'>

export type RequestOrigin = { readonly ip: string | null; readonly userAgent: string | null; readonly requestId: string | null }

/** For routes that stay open to a frozen account because they mostly stop things: refuses everything else. */
export const requireActiveAccount = ({ accountStatus }: Pick<Principal, 'accountStatus'>): void => {
  if (accountStatus !== 'active') throw new Refusal('account_frozen')
}

export const proofMaxAgeSeconds = 600

const byToken = 'A dashboard token cannot do this: do it in the session that issued it.'

/** @throws 403 `step_up_required` unless the identity was confirmed within the last ten minutes, and not before `since` */
export const requireProvenAt = (provenAt: Date | null, now: Date, since: Date | null = null): void => {
  if (provenAt && secondsAfter(provenAt, proofMaxAgeSeconds) > now && (since === null || provenAt >= since)) return
  throw new Refusal('step_up_required', {
    ...(provenAt === null && { message: byToken }),
    details: { max_age_seconds: proofMaxAgeSeconds, proven_at: provenAt?.toISOString() ?? null },
  })
}

/**
 * Guards acts that a stolen session alone must not do to its owner's account and workspaces: docs/authorization.md lists every
 * operation. `since`: an older proof does not count.
 */
export const requireFreshProof = ({ proof }: Pick<Principal, 'proof'>, now: Date, since: Date | null = null): void => {
  if (proof !== 'not_needed') requireProvenAt(proof === 'never' ? null : proof.at, now, since)
}
