import { setImmediate as turn } from 'node:timers/promises'

/** The only result of a function that returns one result per member, called with one member. */
export const only = <T>(items: readonly T[]): T => {
  const [item] = items
  if (item === undefined || items.length > 1) throw new Error(`one result was expected, and there are ${items.length}`)
  return item
}

/** The value, whose absence is a bug. `missing` names the bug. */
export const assertPresent = <T>(value: T | null | undefined, missing: string): T => {
  if (value === null || value === undefined) throw new Error(missing)
  return value
}

/** Chunks of at most `size` items. */
export const chunksOf = <T>(items: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) => items.slice(index * size, (index + 1) * size))

/** Works through a long list in chunks of `size`. Between two chunks the event loop serves other requests. */
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

/** Like `mapInChunks`, but hands over whole chunks: as many rows as one statement writes without stopping the event loop. */
export const byChunks = <T, R>(items: readonly T[], work: (chunk: T[]) => R): Promise<Awaited<R>[]> =>
  mapInChunks(chunksOf(items, 128), work, 1)

/** Before more work on a long list, lets the event loop serve other requests. A short list continues at once. */
export const yieldBeforeLongWork = async (items: readonly unknown[]): Promise<void> => {
  if (items.length > 128) await turn()
}

/** Each field as a list, the form of a statement's parameters for several rows. */
export const fieldsOf = <Row, Name extends keyof Row>(rows: readonly Row[], ...names: readonly Name[]): Row[Name][][] =>
  names.map((name) => rows.map((row) => row[name]))
