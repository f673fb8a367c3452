import type { RequestOrigin } from '../../../auth/principal.ts'
import type { Config } from '../../../config.ts'
import { holdsLock, noteLocked } from '../../../db/account-lock.ts'
import { inTx, type Tx } from '../../../db/client.ts'
import { auditAll } from '../../../events/audit.ts'
import type { Clock } from '../../../lib/clock.ts'
import { Refusal } from '../../../lib/errors.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { only } from '../../../lib/lists.ts'
import type { Account } from '../accounts/schema.ts'
import { createAccount, readAccount } from '../accounts/service.ts'
import type { Deps } from '../deps.ts'
import { attachFirstIdentity, noteProofsOf } from '../identities/attach.ts'
import { recomputeAccountEmail } from '../identities/email.ts'
import { verifiedEmail } from '../identities/lock.ts'
import type { IdentityProof } from '../identities/proof.ts'
import { statusRefusal } from '../identities/service.ts'
import { createSession, type NewSession } from '../sessions/service.ts'
import { refused } from './refused.ts'
import { findAccount, lockStanding, type Standing } from './standing.ts'
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

export type SignedIn = { outcome: 'signed_in' | 'account_created'; account: Account; session: NewSession }
export type SignIn = (arrival: Arrival) => Promise<SignedIn>

/** Whether the account's e-mail stays as it is. */
const leavesEmail = (standing: Standing, proof: IdentityProof): boolean =>
  standing.isSettled && standing.identity !== null && verifiedEmail(standing.identity) === verifiedEmail(proof)

type Proven = { proof: IdentityProof; origin: RequestOrigin }

const actorOf = (accountId: Uuid, { proof, origin }: Proven) => ({ accountId, origin, way: `sign_in:${proof.provider}` })

/** Everything of a first sign-in is written with the commit. */
const signUp = (tx: Tx, config: Config, proven: Proven): Standing => {
  const { proof } = proven
  const email = proof.emailVerified ? proof.email : null
  const { accountId, workspaceId } = createAccount(tx, config, { email, displayName: proof.displayName })
  // No other transaction knows it yet.
  noteLocked(tx, [accountId])
  const byPerson = { linkedByGrantId: null, originSessionId: null }
  const identity = attachFirstIdentity(tx, actorOf(accountId, proven), { accountId, proof, ...byPerson })
  return { accountId, status: 'active', workspaceId, identity, ...byPerson, isSettled: true }
}

/** The identity that is used: attached now, if the account was found by its e-mail. */
const identityOf = async (tx: Tx, standing: Standing, proven: Proven): Promise<Uuid> => {
  const { accountId, identity, linkedByGrantId, originSessionId } = standing
  const { proof } = proven
  const used =
    identity ?? attachFirstIdentity(tx, actorOf(accountId, proven), { accountId, proof, linkedByGrantId, originSessionId })
  if (identity) noteProofsOf(tx, [{ id: identity.id, proof }])
  if (!leavesEmail(standing, proof)) await recomputeAccountEmail(tx, accountId, tx.at)
  return used.id
}

/** Another transaction gave the identity to another account between the look-up and the lock. */
class Moved extends Error {}

/** The account of the linked identity, else the one with that verified e-mail, else a new one: in this order. A refusal leaves an audit row. */
const signInOnce = async (
  tx: Tx,
  clock: Clock,
  config: Config,
  arrival: Arrival,
): Promise<(Omit<SignedIn, 'account'> & { account: Promise<Account> }) | Refusal> => {
  const { provider, origin } = arrival
  const refuse = (accountId: Uuid | null, refusal: Refusal): Refusal => {
    tx.defer(auditAll(tx, tx.at, [refused({ accountId, origin, way: `sign_in:${provider}` }, provider, refusal)]))
    return refusal
  }
  const spent = async () => only(await spendNonces(tx, config, [arrival])).verdict
  if (arrival.verdict instanceof Refusal) return refuse(null, (await spent()) as Refusal)
  const accountId = await findAccount(tx, arrival.verdict)
  const [known, proof] = await Promise.all([lockStanding(tx, arrival.verdict, accountId), spent()])
  if (proof instanceof Refusal) return refuse(null, proof)
  if (known && !holdsLock(tx, known.accountId)) throw new Moved()
  const refusal = known && statusRefusal(known.status, known.identity !== null)
  if (refusal) return refuse(known.accountId, refusal)
  const proven = { proof, origin }
  const standing = known ?? signUp(tx, config, proven)
  const identityId = known ? await identityOf(tx, known, proven) : standing.identity?.id
  if (identityId === undefined) throw new Error('an account is signed in to without an identity')
  const owner = { ...actorOf(standing.accountId, proven), workspaceId: standing.workspaceId, identityId }
  const session = createSession(tx, clock, config, owner)
  // Read with the commit, as it stands behind the sign-in.
  const account = readAccount(tx, standing.accountId)
  tx.defer(account)
  return { outcome: known ? 'signed_in' : 'account_created', account, session }
}

const mostTries = 3

/**
 * Signs somebody in, in one transaction. Where it may have been committed without an answer, the person signs in again. A second sign-in with the
 * same identity waits at its locks.
 */
export const createSignIn =
  (deps: Pick<Deps, 'clock' | 'config' | 'db' | 'lastUsed'>): SignIn =>
  async (arrival) => {
    // A session begins in the workspace that was used last, so pending "last used" times are written first.
    await deps.lastUsed.flush()
    for (let count = 1; ; count += 1) {
      try {
        const outcome = await inTx(deps.db, (tx) => signInOnce(tx, deps.clock, deps.config, arrival))
        if (outcome instanceof Refusal) throw outcome
        return { ...outcome, account: await outcome.account }
      } catch (error) {
        if (!(error instanceof Moved) || count === mostTries) throw error
      }
    }
  }
