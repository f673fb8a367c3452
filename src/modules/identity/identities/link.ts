import { requireFreshProof } from '../../../auth/principal.ts'
import type { Config } from '../../../config.ts'
import type { Tx } from '../../../db/client.ts'
import { insertRow, updateRow } from '../../../db/prepare-write.ts'
import { identities } from '../../../db/tables/accounts.ts'
import { appendEvents } from '../../../events/append.ts'
import { type Actor, audit } from '../../../events/audit.ts'
import { CommitThenThrow, conflict, Refusal } from '../../../lib/errors.ts'
import { formatId, newId, type Uuid } from '../../../lib/ids.ts'
import { lockAccountRow } from '../accounts/queries.ts'
import { actingOf, grantOf, linkingGrantOf, renewProof, sessionOf, signInAuthorityRefusal } from '../sessions/authority.ts'
import { lockIdentity, recomputeAccountEmail } from './lock.ts'
import { findIdentity, type IdentityProof, type IdentityRecord, presentIdentity } from './queries.ts'

type Attached = Pick<IdentityRecord, 'accountId' | 'linkedByGrantId' | 'originSessionId'> & { proof: IdentityProof }

/** Nothing is waited for. Of an account that has other identities the e-mail is computed again afterwards. */
export const attachIdentity = (
  tx: Tx,
  actor: Actor,
  { accountId, proof, linkedByGrantId, originSessionId }: Attached,
): IdentityRecord => {
  const { at } = tx
  const { provider, issuer, subject } = proof
  const identity = { id: newId(), accountId, ...proof, linkedByGrantId, originSessionId, createdAt: at, lastUsedAt: at }
  insertRow(tx, identities, identity)
  tx.defer(appendEvents(tx, [{ type: 'identity.linked', accountId, workspaceId: null, data: presentIdentity(identity) }]))
  audit(tx, actor, 'identity.link', {
    subject: identity.id,
    after: { provider, issuer, subject, ...(linkedByGrantId && { linked_by: formatId('grant', linkedByGrantId) }) },
  })
  return identity
}

/** What its provider says now. Where an e-mail is verified no longer, or another one is, `recomputeAccountEmail` comes next. */
export const noteProof = (tx: Tx, id: Uuid, { email, emailVerified, displayName }: IdentityProof): void => {
  updateRow(tx, identities, { id }, { lastUsedAt: tx.at, email, emailVerified })
  if (displayName !== null) updateRow(tx, identities, { id }, { displayName })
}

/** An attached identity was proven again. */
const touchIdentity = async (tx: Tx, identity: IdentityRecord, proof: IdentityProof): Promise<IdentityRecord> => {
  noteProof(tx, identity.id, proof)
  await recomputeAccountEmail(tx, identity.accountId, tx.at)
  const { email, emailVerified } = proof
  return { ...identity, lastUsedAt: tx.at, email, emailVerified, displayName: proof.displayName ?? identity.displayName }
}

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
  const account = await lockAccountRow(tx, owner.accountId)
  const existing = await findIdentity(tx, proof)
  const refusal = unauthorized ?? linkRefusal(account.status, owner.accountId, existing)
  if (refusal) {
    const after = { provider: proof.provider, reason: refusal.message }
    audit(tx, owner, 'identity.link_refused', { after })
    throw new CommitThenThrow(refusal)
  }
  if (existing) {
    await renewProof(tx, owner, existing)
    return { outcome: 'already_linked', identity: await touchIdentity(tx, existing, proof) }
  }
  // Else a stolen session would link a method of its own, and stay when the session is ended.
  requireFreshProof(await actingOf(tx, owner), tx.at)
  const [linkedByGrantId, originSessionId] = await Promise.all([linkingGrantOf(tx, owner), sessionOf(tx, owner)])
  const attached = { accountId: owner.accountId, proof, linkedByGrantId, originSessionId }
  const identity = attachIdentity(tx, owner, attached)
  await recomputeAccountEmail(tx, owner.accountId, tx.at)
  return { outcome: 'linked', identity }
}

const linkRefusal = (status: string, accountId: Uuid, existing: IdentityRecord | undefined): Refusal | null => {
  const ofAnother = existing !== undefined && existing.accountId !== accountId
  return statusRefusal(status, false) ?? (ofAnother ? conflict('This identity belongs to another account.', 'identity') : null)
}
