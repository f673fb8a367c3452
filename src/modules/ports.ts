import type { Config } from '../config.ts'
import type { Db, Tx } from '../db/client.ts'
import type { Actor } from '../events/audit.ts'
import type { Uuid } from '../lib/ids.ts'

/**
 * Called in the transaction that revokes grants, because sign-in methods end with the grant that linked them. Delegation cannot
 * import sign-in, which imports delegation, so `app.ts` connects the two.
 */
export type OnGrantsRevoked = (
  tx: Tx,
  actor: Actor,
  ended: { accountId: Uuid; grantIds: readonly Uuid[]; workspaceIds: readonly Uuid[] },
) => Promise<void>

/**
 * Called in the transaction that unlinks a wallet, changes a role, suspends an account or ends a mandate. Ends everything that
 * depended on the lost authority. The callers cannot import the features that depend on it.
 */
export type OnAuthorityLost = (tx: Tx, actor: Actor, accountId: Uuid) => Promise<void>

/**
 * Called in the transaction in which an account loses the right to request payments in these workspaces. Its unsent payment
 * requests there end.
 */
export type OnRequesterLost = (
  tx: Tx,
  actor: Actor,
  requester: { accountId: Uuid; workspaceIds: readonly Uuid[] },
) => Promise<void>

/** Called in the transaction in which an owner closes an account. Features erase the data that they store about it. */
export type OnAccountClosed = (tx: Tx, accountId: Uuid) => Promise<void>

/**
 * The accounts whose money relies on another account's decisions, or on requests by its grants. A transaction that takes away
 * that account's authority locks them first.
 */
export type OwnersRelyingOn = (db: Db, accountId: Uuid) => Promise<Uuid[]>

/** Opens an account without a person, to hold a team's balance. Workspaces cannot import accounts, which import workspaces. */
export type OpenHolder = (tx: Tx, config: Pick<Config, 'CURRENCY'>, workspaceId: Uuid) => Uuid
