import { requireFreshProof } from '../../../auth/step-up.ts'
import type { Config } from '../../../config.ts'
import type { Tx } from '../../../db/client.ts'
import { type Actor, audit } from '../../../events/audit.ts'
import { CommitThenThrow, conflict, Refusal } from '../../../lib/errors.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { grantOf, linkingGrantOf, signInAuthorityRefusal } from '../sessions/authority.ts'
import { proofOf, renewProof, sessionOf } from '../sessions/proof.ts'
import { attachIdentity, touchIdentity } from './attach.ts'
import { lockAccount, lockIdentity } from './lock.ts'
import type { IdentityProof } from './proof.ts'
import { findIdentity, type IdentityRecord } from './queries.ts'

export type Link = { outcome: 'linked' | 'already_linked'; identity: IdentityRecord }

/** Whether an account may be signed in to, by its status behind its lock. `isLinked`: with an identity that it has already. */
export const statusRefusal = (status: string, isLinked: boolean): Refusal | null => {
  if (status === 'closed') return new Refusal('account_frozen', { message: 'This account is closed.' })
  // A frozen account can still be read by its people, but gets no new sign-in method.
  return status === 'frozen' && !isLinked ? new Refusal('account_frozen') : null
}

/** Links a proven identity to an account. It may be attached already, or belong to another account (the answer does not say to which). */
export const linkIdentity = async (
  tx: Tx,
  config: Config,
  owner: Actor & { accountId: Uuid },
  proof: IdentityProof,
): Promise<Link> => {
  const unauthorized = await signInAuthorityRefusal(tx, config, owner.accountId, grantOf(owner))
  await lockIdentity(tx, proof)
  const account = await lockAccount(tx, owner.accountId)
  const existing = await findIdentity(tx, proof)
  const refusal = unauthorized ?? linkRefusal(account.status, owner.accountId, existing)
  if (refusal) {
    const after = { provider: proof.provider, reason: refusal.message }
    await audit(tx, owner, tx.at, { action: 'identity.link_refused', after })
    throw new CommitThenThrow(refusal)
  }
  if (existing) {
    await renewProof(tx, owner, existing)
    return { outcome: 'already_linked', identity: await touchIdentity(tx, existing, proof) }
  }
  // Else a stolen session would link a method of its own, and stay when the session is ended.
  requireFreshProof(await proofOf(tx, owner), tx.at)
  const [linkedByGrantId, originSessionId] = await Promise.all([linkingGrantOf(tx, owner), sessionOf(tx, owner)])
  const attached = { accountId: owner.accountId, proof, linkedByGrantId, originSessionId }
  return { outcome: 'linked', identity: await attachIdentity(tx, owner, attached) }
}

const linkRefusal = (status: string, accountId: Uuid, existing: IdentityRecord | undefined): Refusal | null => {
  const ofAnother = existing !== undefined && existing.accountId !== accountId
  return statusRefusal(status, false) ?? (ofAnother ? conflict('This identity belongs to another account.', 'identity') : null)
}
