export type Row = { id: string }
export type PageOf<Item> = { data: Item[]; next_cursor: string | null }

/** A row from an event. `stays`: whether it still belongs in the list. */
export type Patch<Item> = { id: string; row: Item; stays: boolean }

/**
 * A list of which the first page was read again and single rows are known anew. Rows that the fresh page pushed out of the first page
 * stay where they were; deeper pages keep their cursors, so that nothing of them has to be read again.
 */
export const mergeFirstPage = <Item extends Row>(
  pages: readonly PageOf<Item>[],
  fresh: PageOf<Item>,
  patches: readonly Patch<Item>[],
): PageOf<Item>[] => {
  const [first, ...rest] = pages
  const read = new Set(fresh.data.map(({ id }) => id))
  const last = fresh.data.at(-1)
  const byId = new Map(patches.map((patch) => [patch.id, patch]))
  const patched = (rows: readonly Item[]): Item[] =>
    rows.flatMap((row) => {
      const patch = byId.get(row.id)
      if (!patch) return [row]
      return patch.stays ? [patch.row] : []
    })
  // Ids sort by time, newest first: what is newer than the fresh page's last row and not in it is gone from the list.
  const older = (row: Item) => last !== undefined && fresh.next_cursor !== null && row.id < last.id
  const pushedOut = first ? patched(first.data.filter((row) => !read.has(row.id) && older(row))) : []
  const deeper = rest.map((page) => ({ ...page, data: patched(page.data).filter((row) => !read.has(row.id)) }))
  const cursor = first && (pushedOut.length > 0 || deeper.length > 0) ? first.next_cursor : fresh.next_cursor
  return [{ data: [...fresh.data, ...pushedOut], next_cursor: cursor }, ...deeper]
}
