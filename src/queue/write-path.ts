import type { Logger } from 'pino'
import type { Principal } from '../auth/principal.ts'
import { lockBatch, neverWait, WouldWait } from '../db/account-lock.ts'
import { type Database, inTx, NeedsTurn, type Tx } from '../db/client.ts'
import { CommitThenThrow, Refusal } from '../lib/errors.ts'
import type { Uuid } from '../lib/ids.ts'
import { apart, contended, createAccountQueue, type Outcome } from './account-queue.ts'
import { answerKeys, type Keys, type Once, openKeys, type StoredAnswer } from './idempotency-keys.ts'
import type { RecordAnswer } from './record-keys.ts'
import { type Related, runsOf, unrelated, watched } from './side-by-side.ts'

/**
 * The one way in which a caller changes something: begin → lock → key → caller → decide → write → event, audit, answer → commit. One write and a
 * batch of 64 go the same way, so each of these rules stands here once:
 *
 * - The locks of all accounts come first, in one statement. Everything that can stop a write is changed under one of them.
 * - The caller is read again behind the locks: after an acknowledged freeze, logout or revocation nothing passes. It is read once more if an
 *   earlier write of its batch may have changed what it may do: what such a write ended has ended for those behind it.
 * - A key that was used gets its first answer, also when both requests are in one batch, and also while the caller's workspace, account or
 *   grant is frozen: only what is new needs standing. With another body it is a conflict.
 * - A write that is refused before it has written anything concerns no other write of its batch. One that is refused later undoes the batch, and
 *   the queue does its halves again.
 * - Effect, event, audit and the key with its answer commit together.
 *
 * What is read with the locks is sent with them and sees what their former holders committed: a batch that reads everything in `read` and
 * defers its writes takes two round trips. Nothing here knows HTTP: an answer is whatever the key is to repeat.
 */
export type WriteRequest<Caller = Principal | null> = Related & {
  once: Once | null
  /** The caller as it is now; throws a Refusal if it would be refused now. */
  reauthenticate: (tx: Tx) => Promise<Caller>
  /** Its caller has a grant: a key, a token of an agent. */
  hasGrant?: boolean | undefined
  /** Throws a Refusal if the caller may do nothing new now: a freeze. */
  admit?: (caller: Caller) => void
}

export type Act<Request, Caller, State, Answer> = {
  keys: Keys<Answer, Caller>
  /** What a later request with the key gets: the answer without secrets that are shown once. */
  again: (answer: Answer) => Answer
  read: (tx: Tx) => Promise<State>
  /**
   * Called for one write after the other. A refusal that it returns concerns this write alone, which must not have written anything. One that it
   * throws undoes the whole batch, but a `CommitThenThrow` commits with it.
   */
  decide: (tx: Tx, state: State, request: Request, caller: Caller, index: number) => Answer | Refusal | Promise<Answer | Refusal>
  /** Writes what was decided. */
  write: (tx: Tx, state: State) => Promise<void>
}

export type Answered<Answer> = { answer: Answer; replayed: boolean }

const refusalOf = (error: unknown): Refusal => {
  if (error instanceof Refusal) return error
  throw error
}

const refusedBy = (check: () => void): Refusal | undefined => {
  try {
    check()
    return undefined
  } catch (error) {
    return refusalOf(error)
  }
}

/** What one waits for, all wait for together. All of them end before the transaction does, also when one fails. */
const allOf = async <Value>(all: readonly Promise<Value>[]): Promise<Value[]> => {
  const values: Value[] = []
  for (const one of await Promise.allSettled(all)) {
    if (one.status === 'rejected') throw one.reason
    values.push(one.value)
  }
  return values
}

