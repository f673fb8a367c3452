import type { InfiniteData, Query, QueryClient } from '@tanstack/react-query'

export type PageOf<Row> = { data: Row[]; next_cursor: string | null }
/** Of an event: what it is about, and that as it is now. */
type Change = { type: string; data: Record<string, unknown> }
type Row = { id: string }

/** A row from an event. `stays`: whether it still belongs in the list. */
type Patch<Item> = { id: string; row: Item; stays: boolean }

/**
 * A list of which the first page was read again and single rows are known anew. Rows that the fresh page pushed out of the first page
 * stay where they were; deeper pages keep their cursors, so that nothing of them has to be read again.
 */
const mergeFirstPage = <Item extends Row>(
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

type List = InfiniteData<PageOf<Row>>

/** Lists whose events carry the very row that the list shows. */
const rowsOf: Readonly<Record<string, string>> = { payment: 'payments', beneficiary: 'beneficiaries', approval: 'approvals' }

const isRow = (data: Record<string, unknown>): data is Record<string, unknown> & Row => typeof data.id === 'string'

/** Whether a changed row still matches the filter: only the status of a payment changes. */
const fits = (filters: unknown, data: Record<string, unknown>): boolean => {
  if (typeof filters === 'string') return filters === 'all' || filters === data.status
  const { status } = (filters ?? {}) as { status?: readonly unknown[] }
  return status === undefined || status.some((one) => one === data.status)
}

const patchesFor = (query: Query, events: readonly Change[]): Patch<Row>[] =>
  events.flatMap(({ type, data }) => {
    // What was refused became no payment.
    if (type === 'payment.refused' || rowsOf[type.split('.')[0] ?? ''] !== query.queryKey[0] || !isRow(data)) return []
    return [{ id: data.id, row: data, stays: fits(query.queryKey[1], data) }]
  })

const isList = (data: unknown): data is List => typeof data === 'object' && data !== null && 'pages' in data

/** Only the first page is read again, however many are shown below it; the row of the event is replaced in its place. */
const refreshOne = async (client: QueryClient, query: Query, data: List, events: readonly Change[]): Promise<void> => {
  const key = query.queryKey
  const { queryFn } = query.options
  if (typeof queryFn !== 'function') return
  const context = {
    client,
    queryKey: key,
    signal: new AbortController().signal,
    meta: undefined,
    pageParam: undefined,
    direction: 'forward',
  }
  let fresh: PageOf<Row>
  let count: number
  // Beside a read of the whole list, or of a further page, nobody knows which of the two is the newer one.
  do {
    await query.promise?.catch(() => undefined)
    count = query.state.dataUpdateCount
    fresh = (await queryFn(context as Parameters<typeof queryFn>[0])) as PageOf<Row>
  } while (query.promise || query.state.dataUpdateCount !== count)
  // It is no longer shown, and was outdated meanwhile.
  if (query.state.isInvalidated && !query.isActive()) return
  const patches = patchesFor(query, events)
  client.setQueryData<List>(key, (now) => {
    const current = now ?? data
    const pages = mergeFirstPage(current.pages, fresh, patches)
    return { pages, pageParams: current.pageParams.slice(0, pages.length) }
  })
}

const refreshList = async (client: QueryClient, query: Query, events: readonly Change[]): Promise<void> => {
  const { queryKey, state } = query
  if (!isList(state.data)) return
  if (query.isActive())
    return refreshOne(client, query, state.data, events).catch(() => client.invalidateQueries({ queryKey, exact: true }))
  // It is not shown: only its first page is kept, and read again when it is.
  const { pages, pageParams } = state.data
  client.setQueryData<List>(queryKey, { pages: pages.slice(0, 1), pageParams: pageParams.slice(0, 1) })
  void client.invalidateQueries({ queryKey, exact: true, refetchType: 'none' })
}

/** Of each list that is being refreshed, the events that came meanwhile. */
const waiting = new WeakMap<Query, Change[]>()

/** One refresh of a list after the other: of two reads at once, the older one might end last. */
const refreshInTurn = async (client: QueryClient, query: Query, events: readonly Change[]): Promise<void> => {
  const running = waiting.get(query)
  if (running) return void running.push(...events)
  for (let turn = events; turn.length > 0; turn = waiting.get(query) ?? []) {
    waiting.set(query, [])
    await refreshList(client, query, turn)
  }
  waiting.delete(query)
}

/** After a break anything may have changed: every list restarts at its first page, and everything that is shown is read again. */
export const refreshEverything = (client: QueryClient): void => {
  for (const query of client.getQueryCache().getAll()) {
    const { data } = query.state
    if (isList(data) && data.pages.length > 1)
      client.setQueryData<List>(query.queryKey, { pages: data.pages.slice(0, 1), pageParams: data.pageParams.slice(0, 1) })
  }
  void client.invalidateQueries()
}

/** Every paged list with one of these names; single queries are not touched. */
export const refreshLists = (
  client: QueryClient,
  isStale: (key: readonly unknown[]) => boolean,
  events: readonly Change[],
): void => {
  for (const query of client.getQueryCache().findAll({ predicate: ({ queryKey }) => isStale(queryKey) }))
    if (isList(query.state.data)) void refreshInTurn(client, query, events)
}
