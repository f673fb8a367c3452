import type { RequestOrigin } from '../../../auth/principal.ts'
import type { Tx } from '../../../db/client.ts'
import { type Actor, audit } from '../../../events/audit.ts'
import { CommitThenThrow, conflict, Refusal } from '../../../lib/errors.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { Deps } from '../../deps.ts'
import { findHomeWorkspaceId } from '../../workspaces/queries.ts'
import { createAccount } from '../accounts/service.ts'
import { grantOf, linkingGrantOf, signInAuthorityRefusal } from '../sessions/authority.ts'
import { createSession, type NewSession } from '../sessions/service.ts'
import { attachIdentity, touchIdentity } from './attach.ts'
import { lockAccount, lockIdentity } from './lock.ts'
import { findMatch, type Match } from './match.ts'
import { type IdentityProof, walletContradiction } from './proof.ts'
import { findIdentity, type IdentityRecord } from './queries.ts'

export type SignIn = { outcome: 'signed_in' | 'account_created'; accountId: Uuid; identity: IdentityRecord; session: NewSession }
export type Link = { outcome: 'linked' | 'already_linked'; identity: IdentityRecord }

/** The account of the linked identity, else the one with that verified e-mail, else a new one: in this order; then a new session. */
export const signIn = async (
  tx: Tx,
  deps: Pick<Deps, 'appendEvents' | 'clock' | 'config'>,
  proof: IdentityProof,
  origin: RequestOrigin,
): Promise<SignIn> => {
  await lockIdentity(tx, proof)
  const way = `sign_in:${proof.provider}`
  const match = await findMatch(tx, proof)
  const refusal = match && (await signInRefusal(tx, match, proof))
  if (refusal) {
    const after = { provider: proof.provider, reason: refusal.message }
    await audit(tx, { accountId: match.accountId, origin, way }, tx.at, { action: 'sign_in.refused', after })
    throw new CommitThenThrow(refusal)
  }
  const accountId = match?.accountId ?? (await newAccount(tx, deps, proof))
  const identity = match?.existing
    ? await touchIdentity(tx, match.existing, proof)
    : await attachIdentity(
        tx,
        deps,
        { accountId, origin, way },
        { accountId, proof, linkedByGrantId: match?.linkedByGrantId ?? null },
      )
  const workspaceId = await findHomeWorkspaceId(tx, accountId)
  const session = createSession(tx, deps, { accountId, workspaceId, identityId: identity.id, origin, way })
  return { outcome: match ? 'signed_in' : 'account_created', accountId, identity, session }
}

const newAccount = async (tx: Tx, deps: Pick<Deps, 'config'>, proof: IdentityProof): Promise<Uuid> => {
  const email = proof.emailVerified ? proof.email : null
  return (await createAccount(tx, deps, { email, displayName: proof.displayName })).account.id
}

const signInRefusal = async (tx: Tx, match: Match, proof: IdentityProof): Promise<Refusal | null> => {
  const account = await lockAccount(tx, match.accountId)
  if (account.status === 'closed') return new Refusal('account_frozen', { message: 'This account is closed.' })
  // A frozen account can still be read by its people, but gets no new sign-in method.
  if (account.status === 'frozen' && !match.existing) return new Refusal('account_frozen')
  return match.existing && walletContradiction(match.existing, proof)
}

/** Links a proven identity to an account. It may be attached already, or belong to another account (the answer does not say to which). */
export const linkIdentity = async (
  tx: Tx,
  deps: Pick<Deps, 'appendEvents' | 'config'>,
  owner: Actor & { accountId: Uuid },
  proof: IdentityProof,
): Promise<Link> => {
  const unauthorized = await signInAuthorityRefusal(tx, deps, owner.accountId, grantOf(owner))
  await lockIdentity(tx, proof)
  const account = await lockAccount(tx, owner.accountId)
  const existing = await findIdentity(tx, proof)
  const refusal = unauthorized ?? linkRefusal(account.status, owner.accountId, existing, proof)
  if (refusal) {
    const after = { provider: proof.provider, reason: refusal.message }
    await audit(tx, owner, tx.at, { action: 'identity.link_refused', after })
    throw new CommitThenThrow(refusal)
  }
  if (existing) return { outcome: 'already_linked', identity: await touchIdentity(tx, existing, proof) }
  const linkedBy = await linkingGrantOf(tx, owner)
  return {
    outcome: 'linked',
    identity: await attachIdentity(tx, deps, owner, { accountId: owner.accountId, proof, linkedByGrantId: linkedBy }),
  }
}

const linkRefusal = (
  status: string,
  accountId: Uuid,
  existing: IdentityRecord | undefined,
  proof: IdentityProof,
): Refusal | null => {
  if (status !== 'active') return new Refusal('account_frozen')
  if (!existing) return null
  if (existing.accountId !== accountId) return conflict('This identity belongs to another account.', 'identity')
  return walletContradiction(existing, proof)
}
