import type { Principal } from '../auth/principal.ts'
import { type AccountLocks, lockAccounts, lockGroup } from '../db/account-lock.ts'
import { type Database, inTx, type Tx } from '../db/client.ts'
import { CommitThenThrow, catchRefusal, Refusal } from '../lib/errors.ts'
import { contended, type Outcome } from './account-queue.ts'
import { type Keys, type KeyUse, openKeys, type SingleAnswer } from './idempotency-keys.ts'

/**
 * The only way for a caller to change anything: begin → lock → key → caller → decide → write → event, audit, response → commit.
 * Single writes and groups of payments take the same steps:
 *
 * - One statement first locks all accounts. Everything that can block a write is changed under one of these locks.
 * - The caller is read again under the locks, so that nothing passes after an acknowledged freeze, logout or revocation.
 * - A used key returns its first response, even within one group and while the caller is frozen, because only a new effect
 *   requires an active caller. A used key with another body is a conflict.
 * - A refusal returned by a decision affects only its request. A refusal that is thrown rolls the transaction back.
 *
 * Reads are sent together with the locks and see the commits of previous holders. If a group reads everything in `read` and
 * defers its writes, it takes two round trips. This module does not depend on HTTP.
 */
export type WriteRequest<Caller = Principal | null> = {
  locks: AccountLocks
  once: KeyUse | null
  /** Throws a Refusal if the caller would be refused now. */
  reauthenticate: (tx: Tx) => Promise<Caller>
  /** Throws a Refusal if the caller may not start anything new, because of a freeze or without a fresh proof. */
  admit?: (caller: Caller, at: Date) => void
}

export type GroupWrite<Request, Caller, State, Answer> = {
  keys: Keys<Answer, Caller>
  read: (tx: Tx) => Promise<State>
  /** Decides requests in order. A returned refusal wrote only its audit row. A `CommitThenThrow` commits with the group. */
  decide: (tx: Tx, state: State, request: Request, caller: Caller, index: number) => Answer | Refusal | Promise<Answer | Refusal>
  write: (tx: Tx, state: State) => Promise<void>
}

export type Answered<Answer> = { answer: Answer; replayed: boolean }

const refusalOf = (error: unknown): Refusal => {
  if (error instanceof Refusal) return error
  throw error
}

export const writeAll = async <Request extends WriteRequest<Caller>, Caller, State, Answer>(
  tx: Tx,
  requests: readonly Request[],
  wait: boolean,
  act: GroupWrite<Request, Caller, State, Answer>,
): Promise<Outcome<Answered<Answer>>[]> => {
  const locks = {
    exclusive: requests.flatMap((request) => request.locks.exclusive),
    shared: requests.flatMap((request) => request.locks.shared ?? []),
  }
  const onces = requests.flatMap(({ once }) => once ?? [])
  const [lockedElsewhere, before, callers, state] = await Promise.all([
    lockGroup(tx, locks, wait),
    act.keys.read(tx, onces),
    Promise.all(requests.map((request) => request.reauthenticate(tx).catch(refusalOf))),
    act.read(tx),
  ])
  const keys = openKeys(act.keys, before, tx.recoveryPoint)

  const outcomeOf = async (request: Request, index: number): Promise<Outcome<Answered<Answer>>> => {
    const { exclusive, shared = [] } = request.locks
    if ([...exclusive, ...shared].some((account) => lockedElsewhere.has(account))) return contended
    const caller = callers[index] as Caller | Refusal
    if (caller instanceof Refusal) return caller
    const first = keys.find(request.once, caller, tx.at)
    if (first !== undefined) return first instanceof Refusal ? first : { answer: first, replayed: true }
    const refused = catchRefusal(() => request.admit?.(caller, tx.at))
    if (refused instanceof Refusal) return refused
    try {
      const answer = await act.decide(tx, state, request, caller, index)
      if (answer instanceof Refusal) return answer
      keys.use(request.once, answer)
      return { answer, replayed: false }
    } catch (error) {
      if (error instanceof CommitThenThrow) return error.error
      throw error
    }
  }

  const outcomes: Outcome<Answered<Answer>>[] = []
  for (const [index, request] of requests.entries()) outcomes.push(await outcomeOf(request, index))
  await act.write(tx, state)
  tx.defer(keys.keep(tx))
  return outcomes
}

export type SingleWrite<Caller = Principal | null, Answer = SingleAnswer> = WriteRequest<Caller> & {
  work: (tx: Tx) => Promise<Answer>
}

/** Runs one write in its own transaction, which waits for its locks. */
export const writeOnce = <Caller, Answer>(
  db: Database,
  keys: Keys<Answer, Caller>,
  { locks, once, reauthenticate, admit, work }: SingleWrite<Caller, Answer>,
): Promise<Answered<Answer>> =>
  inTx(db, async (tx) => {
    const [, before, caller] = await Promise.all([lockAccounts(tx, locks), keys.read(tx, once ? [once] : []), reauthenticate(tx)])
    const known = openKeys(keys, before, tx.recoveryPoint)
    const first = known.find(once, caller, tx.at)
    if (first instanceof Refusal) throw first
    if (first !== undefined) return { answer: first, replayed: true }
    admit?.(caller, tx.at)
    const answer = await work(tx)
    known.use(once, answer)
    tx.defer(known.keep(tx))
    return { answer, replayed: false }
  })
