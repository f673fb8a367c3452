import { eq } from 'drizzle-orm'
import type { Principal, RequestOrigin } from '../../../auth/principal.ts'
import type { Tx } from '../../../db/client.ts'
import { identities } from '../../../db/tables/accounts.ts'
import { type Actor, audit } from '../../../events/audit.ts'
import { CommitThenThrow, conflict, notFound, Refusal } from '../../../lib/errors.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { Deps } from '../../deps.ts'
import { findPersonalWorkspaceId } from '../../workspaces/queries.ts'
import { createAccount } from '../accounts/service.ts'
import { createSession, type NewSession } from '../sessions/service.ts'
import { attachIdentity, touchIdentity } from './attach.ts'
import { recomputeAccountEmail } from './email.ts'
import { lockAccount, lockIdentity, verifiedEmail } from './lock.ts'
import { findMatch, type Match } from './match.ts'
import { presentIdentity } from './present.ts'
import { type IdentityProof, walletContradiction } from './proof.ts'
import { findIdentity, type IdentityRecord, listIdentities } from './queries.ts'

export { type IdentityProof, walletProof } from './proof.ts'

export type SignIn = { outcome: 'signed_in' | 'account_created'; accountId: Uuid; identity: IdentityRecord; session: NewSession }
export type Link = { outcome: 'linked' | 'already_linked'; identity: IdentityRecord }

/** Linked pair, else an account with that verified e-mail, else a new account: in this order, and then a new session. */
export const signIn = async (tx: Tx, deps: Deps, proof: IdentityProof, origin: RequestOrigin): Promise<SignIn> => {
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
    : await attachIdentity(tx, deps, accountId, proof, { accountId, origin, way })
  const workspaceId = await findPersonalWorkspaceId(tx, accountId)
  const session = await createSession(tx, deps, { accountId, workspaceId, identityId: identity.id, origin, way })
  return { outcome: match ? 'signed_in' : 'account_created', accountId, identity, session }
}

const newAccount = async (tx: Tx, deps: Deps, proof: IdentityProof): Promise<Uuid> => {
  const email = proof.emailVerified ? proof.email : null
  return (await createAccount(tx, deps, { email, displayName: proof.displayName })).account.id
}

const signInRefusal = async (tx: Tx, match: Match, proof: IdentityProof): Promise<Refusal | null> => {
  const account = await lockAccount(tx, match.accountId)
  if (account.status === 'closed') return new Refusal('account_frozen', { message: 'This account is closed.' })
  // A frozen account can be looked at by who could before, and gets no new way in.
  if (account.status === 'frozen' && !match.existing) return new Refusal('account_frozen')
  return match.existing && walletContradiction(match.existing, proof)
}

/** Links a proven identity to an account: attached, already there, or somebody else's (which tells nothing of whose). */
export const linkIdentity = async (
  tx: Tx,
  deps: Deps,
  owner: Actor & { accountId: Uuid },
  proof: IdentityProof,
): Promise<Link> => {
  await lockIdentity(tx, proof)
  const account = await lockAccount(tx, owner.accountId)
  const existing = await findIdentity(tx, proof)
  const refusal = linkRefusal(account.status, owner.accountId, existing, proof)
  if (refusal) {
    const after = { provider: proof.provider, reason: refusal.message }
    await audit(tx, owner, tx.at, { action: 'identity.link_refused', after })
    throw new CommitThenThrow(refusal)
  }
  if (existing) return { outcome: 'already_linked', identity: await touchIdentity(tx, existing, proof) }
  return { outcome: 'linked', identity: await attachIdentity(tx, deps, owner.accountId, proof, owner) }
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

/** Detaches a sign-in method. The account's row is locked first: of two removals at once, the second sees what the first left. */
export const unlinkIdentity = async (tx: Tx, deps: Deps, principal: Principal, id: Uuid): Promise<IdentityRecord> => {
  const { at } = tx
  const { accountId } = principal
  const before = await listIdentities(tx, accountId)
  const identityToRemove = before.find((identity) => identity.id === id)
  if (!identityToRemove) throw notFound()
  const emails = before.flatMap((identity) => verifiedEmail(identity) ?? [])
  await lockIdentity(tx, identityToRemove, emails)
  await lockAccount(tx, accountId)
  const attached = await listIdentities(tx, accountId)
  const identity = attached.find((candidate) => candidate.id === id)
  if (!identity) throw notFound()
  if (attached.length === 1) throw new Refusal('last_identity')
  await tx.orm.delete(identities).where(eq(identities.id, id))
  await recomputeAccountEmail(tx, accountId, at)
  await deps.appendEvents(tx, at, [{ type: 'identity.unlinked', accountId, workspaceId: null, data: presentIdentity(identity) }])
  const { provider, subject } = identity
  await audit(tx, principal, at, { action: 'identity.unlink', subject: { type: 'identity', id }, before: { provider, subject } })
  return identity
}
