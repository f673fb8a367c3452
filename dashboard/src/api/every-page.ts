type Page<Item> = { data: readonly Item[]; next_cursor: string | null }

/** The rows of a list as far as it was read. */
export const rowsOf = <Item>({ data }: { data?: { pages: readonly { data: readonly Item[] }[] } | undefined }): Item[] =>
  data?.pages.flatMap((page) => page.data) ?? []

/** All of a list, for what would be wrong about a part of it; or as much of it as is enough. */
export const everyPage = async <Item>(
  read: (cursor: string | undefined) => Promise<Page<Item>>,
  isEnough: (items: readonly Item[]) => boolean = () => false,
): Promise<Item[]> => {
  const items: Item[] = []
  for (let cursor: string | null | undefined; cursor !== null && !isEnough(items); ) {
    const page: Page<Item> = await read(cursor)
    items.push(...page.data)
    cursor = page.next_cursor
  }
  return items
}
