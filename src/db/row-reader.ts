import { Column, getTableColumns, is, noopDecoder, SQL, Table } from 'drizzle-orm'

// How the rows of a declared statement become records.

type Decoder = { mapFromDriverValue: (value: unknown) => unknown }
type Leaf = { group: string | null; name: string; decoder: Decoder | null }

/** Columns of all other types arrive as their records have them: `connect.ts` says how types are read. */
const decodedColumns = new Set(['PgCustomColumn', 'PgBigInt53', 'PgTimestampString'])

const decoderOf = (field: Column | SQL): Decoder | null => {
  if (is(field, Column)) return decodedColumns.has(field.columnType) ? field : null
  const decoder = Reflect.get(field, 'decoder') as Decoder
  return decoder === noopDecoder ? null : decoder
}

export const leavesOf = (fields: object, group: string | null = null): Leaf[] =>
  Object.entries(fields).flatMap(([name, field]: [string, unknown]) => {
    if (is(field, Column) || is(field, SQL)) return [{ group, name, decoder: decoderOf(field) }]
    if (is(field, SQL.Aliased)) return [{ group, name, decoder: decoderOf(field.sql) }]
    if (group !== null || typeof field !== 'object' || field === null) throw new Error(`${name} is no field that can be read`)
    return leavesOf(is(field, Table) ? getTableColumns(field) : field, name)
  })

/** Reads the columns from place `from` on. */
export const readerOf = (name: string, leaves: readonly Leaf[], from = 0): ((row: readonly unknown[]) => object) => {
  const groups = [...new Set(leaves.flatMap(({ group }) => group ?? []))]
  return (row) => {
    if (row.length !== leaves.length + from) throw new Error(`${name} answers ${row.length - from} columns, not ${leaves.length}`)
    const record: Record<string, unknown> = {}
    for (const group of groups) record[group] = {}
    for (let at = 0; at < leaves.length; at += 1) {
      const { group, name: field, decoder } = leaves[at] as Leaf
      const place = group === null ? record : (record[group] as Record<string, unknown>)
      const value = row[from + at]
      place[field] = decoder === null || value === null ? value : decoder.mapFromDriverValue(value)
    }
    return record
  }
}
