import { Column, getTableColumns, is, noopDecoder, SQL, Table } from 'drizzle-orm'
import { share } from '../lib/shared.ts'
import { parserOf, type RawRow } from './types.ts'

// How the rows of a declared statement become records.

type Leaf = { group: string | null; name: string; decode: ((value: unknown) => unknown) | null }

/** These arrive as their records have them: `connect.ts` says how types are read. */
const plainColumns = new Set([
  'PgUUID',
  'PgText',
  'PgBoolean',
  'PgInteger',
  'PgBigInt64',
  'PgTimestamp',
  'PgDateString',
  'PgJson',
  'PgJsonb',
  'PgArray',
])

const decoderOf = (field: unknown): Leaf['decode'] => {
  if (is(field, Column)) return plainColumns.has(field.columnType) ? null : (value) => field.mapFromDriverValue(value)
  const expression = is(field, SQL.Aliased) ? field.sql : field
  if (!is(expression, SQL)) return null
  const decoder: unknown = Reflect.get(expression, 'decoder')
  if (decoder === noopDecoder || typeof decoder !== 'object' || decoder === null) return null
  const map: unknown = Reflect.get(decoder, 'mapFromDriverValue')
  return typeof map === 'function' ? (value) => Reflect.apply(map, decoder, [value]) as unknown : null
}

const isLeaf = (field: unknown): boolean => is(field, Column) || is(field, SQL) || is(field, SQL.Aliased)

export const leavesOf = (fields: object, group: string | null = null): Leaf[] =>
  Object.entries(fields).flatMap(([name, field]: [string, unknown]) => {
    if (isLeaf(field)) return [{ group, name, decode: decoderOf(field) }]
    if (group !== null || typeof field !== 'object' || field === null) throw new Error(`${name} is no field that can be read`)
    return leavesOf(is(field, Table) ? getTableColumns(field) : field, name)
  })

/** Records of all queries together may have so many characters: then all are forgotten. */
const mostCharacters = 4_000_000
let characters = 0
const memories: Map<string, object>[] = []

/** One text for a row: no value of Postgres contains a NUL. Which values are null stands after the last one. */
const keyOf = (row: RawRow): string => {
  let nulls = ''
  for (let at = 0; at < row.length; at += 1) if (row[at] === null) nulls += `${at},`
  return `${row.join('\u0000')}\u0000${nulls}`
}

export const readerOf = (name: string, leaves: readonly Leaf[], shares: boolean) => {
  const groups = [...new Set(leaves.flatMap(({ group }) => group ?? []))]
  const recordOf = (row: RawRow, types: readonly number[]): object => {
    if (row.length !== leaves.length) throw new Error(`${name} answers ${row.length} columns, not ${leaves.length}`)
    const record: Record<string, unknown> = {}
    for (const group of groups) record[group] = {}
    for (let at = 0; at < leaves.length; at += 1) {
      const { group, name: field, decode } = leaves[at] as Leaf
      const place = group === null ? record : (record[group] as Record<string, unknown>)
      const text = row[at] as string | null
      const value = text === null ? null : parserOf(types[at] as number)(text)
      place[field] = decode === null || value === null ? value : decode(value)
    }
    return record
  }
  if (!shares) return recordOf
  const known = new Map<string, object>()
  memories.push(known)
  return (row: RawRow, types: readonly number[]): object => {
    const key = keyOf(row)
    const same = known.get(key)
    if (same) return same
    const record = recordOf(row, types)
    for (const group of groups) share(Reflect.get(record, group) as object)
    share(record)
    characters += key.length
    if (characters > mostCharacters) {
      for (const memory of memories) memory.clear()
      characters = key.length
    }
    known.set(key, record)
    return record
  }
}
