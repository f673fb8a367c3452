import { isCredentialActive } from '../../../auth/credential-active.ts'
import type { Principal } from '../../../auth/principal.ts'
import { lockAccount } from '../../../db/account-lock.ts'
import type { Tx } from '../../../db/client.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { Deps } from '../deps.ts'

export type LinkInitiator = Pick<Principal, 'accountId' | 'credential'> & { grantId: Uuid | null }

/**
 * Whether the credential that began a link would still be accepted, under its account's lock: after an acknowledged logout or revocation
 * nothing is linked, and a later one ends what was linked. Must be the first statement of its transaction.
 */
export const isStillActive = async (tx: Tx, deps: Pick<Deps, 'config'>, initiator: LinkInitiator): Promise<boolean> => {
  await lockAccount(tx, initiator.accountId)
  return isCredentialActive(tx, initiator, tx.at, deps.config.SESSION_IDLE_DAYS)
}
