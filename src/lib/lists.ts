import { setImmediate as turn } from 'node:timers/promises'

/** The only item of a list, for functions that return one result per key and were called with one key. */
export const only = <T>(items: readonly T[]): T => {
  const [item] = items
  if (item === undefined || items.length > 1) throw new Error(`one result was expected, and there are ${items.length}`)
  return item
}

/** Returns the value. A missing value is a bug, which `missing` describes. */
export const assertPresent = <T>(value: T | null | undefined, missing: string): T => {
  if (value === null || value === undefined) throw new Error(missing)
  return value
}

export const chunksOf = <T>(items: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) => items.slice(index * size, (index + 1) * size))

/** Maps a long list in chunks of `size`. Between two chunks, the event loop serves other requests. */
export const mapInChunks = async <T, R>(
  items: readonly T[],
  work: (item: T, index: number) => R,
  size = 64,
): Promise<Awaited<R>[]> => {
  const results: Awaited<R>[] = []
  for (const [index, item] of items.entries()) {
    if (index > 0 && index % size === 0) await turn()
    const result = work(item, index)
    results.push(result instanceof Promise ? await result : (result as Awaited<R>))
  }
  return results
}

/** Like `mapInChunks`, but passes whole chunks, with as many rows as a statement can write without blocking the event loop. */
export const byChunks = <T, R>(items: readonly T[], work: (chunk: T[]) => R): Promise<Awaited<R>[]> =>
  mapInChunks(chunksOf(items, 128), work, 1)

/** Lets the event loop serve other requests before more work on a long list. Returns at once for a short list. */
export const yieldBeforeLongWork = async (items: readonly unknown[]): Promise<void> => {
  if (items.length > 128) await turn()
}

/** Each field as a list, as required by the parameters of a multi-row statement. */
export const fieldsOf = <Row, Name extends keyof Row>(rows: readonly Row[], ...names: readonly Name[]): Row[Name][][] =>
  names.map((name) => rows.map((row) => row[name]))
