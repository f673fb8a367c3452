import { type InfiniteData, type Query, type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { type EventResource, resourceOf } from '../../../src/events/types.ts'
import type { PageOf, PaymentFilters } from '../api/queries.ts'
import { createStore } from '../lib/store.ts'
import { type ConnectionState, connectShared, type LiveEvent } from './connection.ts'

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
  const { status } = (filters ?? {}) as PaymentFilters
  return status === undefined || status.some((one) => one === data.status)
}

const patchesFor = (query: Query, events: readonly LiveEvent[]): Patch<Row>[] =>
  events.flatMap(({ type, data }) => {
    // What was refused became no payment.
    if (type === 'payment.refused' || rowsOf[type.split('.')[0] ?? ''] !== query.queryKey[0] || !isRow(data)) return []
    return [{ id: data.id, row: data, stays: fits(query.queryKey[1], data) }]
  })

const isList = (data: unknown): data is List => typeof data === 'object' && data !== null && 'pages' in data

/** Only the first page is read again, however many are shown below it; the row of the event is replaced in its place. */
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

/** After a break anything may have changed: every list restarts at its first page, and everything that is shown is read again. */
const refreshEverything = (client: QueryClient): void => {
  for (const query of client.getQueryCache().getAll()) {
    const { data } = query.state
    if (isList(data) && data.pages.length > 1)
      client.setQueryData<List>(query.queryKey, { pages: data.pages.slice(0, 1), pageParams: data.pageParams.slice(0, 1) })
  }
  void client.invalidateQueries()
}

/** Every paged list with one of these names; single queries are not touched. */
const refreshLists = (client: QueryClient, isStale: (key: readonly unknown[]) => boolean, events: readonly LiveEvent[]): void => {
  for (const query of client.getQueryCache().findAll({ predicate: ({ queryKey }) => isStale(queryKey) })) {
    const { data } = query.state
    if (!isList(data)) continue
    if (query.isActive()) {
      void refreshOne(client, query, data, events).catch(() =>
        client.invalidateQueries({ queryKey: query.queryKey, exact: true }),
      )
      continue
    }
    // It is not shown: only its first page is kept, and read again when it is.
    client.setQueryData<List>(query.queryKey, { pages: data.pages.slice(0, 1), pageParams: data.pageParams.slice(0, 1) })
    void client.invalidateQueries({ queryKey: query.queryKey, exact: true, refetchType: 'none' })
  }
}

/** Which queries an event makes out of date, by the first part of its type. Names are the first part of query keys. */
const affected: Readonly<Record<EventResource, readonly string[]>> = {
  balance: ['account', 'history', 'summary'],
  topup: ['topup', 'account', 'history', 'summary'],
  payment: [
    'payment',
    'payments',
    'approval',
    'approvals',
    'inbox',
    'account',
    'history',
    'summary',
    'refusals',
    'grants',
    'grant',
    'api-keys',
    'api-key',
    'policies',
    'mandates',
    'mandate',
  ],
  payment_batch: ['payment', 'payments', 'approval', 'approvals', 'inbox'],
  approval: ['approval', 'approvals', 'inbox', 'payment', 'payments'],
  mandate: ['mandates', 'mandate'],
  beneficiary: ['beneficiaries', 'beneficiary', 'approval', 'approvals', 'inbox'],
  policy: ['policies', 'policy'],
  api_key: ['api-keys', 'api-key', 'grants', 'grant'],
  grant: ['grants', 'grant', 'api-keys', 'api-key', 'audit', 'approval'],
  identity: ['account'],
  passkey: ['passkeys'],
  session: ['sessions'],
  member: ['members', 'invitations', 'workspaces', 'workspace', 'inbox'],
  workspace: ['workspace', 'workspaces', 'inbox', 'approval'],
}

const isResource = (text: string): text is EventResource => Object.hasOwn(affected, text)

const affectedBy = (type: string): readonly string[] => {
  const resource = resourceOf(type)
  return isResource(resource) ? affected[resource] : []
}

const keptEvents = 200
const gatherMs = 60

export const connection = createStore<ConnectionState>('connecting')
/** Events of the stream since the page was opened, newest first. */
export const recentEvents = createStore<readonly LiveEvent[]>([])

const remember = (event: LiveEvent): boolean => {
  if (recentEvents.get().some(({ id }) => id === event.id)) return false
  recentEvents.set([event, ...recentEvents.get()].slice(0, keptEvents))
  return true
}

/** The second part of these keys is a workspace, so that an event in one does not reload the others. */
const ofOneWorkspace = new Set(['inbox'])

const staleFrom = (events: readonly LiveEvent[]) => {
  const names = new Set(events.flatMap(({ type }) => affectedBy(type)))
  const workspaces = new Set(events.map((event) => event.workspace_id))
  return (key: readonly unknown[]): boolean =>
    names.has(String(key[0])) && (!ofOneWorkspace.has(String(key[0])) || workspaces.has(String(key[1])))
}

type LiveProps = { accountId: string; onEvent?: (event: LiveEvent) => void }

/** Keeps the page current: an event says what changed, and that is read again. */
export const Live = ({ accountId, onEvent }: LiveProps) => {
  const client = useQueryClient()
  const latest = useRef(onEvent)
  latest.current = onEvent
  useEffect(() => {
    let gathered: LiveEvent[] = []
    let timer: ReturnType<typeof setTimeout> | undefined
    let interrupted = false
    // A payment makes several events at once; one read covers them all.
    const refresh = () => {
      timer = undefined
      const isStale = staleFrom(gathered)
      refreshLists(client, isStale, gathered)
      gathered = []
      void client.invalidateQueries({
        predicate: ({ queryKey, state }) => isStale(queryKey) && !(state.data instanceof Object && 'pages' in state.data),
      })
    }
    const disconnect = connectShared(accountId, {
      onEvent: (event) => {
        if (remember(event)) latest.current?.(event)
        gathered.push(event)
        timer ??= setTimeout(refresh, gatherMs)
      },
      onReset: () => refreshEverything(client),
      onState: (state) => {
        connection.set(state)
        if (state === 'live' && interrupted) refreshEverything(client)
        interrupted = state === 'reconnecting'
        // The stream of an ended session is closed: the account's query finds that out.
        if (interrupted) void client.invalidateQueries({ queryKey: ['account'] })
      },
    })
    return () => {
      clearTimeout(timer)
      disconnect()
      recentEvents.set([])
    }
  }, [client, accountId])
  return null
}
