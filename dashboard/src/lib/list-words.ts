/** "a", "a and b", "a, b and c" */
export const listWords = (items: readonly string[], last = 'and'): string =>
  items.length < 2 ? (items[0] ?? '') : `${items.slice(0, -1).join(', ')} ${last} ${items.at(-1)}`

export const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

export const countWords = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`

/** Items in their order, those with one key together where the first of them stands. Null: it stands alone. */
export const together = <Item>(items: readonly Item[], keyOf: (item: Item) => string | null): [Item, ...Item[]][] => {
  const groups = new Map<unknown, [Item, ...Item[]]>()
  for (const item of items) {
    const key = keyOf(item) ?? item
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return [...groups.values()]
}
