/** The result for a set of one, of a function that returns one result for each member of a set. */
export const only = <T>(items: readonly T[]): T => {
  const [item] = items
  if (item === undefined || items.length > 1) throw new Error(`one result was expected, and there are ${items.length}`)
  return item
}
