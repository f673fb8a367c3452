import { inTx, type Tx } from '../../../db/client.ts'
import { Refusal } from '../../../lib/errors.ts'
import { apart, contended, createAccountQueue, type Outcome } from '../../../queue/account-queue.ts'
import type { Account } from '../accounts/schema.ts'
import { readAccounts } from '../accounts/service.ts'
import type { Deps } from '../deps.ts'
import { identityName } from '../identities/lock.ts'
import { type Arrival, type SignedIn, signInAll } from './sign-in-all.ts'

export type SignedInAccount = SignedIn & { account: Account }

export type SignIn = (arrival: Arrival) => Promise<SignedInAccount>

type SignInDeps = Pick<Deps, 'appendEvents' | 'clock' | 'config' | 'db' | 'lastUsed' | 'logger'>

/** `arrival` changes when its nonce was used up and the rest is still to be done. */
type Entry = { arrival: Arrival }

const isDone = (outcome: Outcome<SignedIn>): outcome is SignedIn => !(outcome instanceof Error) && typeof outcome !== 'symbol'

/** With the accounts as they stand behind the sign-ins. They are read with the commit. */
const signInAndRead = async (tx: Tx, deps: SignInDeps, arrivals: readonly Arrival[], wait: boolean) => {
  const outcomes = await signInAll(tx, deps, arrivals, wait)
  const signedIn = [...new Set(outcomes.filter(isDone).map(({ accountId }) => accountId))]
  const accounts = signedIn.length === 0 ? Promise.resolve(new Map()) : readAccounts(tx, deps, signedIn)
  tx.defer(accounts)
  return { outcomes, accounts }
}

const signInBatch = async (deps: SignInDeps, entries: readonly Entry[], wait: boolean): Promise<Outcome<SignedInAccount>[]> => {
  // A session begins in the workspace that was used last, so pending "last used" times are written first.
  await deps.lastUsed.flush()
  const arrivals = entries.map(({ arrival }) => arrival)
  const { outcomes, accounts } = await inTx(deps.db, (tx) => signInAndRead(tx, deps, arrivals, wait))
  // Committed: what comes back to the queue has used its own nonce, and must not find it used.
  for (const [place, entry] of entries.entries())
    if (outcomes[place] === contended || outcomes[place] === apart) entry.arrival = { ...entry.arrival, nonce: null }
  const shown = await accounts
  return outcomes.map((outcome) => {
    if (!isDone(outcome)) return outcome
    const account = shown.get(outcome.accountId)
    return account ? { ...outcome, account } : new Error('a sign-in has no account')
  })
}

/** One line for each identity. What proves nothing has a line of its own: its audit row concerns nobody else. */
const lineOf = ({ verdict, nonce, origin }: Arrival): string =>
  verdict instanceof Refusal ? `refused:${nonce?.nonce ?? origin.requestId}` : identityName(verdict)

/**
 * Sign-ins wait in a queue of identities: one that arrives alone is done at once, those that arrive while others are under way are done in one
 * transaction. Where it may have been committed without an answer, the person signs in again.
 */
export const createSignIn = (deps: SignInDeps): SignIn => {
  const queue = createAccountQueue<Entry, SignedInAccount>({
    name: 'sign-ins',
    logger: deps.logger,
    work: (entries, wait) => signInBatch(deps, entries, wait),
    mostShared: 2,
    mostWaiting: 4,
    mostQueued: 2_000,
  })
  return (arrival) => queue.submit(lineOf(arrival), { arrival })
}
