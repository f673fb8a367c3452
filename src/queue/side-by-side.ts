import type { AccountLocks } from '../db/account-lock.ts'
import type { Joint, Statement, Tx } from '../db/client.ts'
import type { Gathered } from '../db/gather.ts'
import type { Prepared } from '../db/prepare.ts'
import type { Once } from './idempotency-keys.ts'

/** What a write changes of its account: a record by its name, in a way that commutes with others of the kind. */
export type Changes = { kind: string; name: string }

/** Whom a write may leave with less than it found: those who have a grant, where it changes grants. */
export type TakesFrom = 'nobody' | 'grants'

export type Related = {
  locks: AccountLocks
  once: Pick<Once, 'scope'> | null
  /**
   * Nothing but its accounts' locks keeps it apart from other writes, no lock of a row, and no other lock: it is decided side by side with those
   * of other accounts. Within one transaction other locks exclude nobody.
   */
  sideBySide?: boolean
  /** Only those of whom it may take something are read again behind it in its batch: everybody, where nothing is said. */
  takesFrom?: TakesFrom | undefined
  /**
   * Of a write that takes from nobody (without effect on any other): those of one kind that change different records of an account are decided side by side too. None of them
   * may change what another is decided from; one that would has its turn behind them (`requireTurn`).
   */
  changes?: Changes | undefined
}

const keyOf = ({ once }: Pick<Related, 'once'>): string[] => (once ? [once.scope.toString('hex')] : [])

const namesOf = (request: Related): string[] => [
  ...(request.sideBySide ? [] : ['in turn']),
  ...request.locks.exclusive,
  ...(request.locks.shared ?? []),
  ...keyOf(request),
]

/** The places of the requests, in groups that share no account and no key; one group of all that cannot be decided side by side. */
export const unrelated = (requests: readonly Related[]): number[][] => {
  if (!requests.some(({ sideBySide }) => sideBySide)) return [requests.map((_, place) => place)]
  type Group = { names: string[]; places: number[] }
  const groupOf = new Map<string, Group>()
  for (const [place, request] of requests.entries()) {
    const names = namesOf(request)
    const joined = [...new Set(names.flatMap((name) => groupOf.get(name) ?? []))]
    const group = {
      names: [...joined.flatMap((one) => one.names), ...names],
      places: [...joined.flatMap(({ places }) => places), place],
    }
    for (const name of group.names) groupOf.set(name, group)
  }
  return [...new Set(groupOf.values())].map(({ places }) => places.sort((one, other) => one - other))
}

/** The places of one group, in their order: those in succession whose writes are decided side by side are together. */
export const runsOf = (requests: readonly Related[], places: readonly number[]): number[][] => {
  type Run = { kind: string | undefined; names: Set<string>; places: number[] }
  const runs: Run[] = []
  for (const place of places) {
    const request = requests[place] as Related
    const changes = request.takesFrom === 'nobody' ? request.changes : undefined
    const names = changes ? [changes.name, ...keyOf(request)] : []
    const last = runs.at(-1)
    if (last && changes && last.kind === changes.kind && !names.some((name) => last.names.has(name))) {
      last.places.push(place)
      for (const name of names) last.names.add(name)
    } else runs.push({ kind: changes?.kind, names: new Set(names), places: [place] })
  }
  return runs.map((run) => run.places)
}

/** Whether a text only reads; `for update` locks, and undoes nothing that counts. */
const onlyReads = (text: string): boolean =>
  !/\b(insert|update|delete|merge)\b/i.test(text.replaceAll(/\bfor\s+(no\s+key\s+)?update\b/gi, ''))

const known = new Map<string, boolean>()
const reads = (query: Statement | string): boolean => {
  if (typeof query === 'string') return onlyReads(query)
  const before = known.get(query.name)
  if (before !== undefined) return before
  const answer = onlyReads(query.text)
  known.set(query.name, answer)
  return answer
}

type WatchedTx = { tx: Tx; hasWritten: () => boolean }

/** The transaction for one of several writes that share it: tells whether this one has written anything yet. */
export const watched = (shared: Tx): WatchedTx => {
  let written = false
  // Everything else is the shared transaction's own, its instant and its locks included.
  const tx: Tx = Object.create(shared, {
    run: {
      value: <V, Row>(query: Prepared<V, Row>, values: V) => {
        written ||= query.writes
        return shared.run(query, values)
      },
    },
    query: {
      value: (query: Statement | string, values?: readonly unknown[]) => {
        written ||= !reads(query)
        return shared.query(query, values)
      },
    },
    join: {
      value: <Key, Value>(joint: Joint<Key, Value>, key: Key) => {
        written ||= joint.writes
        return shared.join(joint, key)
      },
    },
    gather: {
      value: <Row>(kind: Gathered<Row>, rows: readonly Row[]) => {
        written ||= rows.length > 0
        shared.gather(kind, rows)
      },
    },
  })
  return { tx, hasWritten: () => written }
}
