import { setImmediate as turn } from 'node:timers/promises'

/** The result for a set of one, of a function that returns one result for each member of a set. */
export const only = <T>(items: readonly T[]): T => {
  const [item] = items
  if (item === undefined || items.length > 1) throw new Error(`one result was expected, and there are ${items.length}`)
  return item
}

/** Where it is a bug that there is nothing, which `missing` names. */
export const existing = <T>(value: T | null | undefined, missing: string): T => {
  if (value === null || value === undefined) throw new Error(missing)
  return value
}

/** In lists of `size` at most. */
export const chunksOf = <T>(items: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) => items.slice(index * size, (index + 1) * size))

/** Works through a long list, `size` items at a time: between two portions the event loop serves other requests. */
export const inPortions = async <T, R>(items: readonly T[], size: number, work: (item: T, place: number) => R): Promise<R[]> => {
  const results: R[] = []
  for (const [place, item] of items.entries()) {
    if (place > 0 && place % size === 0) await turn()
    results.push(work(item, place))
  }
  return results
}

/** Before the next part of the work on a long list: the event loop serves other requests. A short list goes on at once. */
export const afterTurn = async (items: readonly unknown[]): Promise<void> => {
  if (items.length > 128) await turn()
}

/** Each field as a list: how a statement that writes several rows gets them. */
export const fieldsOf = <Row, Name extends keyof Row>(rows: readonly Row[], ...names: readonly Name[]): Row[Name][][] =>
  names.map((name) => rows.map((row) => row[name]))
