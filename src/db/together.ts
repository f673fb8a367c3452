import type { Db } from './client.ts'
import { inTransaction } from './client.ts'
import { joinTurn } from './join-turn.ts'

type ReadMany<Key, Value> = (db: Db, keys: readonly Key[]) => Promise<readonly Value[]>

/** As many as a batch of payments reads at once. */
const mostTogether = 64

/**
 * A reader of one by a reader of many: outside of transactions, what requests ask for in one turn of the event loop, or while others are read, is
 * read together. For statements that cost much before their first row. Each value is read after it was asked for.
 */
export const together = <Key, Value>(read: ReadMany<Key, Value>): ((db: Db, key: Key) => Promise<Value>) => {
  const joined = new WeakMap<Db, (key: Key) => Promise<Value>>()
  const joinedBy = (db: Db) => {
    const known = joined.get(db)
    if (known) return known
    const made = joinTurn<Key, Value>({ query: (keys) => read(db, keys), inFlight: 2, maxKeys: mostTogether })
    joined.set(db, made)
    return made
  }
  return async (db, key) => {
    if (!(inTransaction in db)) return joinedBy(db)(key)
    const [value] = await read(db, [key])
    return value as Value
  }
}
