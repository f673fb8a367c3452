import type { Tx } from '../db/client.ts'
import type { Actor } from '../events/audit.ts'
import type { Uuid } from '../lib/ids.ts'

/**
 * Called in the transaction that revokes grants: sign-in methods end with the grant that linked them. Delegation cannot import sign-in,
 * which imports it; `app.ts` connects the two.
 */
export type OnGrantsRevoked = (tx: Tx, actor: Actor, ended: { accountId: Uuid; grantIds: readonly Uuid[] }) => Promise<void>
