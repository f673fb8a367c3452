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

type SqlType = 'uuid' | 'date' | 'timestamptz' | 'text' | 'int' | 'bigint'
/** The type of each part of a key in SQL. Texts are names and ids: nobody wrote them. */
type KeyTypes = Readonly<Record<string, SqlType>>
type Part = string | number | bigint | Date | null
type KeyOf<T extends KeyTypes> = { readonly [Name in keyof T]: Part }
type Listed<L extends KeyTypes> = { readonly list: readonly KeyOf<L>[] }

const textOf = (part: Part): string | number | bigint | null => (part instanceof Date ? part.toISOString() : part)
const columnOf = <Row extends Readonly<Record<string, unknown>>>(rows: readonly Row[], name: string): string =>
  plainList(rows.map((row) => textOf((row[name] ?? null) as Part)))

/** Stands in the text for the rows of a key's list. */
export const keyList = 'list_of_key'

/**
 * SQL text that answers one key, which is asked for in one turn of the event loop for several keys, as `together`. The text names the parts of its
 * key `key.…`, and reads a bounded number of rows: what is read together waits for the slowest of it. `list`: rows that each
 * key has, which the text reads from `keyList`.
 */
export const readTogether = <Row extends object, const T extends KeyTypes, const L extends KeyTypes = Record<never, never>>(
  name: string,
  types: T,
  text: string,
  lane: Lane,
  list?: L,
): ((db: Db, key: KeyOf<T> & (keyof L extends never ? unknown : Listed<L>)) => Promise<Row[]>) => {
  const names = Object.keys(types)
  const columns = Object.keys(list ?? {})
  const keys = Object.values(types).map((type, at) => `$${at + 1}::${type}[]`)
  const lists = ['int', ...Object.values(list ?? {})].map((type, at) => `$${names.length + at + 1}::${type}[]`)
  const listed = `(select ${columns.join(', ')} from unnest(${lists.join(', ')}) as of_keys(key_number, ${columns.join(', ')}) where of_keys.key_number = key.n)`
  const query = statement(
    name,
    `select key.n::int as "keyNumber", r.* from unnest(${keys.join(', ')}) with ordinality as key(${[...names, 'n'].join(', ')})
     cross join lateral (${text.replaceAll(keyList, listed)}) as r`,
    lane,
  )
  return together(async (db, keys: readonly (KeyOf<T> & Partial<Listed<L>>)[]) => {
    const listRows = keys.flatMap(({ list: rows = [] }, at) => rows.map((row) => ({ ...row, keyNumber: at + 1 })))
    const rows = await db.query<Row & { keyNumber: number }>(query, [
      ...names.map((part) => columnOf(keys, part)),
      ...(list ? ['keyNumber', ...columns].map((column) => columnOf(listRows, column)) : []),
    ])
    const groups: Row[][] = keys.map(() => [])
    for (const row of rows) groups[row.keyNumber - 1]?.push(row)
    return groups
  }, mostReadTogether)
}
