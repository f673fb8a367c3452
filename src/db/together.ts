import { makePgArray } from 'drizzle-orm/pg-core'
import { only } from '../lib/lists.ts'
import { type Db, isTx, statement } from './client.ts'
import { joinTurn } from './join-turn.ts'
import type { Lane } from './statement.ts'

type ReadMany<Key, Value> = (db: Db, keys: readonly Key[]) => Promise<readonly Value[]>

/** As many as a batch of payments reads at once. */
const mostTogether = 64
/** Of statements that may read a thousand rows for each key. */
const mostReadTogether = 16

/**
 * A reader of one by a reader of many, for statements that cost much before their first row: outside of transactions, what requests ask for in one
 * turn of the event loop, or while others are read, is read together. Each value is read after it was asked for. `inTx`: what a transaction asks for
 * in one run of code is read together too, behind the statements that it has issued before.
 */
export const together = <Key, Value>(
  read: ReadMany<Key, Value>,
  most = mostTogether,
  inTx = false,
): ((db: Db, key: Key) => Promise<Value>) => {
  const joined = new WeakMap<Db, (key: Key) => Promise<Value>>()
  return async (db, key) => {
    if (isTx(db) && !inTx) return only(await read(db, [key]))
    const until = isTx(db) ? 'flush' : 'turn'
    const known = joined.get(db) ?? joinTurn<Key, Value>({ query: (keys) => read(db, keys), inFlight: 2, maxKeys: most, until })
    joined.set(db, known)
    return known(key)
  }
}

type SqlType = 'uuid' | 'date' | 'timestamptz' | 'text' | 'int' | 'bigint' | 'xid8' | 'uuid[]' | 'text[]'
/** The type of each part of a key in SQL. */
type KeyTypes = Readonly<Record<string, SqlType>>
type Part = string | number | bigint | Date | null | readonly string[]
type KeyOf<T extends KeyTypes> = { readonly [Name in keyof T]: Part }

const isList = (type: SqlType): boolean => type.endsWith('[]')

/** A list is sent as its text: a list of lists of several lengths is no array. */
const sentAs = (part: Part): unknown => (Array.isArray(part) ? makePgArray(part) : part)

/**
 * SQL text that answers one key, which is asked for in one turn of the event loop for several keys, as `together`. The text names the parts of its
 * key `key.…`, and reads a bounded number of rows: what is read together waits for the slowest of it.
 */
export const readTogether = <Row extends object, const T extends KeyTypes>(
  name: string,
  types: T,
  text: string,
  lane: Lane,
  { most = mostReadTogether, inTx = false }: { most?: number; inTx?: boolean } = {},
): ((db: Db, key: KeyOf<T>) => Promise<Row[]>) => {
  const names = Object.keys(types)
  const keys = Object.values(types).map((type, at) => `$${at + 1}::${isList(type) ? 'text' : type}[]`)
  const parts = [...names, 'n'].map((part) =>
    types[part] && isList(types[part]) ? `sent.${part}::${types[part]} as ${part}` : `sent.${part}`,
  )
  const unpacked = `cross join lateral (select ${parts.join(', ')} offset 0) as key`
  const hasLists = Object.values(types).some(isList)
  const query = statement(
    name,
    `select key.n::int as "keyNumber", r.* from unnest(${keys.join(', ')}) with ordinality as ${hasLists ? 'sent' : 'key'}(${[...names, 'n'].join(', ')})
     ${hasLists ? unpacked : ''} cross join lateral (${text}) as r`,
    lane,
  )
  return together(
    async (db, keys: readonly KeyOf<T>[]) => {
      const values = names.map((part) => keys.map((key) => sentAs(key[part] ?? null)))
      const groups: Row[][] = keys.map(() => [])
      for (const { keyNumber, ...row } of await db.query<Record<string, unknown> & { keyNumber: number }>(query, values))
        groups[keyNumber - 1]?.push(row as Row)
      return groups
    },
    most,
    inTx,
  )
}
