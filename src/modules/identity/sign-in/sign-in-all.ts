import type { RequestOrigin } from '../../../auth/principal.ts'
import { holdsLock, noteLocked } from '../../../db/account-lock.ts'
import type { Tx } from '../../../db/client.ts'
import { type ActedEntry, auditAll } from '../../../events/audit.ts'
import { Refusal } from '../../../lib/errors.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { apart, contended, type Outcome } from '../../../queue/account-queue.ts'
import { createAccount } from '../accounts/service.ts'
import type { Deps } from '../deps.ts'
import { attachFirstIdentity, noteProofsOf, type UsedIdentity } from '../identities/attach.ts'
import { recomputeAccountEmail } from '../identities/email.ts'
import { identityName, verifiedEmail } from '../identities/lock.ts'
import type { IdentityProof } from '../identities/proof.ts'
import { statusRefusal } from '../identities/service.ts'
import { createSessions, type NewSession, type SessionOwner } from '../sessions/service.ts'
import { refused } from './refused.ts'
import { findAccounts, type Standing, type Standings, tryStandings, waitForStandings } from './standing.ts'
import type { SignInNonce } from './wallet/nonces.ts'
import { spendNonces } from './wallet/wallet.ts'

/** What somebody who signs in has proved, or why it proves nothing. */
export type Arrival = {
  provider: IdentityProof['provider']
  verdict: IdentityProof | Refusal
  /** Of a wallet's message: used up with the sign-in. Null where it is used up already, or where there is none. */
  nonce: SignInNonce | null
  origin: RequestOrigin
}

export type SignedIn = { outcome: 'signed_in' | 'account_created'; accountId: Uuid; session: NewSession }

type SignInDeps = Pick<Deps, 'appendEvents' | 'clock' | 'config'>

/** What the sign-ins of one transaction have come to so far. */
type Batch = {
  standings: Standings
  /** By identity: what its provider says now. */
  used: Map<Uuid, UsedIdentity>
  /** Accounts whose e-mail may be another one now. */
  unsettled: Set<Uuid>
  owners: SessionOwner[]
  refusals: ActedEntry[]
}

/** `place`: of its session among those of the batch. */
type Opened = { outcome: SignedIn['outcome']; accountId: Uuid; place: number }

/** Whether the account's e-mail stays as it is. Else further e-mails are locked, which other transactions may hold. */
const leavesEmail = (standing: Standing | undefined, proof: IdentityProof): boolean => {
  if (!standing) return verifiedEmail(proof) === null
  return standing.isSettled && standing.identity !== null && verifiedEmail(standing.identity) === verifiedEmail(proof)
}

type Proven = { proof: IdentityProof; origin: RequestOrigin }

const actorOf = (accountId: Uuid, { proof, origin }: Proven) => ({ accountId, origin, way: `sign_in:${proof.provider}` })

/** Everything of a first sign-in is written with the commit. */
const signUp = (tx: Tx, deps: SignInDeps, proven: Proven): Standing => {
  const { proof } = proven
  const email = proof.emailVerified ? proof.email : null
  const { accountId, workspaceId } = createAccount(tx, deps, { email, displayName: proof.displayName })
  // No other transaction knows it yet.
  noteLocked(tx, [accountId])
  const identity = attachFirstIdentity(tx, deps, actorOf(accountId, proven), {
    accountId,
    proof,
    linkedByGrantId: null,
    originSessionId: null,
  })
  return { accountId, status: 'active', workspaceId, identity, linkedByGrantId: null, originSessionId: null, isSettled: true }
}

/** With the identity that is used: attached now, if the account was found by its e-mail. */
const withIdentity = (tx: Tx, deps: SignInDeps, batch: Batch, standing: Standing, proven: Proven): Standing => {
  const { accountId, identity, linkedByGrantId, originSessionId } = standing
  const { proof } = proven
  if (!leavesEmail(standing, proof)) batch.unsettled.add(accountId)
  if (!identity)
    return {
      ...standing,
      identity: attachFirstIdentity(tx, deps, actorOf(accountId, proven), { accountId, proof, linkedByGrantId, originSessionId }),
    }
  batch.used.set(identity.id, { id: identity.id, proof })
  return standing
}