export const writeAll = async <Request extends WriteRequest<Caller>, Caller, State, Answer>(
  tx: Tx,
  requests: readonly Request[],
  wait: boolean,
  act: Act<Request, Caller, State, Answer>,
): Promise<Outcome<Answered<Answer>>[]> => {
  const locks = {
    exclusive: requests.flatMap((request) => request.locks.exclusive),
    shared: requests.flatMap((request) => request.locks.shared ?? []),
  }
  const onces = requests.flatMap(({ once }) => once ?? [])
  const [lockedElsewhere, before, callers, state] = await Promise.all([
    lockBatch(tx, locks, wait),
    act.keys.read(tx, onces),
    Promise.all(requests.map((request) => request.reauthenticate(tx).catch(refusalOf))),
    act.read(tx),
  ])
  const keys = openKeys(act.keys, before, tx.remembered)

  const outcomeOf = async (tx: Tx, request: Request, index: number): Promise<Outcome<Answered<Answer>> | NeedsTurn> => {
    const { exclusive, shared = [] } = request.locks
    if ([...exclusive, ...shared].some((account) => lockedElsewhere.has(account))) return contended
    const caller = callers[index] as Caller | Refusal
    if (caller instanceof Refusal) return caller
    const first = keys.find(request.once, caller, tx.at)
    if (first !== undefined) return first instanceof Refusal ? first : { answer: first, replayed: true }
    const refused = refusedBy(() => request.admit?.(caller))
    if (refused) return refused
    try {
      const answer = await act.decide(tx, state, request, caller, index)
      if (answer instanceof Refusal) return answer
      keys.use(request.once, act.again(answer))
      return { answer, replayed: false }
    } catch (error) {
      if (error instanceof CommitThenThrow) return error.error
      if (error instanceof NeedsTurn) return error
      throw error
    }
  }

  const outcomes: Outcome<Answered<Answer>>[] = []
  const groups = unrelated(requests).map((places) => runsOf(requests, places))
  const lines = tx.lines()
  const hasLines = groups.length > 1 || groups.some((runs) => runs.some(({ length }) => length > 1))
  const inTurn = async (runs: readonly (readonly number[])[]): Promise<void> => {
    const stale = { people: false, grants: false }
    let line = hasLines ? lines.line() : tx
    const decided = async (tx: Tx, index: number): Promise<boolean> => {
      const request = requests[index] as Request
      if (request.hasGrant === false ? stale.people : stale.grants)
        callers[index] = await request.reauthenticate(tx).catch(refusalOf)
      const outcome = await outcomeOf(tx, request, index)
      if (outcome instanceof NeedsTurn) return false
      outcomes[index] = outcome
      return true
    }
    for (const run of runs) {
      let left = run
      if (run.length > 1) {
        const own = run.map(() => lines.line({ behind: [line], amongOthers: true }))
        const isDone = await allOf(own.map((tx, place) => decided(tx, run[place] as number)))
        left = run.filter((_, place) => !isDone[place])
        line = lines.line({ behind: own })
      }
      for (const index of left) if (!(await decided(line, index))) throw new Error('a write that is in its turn asks for it')
      const takes = run.map((index) => (requests[index] as Request).takesFrom)
      stale.grants ||= takes.some((from) => from !== 'nobody')
      stale.people ||= takes.includes(undefined)
    }
  }
  await allOf(groups.map(inTurn))
  lines.flush()
  await act.write(tx, state)
  tx.defer(keys.keep(tx))
  return outcomes
}

/** `secret`: top-level fields of the text that are shown once and never stored. */
export type SingleAnswer = StoredAnswer & { secret?: readonly string[] }

/** A write that does its own reading and writing, under its locks. */
export type SingleWrite = WriteRequest & { work: (tx: Tx) => Promise<SingleAnswer> }

const withoutSecrets = ({ status, text, secret }: SingleAnswer): SingleAnswer => {
  if (!secret) return { status, text }
  const value = JSON.parse(text) as Record<string, unknown>
  return { status, text: JSON.stringify(Object.fromEntries(Object.entries(value).filter(([name]) => !secret.includes(name)))) }
}

const nothing = async () => undefined

