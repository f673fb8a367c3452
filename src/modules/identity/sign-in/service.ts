import { and, eq, sql } from 'drizzle-orm'
import { administratorsAmong } from '../../../auth/administrators.ts'
import { linkerOf } from '../../../auth/authority-sql.ts'
import type { Principal, RequestOrigin } from '../../../auth/principal.ts'
import { sha256 } from '../../../auth/secrets.ts'
import type { Config } from '../../../config.ts'
import { lockAccounts, recordLocked } from '../../../db/account-lock.ts'
import { first, inTx, type Tx } from '../../../db/client.ts'
import { prepare } from '../../../db/prepare.ts'
import { identities } from '../../../db/tables/accounts.ts'
import { emailKeyOf } from '../../../db/tables/columns.ts'
import { type Actor, audit } from '../../../events/audit.ts'
import { CommitThenThrow, Refusal } from '../../../lib/errors.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { requireBelowBound } from '../../bounds.ts'
import type { Parts } from '../../parts.ts'
import { findHomeWorkspaceId } from '../../workspaces/queries.ts'
import { accountWithEmail, lockAccountRow } from '../accounts/queries.ts'
import { createAccount, readAccount } from '../accounts/service.ts'
import {
  attachIdentity,
  linkIdentity,
  lockIdentity,
  recomputeAccountEmail,
  recordProof,
  statusRefusal,
  verifiedEmail,
} from '../identities/link.ts'
import { findIdentity, type IdentityProof } from '../identities/queries.ts'
import { mailNewBrowser, mailNewMethod } from '../security-mail.ts'
import { createSession, endLongestIdleSession, isKnownBrowser } from '../sessions/service.ts'
import { signUpRefusal } from './admission.ts'
import type { SignInNonce } from './nonces.ts'
import { spendNonce, type WalletAttempt } from './wallet.ts'

const noOrigin = { linkedByGrantId: null, originSessionId: null }

const identitiesWithEmail = prepare('identities.with_email', { email: 'text' }, (orm, param) =>
  orm
    .select({
      accountId: identities.accountId,
      linkedByGrantId: sql<Uuid | null>`${sql.raw(linkerOf('identities'))}`,
      originSessionId: identities.originSessionId,
    })
    .from(identities)
    .where(and(eq(emailKeyOf(identities.email), param.email), sql`${identities.emailVerified}`)),
)

/**
 * Finds the account of the linked identity, otherwise the account with this e-mail, otherwise the only account with an identity
 * that has it. Only verified e-mails count: another could lead its real owner into a stranger's account.
 */
const matchAccount = async (tx: Tx, proof: IdentityProof) => {
  const identity = await findIdentity(tx, proof)
  if (identity) return { accountId: identity.accountId, identity, ...noOrigin }
  const email = verifiedEmail(proof)
  if (email === null) return undefined
  const [owner, matches] = await Promise.all([first(tx, accountWithEmail, { email }), tx.run(identitiesWithEmail, { email })])
  const candidates = new Set(owner ? [owner.id] : matches.map(({ accountId }) => accountId))
  const [accountId, ...others] = candidates
  if (accountId === undefined || others.length > 0) return undefined
  const own = matches.filter((match) => match.accountId === accountId)
  // If a grant or a session linked all methods with this e-mail, the new method ends with that grant or session.
  const ofAll = (origin: 'linkedByGrantId' | 'originSessionId') =>
    own.some((identity) => identity[origin] === null) ? null : (own[0]?.[origin] ?? null)
  return { accountId, identity: null, linkedByGrantId: ofAll('linkedByGrantId'), originSessionId: ofAll('originSessionId') }
}

/** Records a refused sign-in, or a refused proof for a link, in the audit log. */
const commitRefusal = async (tx: Tx, actor: Actor, provider: string, refusal: Refusal): Promise<never> => {
  audit(tx, actor, 'sign_in.refused', { after: { provider, reason: refusal.message } })
  throw new CommitThenThrow(refusal)
}

type SignInAttempt = {
  provider: IdentityProof['provider']
  verdict: IdentityProof | Refusal
  /** The nonce of a wallet's message, which the sign-in uses up. Null if it is already used up, or if there is none. */
  nonce: SignInNonce | null
  origin: RequestOrigin
  /** Identifies the browser at its next sign-in. */
  browserCookie: string
}

