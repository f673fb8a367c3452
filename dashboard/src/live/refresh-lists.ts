import type { InfiniteData, Query, QueryClient } from '@tanstack/react-query'
import type { PaymentFilters } from '../api/queries.ts'
import type { LiveEvent } from './event.ts'
import { mergeFirstPage, type PageOf, type Patch, type Row } from './merge-page.ts'

type List = InfiniteData<PageOf<Row>>

/** Lists whose events carry the very row that the list shows. */
const rowsOf: Readonly<Record<string, string>> = { payment: 'payments', beneficiary: 'beneficiaries', approval: 'approvals' }

const isRow = (data: Record<string, unknown>): data is Record<string, unknown> & Row => typeof data.id === 'string'

/** Whether a row that has changed still belongs under the filter: status is all that changes about a payment. */
const fits = (filters: unknown, data: Record<string, unknown>): boolean => {
  if (typeof filters === 'string') return filters === 'all' || filters === data.status
  const { status } = (filters ?? {}) as PaymentFilters
  return status === undefined || status === data.status
}

const patchesFor = (query: Query, events: readonly LiveEvent[]): Patch<Row>[] =>
  events.flatMap(({ type, data }) => {
    if (rowsOf[type.split('.')[0] ?? ''] !== query.queryKey[0] || !isRow(data)) return []
    return [{ id: data.id, row: data, stays: fits(query.queryKey[1], data) }]
  })

const isList = (data: unknown): data is List => typeof data === 'object' && data !== null && 'pages' in data

/** Only the first page is read again, whatever has been unfolded below it; the row that an event is about is put in its place. */
const refreshOne = async (client: QueryClient, query: Query, data: List, events: readonly LiveEvent[]): Promise<void> => {
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
  const fresh = (await queryFn(context as Parameters<typeof queryFn>[0])) as PageOf<Row>
  const patches = patchesFor(query, events)
  client.setQueryData<List>(key, (now) => {
    const current = now ?? data
    const pages = mergeFirstPage(current.pages, fresh, patches)
    return { pages, pageParams: current.pageParams.slice(0, pages.length) }
  })
}

/** After a break nobody knows what has changed: every list begins again at its first page, and everything that is shown is read anew. */
export const refreshEverything = (client: QueryClient): void => {
  for (const query of client.getQueryCache().getAll()) {
    const { data } = query.state
    if (isList(data) && data.pages.length > 1)
      client.setQueryData<List>(query.queryKey, { pages: data.pages.slice(0, 1), pageParams: data.pageParams.slice(0, 1) })
  }
  void client.invalidateQueries()
}

/** Every unfolded list with one of these names; single queries are not touched. */
export const refreshLists = (
  client: QueryClient,
  isStale: (key: readonly unknown[]) => boolean,
  events: readonly LiveEvent[],
): void => {
  for (const query of client.getQueryCache().findAll({ predicate: ({ queryKey }) => isStale(queryKey) })) {
    const { data } = query.state
    if (!isList(data)) continue
    if (query.isActive()) {
      void refreshOne(client, query, data, events).catch(() =>
        client.invalidateQueries({ queryKey: query.queryKey, exact: true }),
      )
      continue
    }
    // Nobody looks at it: what is kept of it is its first page, which is read again when somebody does.
    client.setQueryData<List>(query.queryKey, { pages: data.pages.slice(0, 1), pageParams: data.pageParams.slice(0, 1) })
    void client.invalidateQueries({ queryKey: query.queryKey, exact: true, refetchType: 'none' })
  }
}
