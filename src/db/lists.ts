// How lists are passed to a statement: one parameter for each column, for any number of rows. One JSON document would cost Postgres a hash
// table for each row and a second parse of each text; the driver's own arrays examine every character for quotes.

/** For `unnest($n::type[])`. The items need no quotes: ids, numbers, times, and names from our own lists. */
export const plainList = (items: readonly (string | number | bigint | null)[]): string =>
  `{${items.map((item) => item ?? 'NULL').join(',')}}`

/** For `unnest($n::timestamptz[])`. */
export const timeList = (items: readonly (Date | null)[]): string => plainList(items.map((item) => item?.toISOString() ?? null))

/** For `unnest($n::bytea[])`. */
export const bytesList = (items: readonly (Buffer | null)[]): string =>
  `{${items.map((item) => (item === null ? 'NULL' : `"\\\\x${item.toString('hex')}"`)).join(',')}}`

/** For `unnest($n::text[])`, with text that people wrote. */
export const textList = (items: readonly (string | null)[]): string =>
  `{${items.map((item) => (item === null ? 'NULL' : `"${item.replace(/[\\"]/g, '\\$&')}"`)).join(',')}}`

/** For a list of any type: each item as a text that the type reads. */
export const valuesList = (items: readonly unknown[]): string =>
  textList(
    items.map((item) => {
      if (item === null) return null
      if (item instanceof Date) return item.toISOString()
      return Buffer.isBuffer(item) ? `\\x${item.toString('hex')}` : String(item)
    }),
  )

/** For `documents(n)`. JSON contains no control characters, so one of them can separate its texts. */
export const documentList = (items: readonly (string | null)[]): string => items.map((item) => item ?? '').join('\u001f')

/** The documents of parameter `n`, as rows of `text`. */
export const documents = (n: number): string => `unnest(string_to_array($${n}, E'\\x1f', ''))`

const encoders: Partial<Record<string, (value: never) => unknown>> = {
  'uuid[]': (value: readonly string[]) => plainList(value),
  'text[]': (value: readonly string[]) => textList(value),
  'int[]': (value: readonly number[]) => plainList(value),
  'bytea[]': (value: readonly Buffer[]) => bytesList(value),
  'date[]': (value: readonly string[]) => plainList(value),
  jsonb: (value: unknown) => JSON.stringify(value),
}

const plain = (items: readonly unknown[]): string => plainList(items.map((item) => (item === null ? null : String(item))))

/** How a list of values of a kind is sent, for the kinds that a query may be joined by. */
export const listEncoders: Partial<Record<string, (items: readonly unknown[]) => string>> = {
  uuid: plain,
  text: valuesList,
  date: plain,
  timestamptz: valuesList,
  rows: plain,
}

/** How a value of a kind is sent. */
export const encoderOf = (kind: string): ((value: unknown) => unknown) => {
  const encode = encoders[kind] as ((value: unknown) => unknown) | undefined
  return encode ? (value) => (value === null ? null : encode(value)) : (value) => value
}
