import { type Db, isTx, type Joint, statement } from './client.ts'
import { joinTurn } from './join-turn.ts'
import { plainList } from './lists.ts'
import type { Lane } from './statement.ts'

type ReadMany<Key, Value> = Joint<Key, Value>['ask']

/** As many as a batch of payments reads at once. */
const mostTogether = 64
/** Of statements that may read a thousand rows for each key. */
const mostReadTogether = 16

/**
 * A reader of one by a reader of many: outside of transactions, what requests ask for in one turn of the event loop, or while others are read, is
 * read together; in one, what its lines ask for at the same time. For statements that cost much before their first row. Each value is read after it was asked for.
 */
export const together = <Key, Value>(read: ReadMany<Key, Value>, most = mostTogether): ((db: Db, key: Key) => Promise<Value>) => {
  const joined = new WeakMap<Db, (key: Key) => Promise<Value>>()
  const joinedBy = (db: Db) => {
    const known = joined.get(db)
    if (known) return known
    const made = joinTurn<Key, Value>({ query: (keys) => read(db, keys), inFlight: 2, maxKeys: most })
    joined.set(db, made)
    return made
  }
  const joint: Joint<Key, Value> = { writes: false, ask: read }
  return (db, key) => (isTx(db) ? db.join(joint, key) : joinedBy(db)(key))
}

/** The type of each part of a key in SQL. */
type KeyTypes = Readonly<Record<string, 'uuid' | 'date' | 'timestamptz'>>
type KeyOf<T extends KeyTypes> = { readonly [Name in keyof T]: string | Date | null }

const textOf = (part: string | Date | null): string | null => (part instanceof Date ? part.toISOString() : part)

/**
 * SQL text that answers one key, which is asked for in one turn of the event loop for several keys, as `together`. The text names the parts of its
 * key `key.…`, and reads a bounded number of rows: what is read together waits for the slowest of it.
 */
export const readTogether = <Row extends object, const T extends KeyTypes>(
  name: string,
  types: T,
  text: string,
  lane: Lane,
): ((db: Db, key: KeyOf<T>) => Promise<Row[]>) => {
  const names = Object.keys(types)
  const lists = Object.values(types).map((type, at) => `$${at + 1}::${type}[]`)
  const query = statement(
    name,
    `select key.n::int as "keyNumber", r.* from unnest(${lists.join(', ')}) with ordinality as key(${[...names, 'n'].join(', ')})
     cross join lateral (${text}) as r`,
    lane,
  )
  return together(async (db, keys: readonly KeyOf<T>[]) => {
    const rows = await db.query<Row & { keyNumber: number }>(
      query,
      names.map((part) => plainList(keys.map((key) => textOf(key[part] ?? null)))),
    )
    const groups: Row[][] = keys.map(() => [])
    for (const row of rows) groups[row.keyNumber - 1]?.push(row)
    return groups
  }, mostReadTogether)
}
