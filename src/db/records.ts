// Neither can occur in a field: fields are numbers, ids, times, names from our own lists, and JSON, which escapes them.
export const between = { fields: '\u001f', records: '\u001e' } as const

/** A text that a person chose, or a list of such, as a field: `JSON.parse` gives it back, `quotedOf` where it may be null. */
export const quoted = (expression: string): string => `to_json(${expression})`

const joined = (fields: readonly string[]): string => fields.map((field) => `(${field})`).join(`, E'\\x1f', `)

/** The rows of a subquery as one text, null when there are none: for a statement that reads several tables. */
export const recordsColumn = (fields: readonly string[], from: string): string =>
  `(select string_agg(concat(${joined(fields)}), E'\\x1e') from ${from})`

/** Reads fields in their order: the caller knows what comes next. */
export type Reader = () => string

const readerOf = (fields: readonly string[]): Reader => {
  let at = 0
  return () => {
    const field = fields[at]
    at += 1
    if (field === undefined) throw new Error('a record has fewer fields than its reader asks for')
    return field
  }
}

/** Reads one record. Callers share the rows of equal records, and change none. */
export const recordReader =
  <Row>(read: (next: Reader) => Row): ((text: string) => Row) =>
  (text) =>
    read(readerOf(text.split(between.fields)))

/** The records of `recordsColumn`, as their fields. */
export const splitRecords = (text: string | null): string[][] =>
  text === null ? [] : text.split(between.records).map((record) => record.split(between.fields))

/** Reads the records of `recordsColumn`. */
export const recordsReader = <Row>(read: (next: Reader) => Row): ((text: string | null) => Row[]) => {
  const row = recordReader(read)
  return (text) => (text === null ? [] : text.split(between.records).map(row))
}

/** A field of a record: its SQL, and how its text is read. */
export type Field<Value> = readonly [sql: string, read: (text: string) => Value]

/** The one declaration of a record: what is read, and as what. A field of the type that is missing here does not compile. */
export type Fields<Row> = { readonly [Name in keyof Row]-?: Field<Row[Name]> }

/** For `recordsColumn`. */
export const sqlOf = (fields: Readonly<Record<string, Field<unknown>>>): string[] => Object.values(fields).map(([sql]) => sql)

/** Reads the records of `recordsColumn(sqlOf(fields), …)`. */
export const fieldsReader = <Row extends object>(fields: Fields<Row>): ((text: string | null) => Row[]) => {
  const readers = Object.entries<Field<unknown>>(fields)
  return recordsReader((next) => Object.fromEntries(readers.map(([name, [, read]]) => [name, read(next())])) as Row)
}

/** `2026-01-31 08:00:00.123456+00`, or nothing. */
export const instantOf = (text: string): Date | null => (text === '' ? null : new Date(`${text.replace(' ', 'T')}:00`))
export const readInstant = (next: Reader): Date => {
  const instant = instantOf(next())
  if (!instant) throw new Error('a record has no time where it must have one')
  return instant
}
/** Of a `quoted` field that may be null. */
export const quotedOf = <Value>(text: string): Value | null => (text === '' ? null : (JSON.parse(text) as Value))
export const textOf = <Text extends string>(text: string): Text | null => (text === '' ? null : (text as Text))
export const isTrue = (text: string): boolean => text === 't'
export const listOf = (text: string): string[] => (text.length <= 2 ? [] : text.slice(1, -1).split(','))

export const amountOf = (text: string): bigint | null => (text === '' ? null : BigInt(text))
export const numberOf = (text: string): number | null => (text === '' ? null : Number(text))
export const asIs = (text: string): string => text
