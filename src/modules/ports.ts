import type { Config } from '../config.ts'
import type { Db, Tx } from '../db/client.ts'
import type { Actor } from '../events/audit.ts'
import type { Uuid } from '../lib/ids.ts'

/**
 * Called in the transaction that revokes grants: sign-in methods end with the grant that linked them. Delegation cannot import sign-in,
 * which imports it; `app.ts` connects the two.
 */
export type OnGrantsRevoked = (
  tx: Tx,
  actor: Actor,
  ended: { accountId: Uuid; grantIds: readonly Uuid[]; workspaceIds: readonly Uuid[] },
) => Promise<void>

/**
 * Called in the transaction that unlinks a wallet, changes a role, suspends an account or ends a mandate: ends what depends on it.
 * The features that end it cannot import those that depend on it.
 */
export type OnAuthorityLost = (tx: Tx, actor: Actor, accountId: Uuid) => Promise<void>

/**
 * Called in the transaction that takes the right to ask for payments from an account, in these workspaces: what it asked for there and was not
 * sent ends.
 */
export type OnRequesterLost = (
  tx: Tx,
  actor: Actor,
  requester: { accountId: Uuid; workspaceIds: readonly Uuid[] },
) => Promise<void>

/** Called in the transaction in which the owner of an account closes it: what the features keep of other people for it is forgotten. */
export type OnAccountClosed = (tx: Tx, accountId: Uuid) => Promise<void>

/**
 * The accounts whose money relies on what an account has decided, or may ask for by its grants: who takes its authority away locks them with
 * its first lock.
 */
export type OwnersRelyingOn = (db: Db, accountId: Uuid) => Promise<Uuid[]>

/** Opens an account that is no person, to hold the balance of a team. Workspaces cannot import accounts, which import them. */
export type OpenHolder = (tx: Tx, config: Pick<Config, 'CURRENCY'>, workspaceId: Uuid) => Uuid