/** The outcome of a batch of one that waited for its locks. */
const onlyAnswer = <Answer>([outcome]: readonly Outcome<Answered<Answer>>[]): Answered<Answer> => {
  if (outcome instanceof Error) throw outcome
  if (!outcome || typeof outcome === 'symbol') throw new Error('a write that waits for its locks has no outcome')
  return outcome
}

type SingleOf<Caller, Answer> = WriteRequest<Caller> & { work: (tx: Tx) => Promise<Answer> }

/** A refusal, or the need for a batch of its own, concerns others only if the work has written something already. */
const doWork = async <Caller, Answer>(shared: Tx, { work }: SingleOf<Caller, Answer>): Promise<Answer | Refusal> => {
  const { tx, hasWritten } = watched(shared)
  try {
    return await work(tx)
  } catch (error) {
    if (error instanceof Refusal && !hasWritten()) return error
    if (error instanceof NeedsTurn && hasWritten()) throw new Error('a write that has begun asks for its turn')
    throw error
  }
}

const doSingles = <Caller, Answer extends object>(
  tx: Tx,
  keys: Keys<Answer, Caller>,
  again: (answer: Answer) => Answer,
  requests: readonly SingleOf<Caller, Answer>[],
  wait: boolean,
) => {
  if (!wait) neverWait(tx)
  return writeAll<SingleOf<Caller, Answer>, Caller, undefined, Answer>(tx, requests, wait, {
    keys,
    again,
    read: nothing,
    decide: (tx, _, request) => doWork(tx, request),
    write: nothing,
  })
}

/** Writes of single records, in one transaction. */
export const writeSingles = (tx: Tx, requests: readonly SingleWrite[], wait: boolean) =>
  doSingles(tx, answerKeys, withoutSecrets, requests, wait)

/** One write in a transaction of its own, which waits for its locks: for one that has no account yet, as a sign-in. */
export const writeAlone = async (db: Database, request: SingleWrite): Promise<Answered<SingleAnswer>> =>
  onlyAnswer(await inTx(db, (tx) => writeSingles(tx, [request], true)))

/** A write of a record that moves money: its key is kept on the record. */
type RecordWrite = SingleOf<Principal, RecordAnswer>

const same = <Answer>(answer: Answer): Answer => answer

type Submit<Request, Answer> = (account: Uuid, request: Request) => Promise<Answered<Answer>>

/** An entry that would wait for a further account goes alone; its batch, if it has written something for it, is done again without it. */
const orApart = async <Answer>(count: number, batch: Promise<Outcome<Answer>[]>): Promise<Outcome<Answer>[]> => {
  try {
    return await batch
  } catch (error) {
    if (count === 1 && error instanceof WouldWait) return [apart]
    throw error
  }
}

const queueOf = <Request, Answer>(
  name: string,
  logger: Pick<Logger, 'warn'>,
  db: Database,
  write: (tx: Tx, requests: readonly Request[], wait: boolean) => Promise<Outcome<Answered<Answer>>[]>,
): Submit<Request, Answer> => {
  const queue = createAccountQueue<Request, Answered<Answer>>({
    name,
    logger,
    work: (requests, wait) =>
      orApart(
        requests.length,
        inTx(db, (tx) => write(tx, requests, wait)),
      ),
    mostShared: 2,
    mostWaiting: 4,
    mostQueued: 2_000,
  })
  return (account, request) => queue.submit(account, request)
}

/** Writes of single records that wait together share a transaction. */
export const createSinglesQueue = (logger: Pick<Logger, 'warn'>, db: Database): Submit<SingleWrite, SingleAnswer> =>
  queueOf('writes', logger, db, writeSingles)

/** The same for records of one kind that move money. */
export const createRecordsQueue = (
  name: string,
  keys: Keys<RecordAnswer, Principal>,
  logger: Pick<Logger, 'warn'>,
  db: Database,
): Submit<RecordWrite, RecordAnswer> =>
  queueOf(name, logger, db, (tx, requests, wait) => doSingles(tx, keys, same, requests, wait))
