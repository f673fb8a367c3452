import { Column, getTableColumns, is, noopDecoder, SQL, Table } from 'drizzle-orm'
import { share } from '../lib/shared.ts'
import { parserOf, type UnreadRow } from './types.ts'

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

/** Columns of SQL text, which arrive as their records have them. */
export const plainLeaves = (fields: readonly string[]): Leaf[] => fields.map((name) => ({ group: null, name, decode: null }))

/** Records of all queries together may have so many bytes as rows: then all are forgotten. */
const mostBytes = 4_000_000
/** Rows of one query that begin alike: the records of one that is read in turns, and those of a list whose first column is no key. */
const mostAlike = 4
let bytesKept = 0
type Known = { bytes: Buffer; record: object }
const memories: Map<string, Known[]>[] = []

const keep = (memory: Map<string, Known[]>, key: string, known: Known): void => {
  bytesKept += known.bytes.length
  if (bytesKept > mostBytes) {
    for (const each of memories) each.clear()
    bytesKept = known.bytes.length
  }
  const alike = memory.get(key)
  if (!alike) memory.set(key, [known])
  else if (alike.push(known) > mostAlike) bytesKept -= alike.shift()?.bytes.length ?? 0
}

const columnsStart = 2
const endOf = (bytes: Buffer, at: number): number => at + 4 + Math.max(0, bytes.readInt32BE(at))
const textAt = (bytes: Buffer, at: number): string => bytes.toString('latin1', at + 4, endOf(bytes, at))

/** The text of the first column, which is a number or an id. */
export const firstOf = (row: UnreadRow): string | null => (row.bytes ? textAt(row.bytes, columnsStart) : (row.fields[0] ?? null))

/** `from`: how many columns stand before those of the record. */
export const readerOf = (name: string, leaves: readonly Leaf[], shares: boolean, from = 0) => {
  const groups = [...new Set(leaves.flatMap(({ group }) => group ?? []))]
  const recordOf = ({ fields }: UnreadRow, types: readonly number[]): object => {
    if (fields.length !== leaves.length + from)
      throw new Error(`${name} answers ${fields.length} columns, not ${leaves.length + from}`)
    const record: Record<string, unknown> = {}
    for (const group of groups) record[group] = {}
    for (let at = 0; at < leaves.length; at += 1) {
      const { group, name: field, decode } = leaves[at] as Leaf
      const place = group === null ? record : (record[group] as Record<string, unknown>)
      const text = fields[at + from] as string | null
      const value = text === null ? null : parserOf(types[at + from] as number)(text)
      place[field] = decode === null || value === null ? value : decode(value)
    }
    return record
  }
  if (!shares || leaves.length === 0) return recordOf
  const memory = new Map<string, Known[]>()
  memories.push(memory)
  return (row: UnreadRow, types: readonly number[]): object => {
    if (!row.bytes) return recordOf(row, types)
    const start = from === 0 ? columnsStart : endOf(row.bytes, columnsStart)
    const bytes = row.bytes.subarray(start)
    const key = textAt(bytes, 0)
    const same = memory.get(key)?.find((known) => known.bytes.equals(bytes))
    if (same) return same.record
    const record = recordOf(row, types)
    for (const group of groups) share(Reflect.get(record, group) as object)
    share(record)
    // A copy: the row is a part of all that one read from the socket brought.
    keep(memory, key, { bytes: Buffer.from(bytes), record })
    return record
  }
}
