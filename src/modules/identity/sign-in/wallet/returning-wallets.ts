import type { RequestOrigin } from '../../../../auth/principal.ts'
import { noteLocked, tryAccountLock } from '../../../../db/account-lock.ts'
import { inTx, statement, type Tx } from '../../../../db/client.ts'
import { emailKeySql } from '../../../../db/email-key.ts'
import { describeError } from '../../../../db/errors.ts'
import { joinTurn } from '../../../../db/join-turn.ts'
import { plainList } from '../../../../db/lists.ts'
import { Refusal } from '../../../../lib/errors.ts'
import type { Uuid } from '../../../../lib/ids.ts'
import { homeWorkspace } from '../../../workspaces/queries.ts'
import type { Account } from '../../accounts/schema.ts'
import { readAccounts } from '../../accounts/service.ts'
import type { Deps } from '../../deps.ts'
import { tryWalletLock } from '../../identities/lock.ts'
import type { IdentityProof } from '../../identities/proof.ts'
import { statusRefusal } from '../../identities/service.ts'
import { createSessions, type NewSession } from '../../sessions/service.ts'
import { burnNonces, type SignInNonce } from './nonces.ts'
import { badNonce, type WalletAttempt } from './wallet.ts'

/**
 * Waits for nobody. The account's lock guards its status and the order of its events, and is taken before the transaction's first write; the
 * wallet's keeps its identity from being linked, detached or moved. In the select list: a condition could be evaluated for rows that are
 * not the result's, and lock their accounts.
 */
const lockFree = statement(
  'sign_in.lock_free_wallets',
  `select account_id, subject_key, case when ${tryWalletLock('subject_key')} then ${tryAccountLock('account_id')} else false end as taken
   from identities where provider = 'wallet' and issuer = 'eip155' and subject_key = any($1::text[])`,
)
/** `settled`: the account's e-mail is what `recomputeAccountEmail` would leave. A wallet verifies none, so its sign-in changes nothing there. */
const readWallets = statement(
  'sign_in.read_wallets',
  `select i.id, i.account_id, i.subject_key, a.status, ${homeWorkspace('a.id')} as workspace_id,
     case when a.email is null then not exists (select from identities v where v.account_id = a.id and v.email_verified and v.email is not null)
       else exists (select from identities v where v.account_id = a.id and v.email_verified and ${emailKeySql('v.email')} = ${emailKeySql('a.email')})
     end as settled
   from identities i join accounts a on a.id = i.account_id
   where i.provider = 'wallet' and i.issuer = 'eip155' and i.subject_key = any($1::text[])`,
)
const touch = statement('identities.touch', 'update identities set last_used_at = $2 where id = any($1::uuid[])')

type Known = { account_id: Uuid; subject_key: string }
type Wallet = Known & { id: Uuid; status: string; workspace_id: Uuid | null; settled: boolean }

export type Request = { nonce: SignInNonce; proof: IdentityProof; origin: RequestOrigin }
export type Returned = { outcome: 'signed_in'; account: Account; session: NewSession }

/** Signed in; or the nonce was used up and the rest is still to be done; or nothing was done. */
export type WalletSignIn = Returned | WalletAttempt | undefined

type SignInDeps = Pick<Deps, 'appendEvents' | 'clock' | 'config' | 'db' | 'lastUsed' | 'logger'>

/** The wallets whose locks this transaction has taken, as they stand behind the locks, and that may sign in. */
const lockWallets = async (
  tx: Tx,
  requests: readonly Request[],
): Promise<{ unused: Set<string>; known: Map<string, Wallet> }> => {
  const keys = plainList([...new Set(requests.map(({ proof }) => proof.subjectKey))])
  const nonces = requests.map(({ nonce }) => nonce)
  // In this order and in one trip: the locks, how it stands behind them, and the first write.
  const [tried, wallets, unused] = await Promise.all([
    tx.query<Known & { taken: boolean }>(lockFree, [keys]),
    tx.query<Wallet>(readWallets, [keys]),
    burnNonces(tx, nonces),
  ])
  const accountOf = new Map(tried.flatMap(({ taken, subject_key, account_id }) => (taken ? [[subject_key, account_id]] : [])))
  noteLocked(tx, [...accountOf.values()])
  const free = wallets.filter(
    ({ subject_key, account_id, status, settled }) =>
      accountOf.get(subject_key) === account_id && statusRefusal(status, true) === null && settled,
  )
  return { unused, known: new Map(free.map((wallet) => [wallet.subject_key, wallet])) }
}

type SigningIn = { request: Request; wallet: Wallet; workspaceId: Uuid }

const write = (tx: Tx, deps: SignInDeps, signing: readonly SigningIn[]) => {
  if (signing.length === 0) return { sessions: [], accounts: Promise.resolve(new Map<Uuid, Account>()) }
  tx.defer(tx.query(touch, [plainList([...new Set(signing.map(({ wallet }) => wallet.id))]), tx.at]))
  const owners = signing.map(({ request: { origin }, wallet, workspaceId }) => ({
    accountId: wallet.account_id,
    workspaceId,
    identityId: wallet.id,
    origin,
    way: 'sign_in:wallet',
  }))
  const sessions = createSessions(tx, deps, owners)
  const accounts = readAccounts(tx, deps, [...new Set(owners.map(({ accountId }) => accountId))])
  tx.defer(accounts)
  return { sessions, accounts }
}

/**
 * Signs wallets in that have an account, in one transaction and two trips. What is not as simple is left to the caller: a first sign-in, an
 * account that may not be signed in to, a wallet or an account that another transaction holds, a nonce that was used before.
 */
const signInTogether = async (deps: SignInDeps, requests: readonly Request[]): Promise<WalletSignIn[]> => {
  // A session begins in the workspace that was used last, so pending "last used" times are written first.
  await deps.lastUsed.flush()
  const done = await inTx(deps.db, async (tx) => {
    const { unused, known } = await lockWallets(tx, requests)
    const signing: SigningIn[] = []
    const attempts: (WalletAttempt | SigningIn)[] = requests.map((request) => {
      if (!unused.delete(request.nonce.nonce)) return { verdict: badNonce(deps) }
      const wallet = known.get(request.proof.subjectKey)
      if (!wallet?.workspace_id) return { verdict: request.proof }
      const one = { request, wallet, workspaceId: wallet.workspace_id }
      signing.push(one)
      return one
    })
    return { signing, attempts, ...write(tx, deps, signing) }
  })
  const accounts = await done.accounts
  return done.attempts.map((attempt): WalletSignIn => {
    if ('verdict' in attempt) return attempt
    const session = done.sessions[done.signing.indexOf(attempt)]
    const account = accounts.get(attempt.wallet.account_id)
    if (!session || !account) throw new Error('a sign-in has no result')
    return { outcome: 'signed_in', account, session }
  })
}

/** Sign-ins of one turn of the event loop, or that arrive while others are under way, are answered together. */
export const createReturningWallets = (deps: SignInDeps): ((request: Request) => Promise<WalletSignIn>) =>
  joinTurn<Request, WalletSignIn>({
    inFlight: 2,
    maxKeys: 32,
    query: (requests) =>
      signInTogether(deps, requests).catch((error: unknown) => {
        // Whether it was committed may be unknown: the wallet signs again, with another nonce.
        if (error instanceof Refusal) throw error
        deps.logger.warn({ requests: requests.length, ...describeError(error) }, 'wallets sign in one by one')
        return requests.map(() => undefined)
      }),
  })