/** Another transaction moved the identity to another account between lookup and lock. The code makes `inTx` start over. */
class IdentityMoved extends Error {
  readonly code = '40001'
}

/**
 * The account's lock comes before the first write. It guards the account's status and the order of its events, and prevents the
 * identity from being detached. The lock on the name prevents it from being created or linked. A first sign-in is written with
 * the commit.
 */
const signInOnce = async (tx: Tx, config: Config, attempt: SignInAttempt) => {
  const { provider, origin, verdict, browserCookie } = attempt
  const actorOf = (accountId: Uuid | null) => ({ accountId, origin, way: `sign_in:${provider}` })
  if (verdict instanceof Refusal)
    return commitRefusal(tx, actorOf(null), provider, (await spendNonce(tx, config, attempt)) as Refusal)
  const before = await matchAccount(tx, verdict)
  const [, , found, proof] = await Promise.all([
    lockAccounts(tx, { exclusive: before ? [before.accountId] : [] }),
    lockIdentity(tx, verdict),
    matchAccount(tx, verdict),
    spendNonce(tx, config, attempt),
  ])
  if (proof instanceof Refusal) return commitRefusal(tx, actorOf(null), provider, proof)
  if (found && found.accountId !== before?.accountId) throw new IdentityMoved()
  const [row, homeWorkspaceId] = found
    ? await Promise.all([lockAccountRow(tx, found.accountId), findHomeWorkspaceId(tx, found.accountId)])
    : []
  // Nothing is stored about a stranger. Only the nonce of a wallet's message is used up.
  const stranger = row ? null : await signUpRefusal(tx, config, proof)
  if (stranger) throw new CommitThenThrow(stranger)
  const refusal = row && statusRefusal(row.status, found?.identity !== null)
  if (refusal) return commitRefusal(tx, actorOf(row.id), provider, refusal)
  const { accountId, workspaceId } =
    row && homeWorkspaceId
      ? { accountId: row.id, workspaceId: homeWorkspaceId }
      : createAccount(tx, config, { email: proof.emailVerified ? proof.email : null, displayName: proof.displayName })
  const actor = actorOf(accountId)
  // A new account needs no lock, because no other transaction knows it yet.
  if (!found) recordLocked(tx, [accountId])
  else if (!found.identity) await requireBelowBound(tx, 'identities', accountId)
  const identity = found?.identity
    ? recordProof(tx, found.identity, proof)
    : attachIdentity(tx, actor, { proof, ...noOrigin, ...found, accountId })
  const browserHash = sha256(browserCookie)
  let isAdmin = false
  if (found) {
    const [isKnown, administrators] = await Promise.all([
      isKnownBrowser(tx, accountId, browserHash, origin.userAgent),
      administratorsAmong(tx, [accountId], config.ADMIN_ACCOUNTS),
      recomputeAccountEmail(tx, accountId),
      endLongestIdleSession(tx, config, actor, accountId),
    ])
    isAdmin = administrators.has(accountId)
    if (!found.identity) mailNewMethod(tx, identity)
    if (!isKnown) mailNewBrowser(tx, accountId, origin)
  }
  const session = createSession(tx, config, { ...actor, accountId, workspaceId, identityId: identity.id, browserHash, isAdmin })
  // Reads the account with the commit, in its state after the sign-in.
  const account = readAccount(tx, accountId)
  tx.defer(account)
  return { outcome: found ? ('signed_in' as const) : ('account_created' as const), account, session }
}

/** Does not repeat a sign-in that may have been committed without an answer: the person signs in again. */
export const signIn = async (deps: Pick<Parts, 'config' | 'db' | 'lastUsed'>, attempt: SignInAttempt) => {
  // A session begins in the workspace that was used last, so pending last-used times are written first.
  await deps.lastUsed.flush()
  const { account, ...signedIn } = await inTx(deps.db, (tx) => signInOnce(tx, deps.config, attempt))
  return { ...signedIn, account: await account }
}

export const linkWallet = async (tx: Tx, config: Config, principal: Principal, verdict: WalletAttempt['verdict']) =>
  verdict instanceof Refusal
    ? commitRefusal(tx, principal, 'wallet', verdict)
    : linkIdentity(tx, config, principal, { ...principal, provesSession: true }, verdict)
