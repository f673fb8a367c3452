import type { Principal } from '../auth/principal.ts'
import { type AccountLocks, lockAccounts, lockGroup } from '../db/account-lock.ts'
import { type Database, inTx, type Tx } from '../db/client.ts'
import { CommitThenThrow, catchRefusal, Refusal } from '../lib/errors.ts'
import { contended, type Outcome } from './account-queue.ts'
import { type Keys, type KeyUse, type OpenKeys, openKeys, type SingleAnswer } from './idempotency-keys.ts'

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

/** Answers one request under the locks. A refusal that `work` returns affects only this request. */
const answer = async <Caller, Answer>(
  tx: Tx,
  keys: OpenKeys<Answer, Caller>,
  { once, admit }: Pick<WriteRequest<Caller>, 'once' | 'admit'>,
  caller: Caller,
  work: (tx: Tx) => Answer | Refusal | Promise<Answer | Refusal>,
): Promise<Answered<Answer> | Refusal> => {
  const firstAnswer = keys.find(once, caller, tx.at)
  if (firstAnswer !== undefined) return firstAnswer instanceof Refusal ? firstAnswer : { answer: firstAnswer, replayed: true }
  const refused = catchRefusal(() => admit?.(caller, tx.at))
  if (refused instanceof Refusal) return refused
  const answered = await work(tx)
  if (answered instanceof Refusal) return answered
  keys.use(once, answered)
  return { answer: answered, replayed: false }
}

export const writeAll = async <Request extends WriteRequest<Caller>, Caller, State, Answer>(
  tx: Tx,
  requests: readonly Request[],
  wait: boolean,
  group: GroupWrite<Request, Caller, State, Answer>,
): Promise<Outcome<Answered<Answer>>[]> => {
  const locks = {
    exclusive: requests.flatMap((request) => request.locks.exclusive),
    shared: requests.flatMap((request) => request.locks.shared ?? []),
  }
  const uses = requests.flatMap(({ once }) => once ?? [])
  const [lockedElsewhere, usedKeys, callers, state] = await Promise.all([
    lockGroup(tx, locks, wait),
    group.keys.read(tx, uses),
    Promise.all(requests.map(async (request) => ({ request, caller: await request.reauthenticate(tx).catch(refusalOf) }))),
    group.read(tx),
  ])
  const keys = openKeys(group.keys, usedKeys, tx.recoveryPoint)

  const outcomes: Outcome<Answered<Answer>>[] = []
  for (const [index, { request, caller }] of callers.entries()) {
    const { exclusive, shared = [] } = request.locks
    if ([...exclusive, ...shared].some((account) => lockedElsewhere.has(account))) outcomes.push(contended)
    else if (caller instanceof Refusal) outcomes.push(caller)
    else
      try {
        outcomes.push(await answer(tx, keys, request, caller, () => group.decide(tx, state, request, caller, index)))
      } catch (error) {
        if (!(error instanceof CommitThenThrow)) throw error
        outcomes.push(error.error)
      }
  }
  await group.write(tx, state)
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
  write: SingleWrite<Caller, Answer>,
): Promise<Answered<Answer>> =>
  inTx(db, async (tx) => {
    const [, usedKeys, caller] = await Promise.all([
      lockAccounts(tx, write.locks),
      keys.read(tx, write.once ? [write.once] : []),
      write.reauthenticate(tx),
    ])
    const opened = openKeys(keys, usedKeys, tx.recoveryPoint)
    const outcome = await answer<Caller, Answer>(tx, opened, write, caller, () => write.work(tx))
    if (outcome instanceof Refusal) throw outcome
    tx.defer(opened.keep(tx))
    return outcome
  })
