import type { RequestOrigin } from '../../../auth/principal.ts'
import type { Tx } from '../../../db/client.ts'
import { type Actor, audit } from '../../../events/audit.ts'
import { CommitThenThrow, conflict, Refusal } from '../../../lib/errors.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { findHomeWorkspaceId } from '../../workspaces/queries.ts'
import { createAccount } from '../accounts/service.ts'
import type { Deps } from '../deps.ts'
import { grantOf, linkingGrantOf, signInAuthorityRefusal } from '../sessions/authority.ts'
import { renewProof, requireProofToChange } from '../sessions/proof.ts'
import { createSession, type NewSession } from '../sessions/service.ts'
import { attachFirstIdentity, attachIdentity, touchIdentity } from './attach.ts'
import { lockAccount, lockIdentity } from './lock.ts'
import { findMatch, type Match } from './match.ts'
import type { IdentityProof } from './proof.ts'
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
  const way = `sign_in:${proof.provider}`
  // In this order and in one trip: the lock, and the account behind it.
  const [, match] = await Promise.all([lockIdentity(tx, proof), findMatch(tx, proof)])
  const refusal = match && (await signInRefusal(tx, match))
  if (refusal) {
    const after = { provider: proof.provider, reason: refusal.message }
    await audit(tx, { accountId: match.accountId, origin, way }, tx.at, { action: 'sign_in.refused', after })
    throw new CommitThenThrow(refusal)
  }
  if (!match) return signUp(tx, deps, proof, origin)
  const { accountId, existing, linkedByGrantId } = match
  const actor = { accountId, origin, way }
  const identity = existing
    ? await touchIdentity(tx, existing, proof)
    : await attachIdentity(tx, deps, actor, { accountId, proof, linkedByGrantId })
  const workspaceId = await findHomeWorkspaceId(tx, accountId)
  const session = createSession(tx, deps, { ...actor, workspaceId, identityId: identity.id })
  return { outcome: 'signed_in', accountId, identity, session }
}

/** Everything of a first sign-in is written with the commit. The caller has locked the identity. */
const signUp = (
  tx: Tx,
  deps: Pick<Deps, 'appendEvents' | 'clock' | 'config'>,
  proof: IdentityProof,
  origin: RequestOrigin,
): SignIn => {
  const email = proof.emailVerified ? proof.email : null
  const { accountId, workspaceId } = createAccount(tx, deps, { email, displayName: proof.displayName })
  const actor = { accountId, origin, way: `sign_in:${proof.provider}` }
  const identity = attachFirstIdentity(tx, deps, actor, { accountId, proof, linkedByGrantId: null })
  const session = createSession(tx, deps, { ...actor, workspaceId, identityId: identity.id })
  return { outcome: 'account_created', accountId, identity, session }
}

/** Whether an account may be signed in to, by its status behind its lock. `isLinked`: with an identity that it has already. */
export const statusRefusal = (status: string, isLinked: boolean): Refusal | null => {
  if (status === 'closed') return new Refusal('account_frozen', { message: 'This account is closed.' })
  // A frozen account can still be read by its people, but gets no new sign-in method.
  return status === 'frozen' && !isLinked ? new Refusal('account_frozen') : null
}

const signInRefusal = async (tx: Tx, { accountId, existing }: Match): Promise<Refusal | null> => {
  const account = await lockAccount(tx, accountId)
  return statusRefusal(account.status, existing !== null)
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
  const refusal = unauthorized ?? linkRefusal(account.status, owner.accountId, existing)
  if (refusal) {
    const after = { provider: proof.provider, reason: refusal.message }
    await audit(tx, owner, tx.at, { action: 'identity.link_refused', after })
    throw new CommitThenThrow(refusal)
  }
  if (existing) {
    await renewProof(tx, owner)
    return { outcome: 'already_linked', identity: await touchIdentity(tx, existing, proof) }
  }
  await requireProofToChange(tx, deps, owner)
  const linkedBy = await linkingGrantOf(tx, owner)
  return {
    outcome: 'linked',
    identity: await attachIdentity(tx, deps, owner, { accountId: owner.accountId, proof, linkedByGrantId: linkedBy }),
  }
}

const linkRefusal = (status: string, accountId: Uuid, existing: IdentityRecord | undefined): Refusal | null => {
  if (status !== 'active') return new Refusal('account_frozen')
  return existing && existing.accountId !== accountId ? conflict('This identity belongs to another account.', 'identity') : null
}