/** The account of the linked identity, else the one with that verified e-mail, else a new one: in this order. A later sign-in of the batch finds it. */
const openAccount = (tx: Tx, deps: SignInDeps, batch: Batch, proven: Proven): Opened | Refusal => {
  const name = identityName(proven.proof)
  const known = batch.standings.get(name)
  const refusal = known && statusRefusal(known.status, known.identity !== null)
  if (refusal) {
    batch.refusals.push(refused(actorOf(known.accountId, proven), proven.proof.provider, refusal))
    return refusal
  }
  const standing = known ? withIdentity(tx, deps, batch, known, proven) : signUp(tx, deps, proven)
  const { accountId, workspaceId, identity } = standing
  if (!identity) throw new Error('an account is signed in to without an identity')
  batch.standings.set(name, standing)
  batch.owners.push({ ...actorOf(accountId, proven), workspaceId, identityId: identity.id })
  return { outcome: known ? 'signed_in' : 'account_created', accountId, place: batch.owners.length - 1 }
}

const isProof = (verdict: IdentityProof | Refusal): verdict is IdentityProof => !(verdict instanceof Refusal)

/**
 * Signs people in, each to a session of their own: with two trips, one for the locks of the identities and their accounts, what stands behind
 * them and the nonces, and one that sends all writes with the commit. A batch of one and of many, a first sign-in and a later one go the same
 * way, so each rule stands here once. A refusal concerns its sign-in alone, and leaves an audit row.
 *
 * `wait`: whether to wait for the locks. What is found by its e-mail, or may change an account's e-mail, needs more of them and is left to a
 * batch that waits (`apart`). Where an outcome is `contended` or `apart`, and the transaction commits, the nonce is used up all the same.
 */
export const signInAll = async (
  tx: Tx,
  deps: SignInDeps,
  arrivals: readonly Arrival[],
  wait: boolean,
): Promise<Outcome<SignedIn>[]> => {
  const proofs = arrivals.flatMap(({ verdict }) => (isProof(verdict) ? [verdict] : []))
  const accounts = wait ? await findAccounts(tx, proofs) : []
  const [{ names, standings }, examined] = await Promise.all([
    wait ? waitForStandings(tx, proofs, accounts) : tryStandings(tx, proofs),
    spendNonces(tx, deps, arrivals),
  ])
  const batch: Batch = { standings, used: new Map(), unsettled: new Set(), owners: [], refusals: [] }
  const outcomes = examined.map(({ provider, verdict, origin }): Outcome<Opened> => {
    if (!isProof(verdict)) {
      batch.refusals.push(refused({ accountId: null, origin, way: `sign_in:${provider}` }, provider, verdict))
      return verdict
    }
    const standing = batch.standings.get(identityName(verdict))
    if (!names.has(identityName(verdict)) || (standing && !holdsLock(tx, standing.accountId))) return contended
    if (!wait && !leavesEmail(standing, verdict)) return apart
    return openAccount(tx, deps, batch, { proof: verdict, origin })
  })
  noteProofsOf(tx, [...batch.used.values()])
  for (const accountId of batch.unsettled) await recomputeAccountEmail(tx, accountId, tx.at)
  const sessions = createSessions(tx, deps, batch.owners)
  tx.defer(auditAll(tx, tx.at, batch.refusals))
  return outcomes.map((outcome) => {
    if (outcome instanceof Error || typeof outcome === 'symbol') return outcome
    const session = sessions[outcome.place]
    if (!session) throw new Error('a sign-in has no session')
    return { outcome: outcome.outcome, accountId: outcome.accountId, session }
  })
}
