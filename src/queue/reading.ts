import type { Joint, Statement, Tx } from '../db/client.ts'
import type { Gathered } from '../db/gather.ts'
import type { Prepared } from '../db/prepare.ts'

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
