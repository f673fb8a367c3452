import { Column, getTableColumns, is, noopDecoder, SQL, Table } from 'drizzle-orm'

type Decoder = { mapFromDriverValue: (value: unknown) => unknown }
type Leaf = { group: string | null; name: string; decoder: Decoder | null }

/** Columns that drizzle decodes. Values of other types are already decoded by the parsers in `connect.ts`. */
const decodedColumns = new Set(['PgCustomColumn', 'PgBigInt53', 'PgTimestampString'])

const decoderOf = (field: Column | SQL): Decoder | null => {
  if (is(field, Column)) return decodedColumns.has(field.columnType) ? field : null
  const decoder = Reflect.get(field, 'decoder') as Decoder
  return decoder === noopDecoder ? null : decoder
}

const leavesOf = (fields: object, group: string | null = null): Leaf[] =>
  Object.entries(fields).flatMap(([name, field]: [string, unknown]) => {
    if (is(field, Column) || is(field, SQL)) return [{ group, name, decoder: decoderOf(field) }]
    if (is(field, SQL.Aliased)) return [{ group, name, decoder: decoderOf(field.sql) }]
    if (group !== null || typeof field !== 'object' || field === null) throw new Error(`${name} is not a readable field`)
    return leavesOf(is(field, Table) ? getTableColumns(field) : field, name)
  })

/** Converts a query's row to a record. The record's columns begin at index `from`. */
export const readerOf = (name: string, fields: object, from: number): ((row: readonly unknown[]) => object) => {
  const leaves = leavesOf(fields)
  const groups = [...new Set(leaves.flatMap(({ group }) => group ?? []))]
  return (row) => {
    if (row.length !== leaves.length + from) throw new Error(`${name} answers ${row.length - from} columns, not ${leaves.length}`)
    const record: Record<string, unknown> = {}
    for (const group of groups) record[group] = {}
    for (let index = 0; index < leaves.length; index += 1) {
      const { group, name: field, decoder } = leaves[index] as Leaf
      const target = group === null ? record : (record[group] as Record<string, unknown>)
      const value = row[from + index]
      target[field] = decoder === null || value === null ? value : decoder.mapFromDriverValue(value)
    }
    return record
  }
}
