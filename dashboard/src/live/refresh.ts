import type { InfiniteData, Query, QueryClient, QueryKey } from '@tanstack/react-query'

export type PageOf<Row> = { data: Row[]; next_cursor: string | null }
/** An event's type, and the current state of its resource. */
type Change = { type: string; data: Record<string, unknown> }
type Row = { id: string }

/** A row from an event. `stays`: whether the list still contains it. */
type Patch<Item> = { id: string; row: Item; stays: boolean }

/**
 * Merges a fresh first page and single changed rows into a list. Rows that the fresh page pushed out stay in place. Deeper
 * pages keep their cursors, so they are not reloaded.
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
  // Ids sort by time, newest first. A row newer than the fresh page's last row but missing there has left the list.
  const older = (row: Item) => last !== undefined && fresh.next_cursor !== null && row.id < last.id
  const pushedOut = first ? patched(first.data.filter((row) => !read.has(row.id) && older(row))) : []
  const deeper = rest.map((page) => ({ ...page, data: patched(page.data).filter((row) => !read.has(row.id)) }))
  const cursor = first && (pushedOut.length > 0 || deeper.length > 0) ? first.next_cursor : fresh.next_cursor
  return [{ data: [...fresh.data, ...pushedOut], next_cursor: cursor }, ...deeper]
}

type List = InfiniteData<PageOf<Row>>

/** Names of lists by resource, for resources whose events carry the row that the list shows. */
const rowsOf: Readonly<Record<string, string>> = { payment: 'payments', beneficiary: 'beneficiaries', approval: 'approvals' }

const isRow = (data: Record<string, unknown>): data is Record<string, unknown> & Row => typeof data.id === 'string'

type Filters = { status?: unknown; confirmation?: unknown }

/** Whether a changed row still matches the list's filters. Other filtered fields of these rows never change. */
const matchesFilters = ([name, filters]: QueryKey, data: Record<string, unknown>): boolean => {
  const { status, confirmation } = (filters ?? {}) as Filters
  if (name === 'beneficiaries')
    return (status === 'all' || data.status !== 'archived') && (confirmation === undefined || confirmation === data.confirmation)
  return !Array.isArray(status) || status.includes(data.status)
}

const patchesFor = (query: Query, events: readonly Change[]): Patch<Row>[] =>
  events.flatMap(({ type, data }) => {
    // A refused payment request has no payment.
    if (type === 'payment.refused' || rowsOf[type.split('.')[0] ?? ''] !== query.queryKey[0] || !isRow(data)) return []
    return [{ id: data.id, row: data, stays: matchesFilters(query.queryKey, data) }]
  })

/** Whether a query has pages of rows. A statement has pages of entries, whose first page says nothing about the others. */
export const isList = (data: unknown): data is List =>
  data instanceof Object && 'pages' in data && Array.isArray((data as List).pages[0]?.data)

/** Reloads only the first page, however many are shown, and replaces the rows of the events in place. */
const refreshActive = async (client: QueryClient, query: Query, data: List, events: readonly Change[]): Promise<void> => {
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
  // Repeats the request if the list was loaded meanwhile: it would be unclear which of the two results is newer.
  do {
    await query.promise?.catch(() => undefined)
    count = query.state.dataUpdateCount
    fresh = (await queryFn(context as Parameters<typeof queryFn>[0])) as PageOf<Row>
  } while (query.promise || query.state.dataUpdateCount !== count)
  // The list is no longer shown and is marked as outdated, so the result would hide that it must be reloaded.
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
    return refreshActive(client, query, state.data, events).catch(() => client.invalidateQueries({ queryKey, exact: true }))
  // A hidden list keeps only its first page, which is reloaded when the list is shown.
  const { pages, pageParams } = state.data
  client.setQueryData<List>(queryKey, { pages: pages.slice(0, 1), pageParams: pageParams.slice(0, 1) })
  void client.invalidateQueries({ queryKey, exact: true, refetchType: 'none' })
}

/** Events that arrived during the refresh of a list. */
const queuedChanges = new WeakMap<Query, Change[]>()

/** Runs one refresh of a list at a time: of two concurrent requests, the older could finish last. */
const refreshInTurn = async (client: QueryClient, query: Query, events: readonly Change[]): Promise<void> => {
  const running = queuedChanges.get(query)
  if (running) return void running.push(...events)
  for (let turn = events; turn.length > 0; turn = queuedChanges.get(query) ?? []) {
    queuedChanges.set(query, [])
    await refreshList(client, query, turn)
  }
  queuedChanges.delete(query)
}

/** Anything may have changed during an interruption: lists restart at the first page, and all shown data is reloaded. */
export const refreshEverything = (client: QueryClient): void => {
  for (const query of client.getQueryCache().getAll()) {
    const { data } = query.state
    if (isList(data) && data.pages.length > 1)
      client.setQueryData<List>(query.queryKey, { pages: data.pages.slice(0, 1), pageParams: data.pageParams.slice(0, 1) })
  }
  void client.invalidateQueries()
}

/** Refreshes every paged list that `isStale` selects by its key. Other queries are left alone. */
export const refreshLists = (
  client: QueryClient,
  isStale: (key: readonly unknown[]) => boolean,
  events: readonly Change[],
): void => {
  for (const query of client.getQueryCache().findAll({ predicate: ({ queryKey }) => isStale(queryKey) }))
    if (isList(query.state.data)) void refreshInTurn(client, query, events)
}
