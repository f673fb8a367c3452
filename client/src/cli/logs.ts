import type { Payments } from '../client.ts'
import type { Item } from '../route-types.ts'
import { pause } from '../transport.ts'

type LoggedRequest = Item<'/v1/request-log'>

const followEveryMs = 2_000
/** Longest delay of an entry, because a process writes entries shortly after the response. */
const latestMs = 10_000

const lineOf = ({ at, status, method, path, error, message, request_id }: LoggedRequest): string =>
  [at, status, method, path, error === null ? '' : `${error}: ${message}`, request_id].filter(Boolean).join('  ')

/** Yields entries oldest first, as in a terminal. `follow`: continues until the signal aborts. */
export async function* readLog(
  client: Payments,
  filters: { status?: string; grant_id?: string },
  { follow, signal, onOpen }: { follow: boolean; signal: AbortSignal; onOpen: () => void },
): AsyncGenerator<string> {
  let known: readonly LoggedRequest[] = (await client.requestLog.list(filters).page()).data
  for (const entry of known.toReversed()) yield lineOf(entry)
  // Uses the service's clock, never this machine's. Without a known entry, every later entry is new.
  let newest = known[0]?.at
  if (follow) onOpen()
  while (follow) {
    await pause(followEveryMs, signal)
    const recent: LoggedRequest[] = []
    const since = newest === undefined ? {} : { created_after: new Date(Date.parse(newest) - latestMs).toISOString() }
    for await (const entry of client.requestLog.list({ ...filters, ...since })) recent.push(entry)
    const seen = new Set(known.map(({ id }) => id))
    for (const entry of recent.toReversed()) if (!seen.has(entry.id)) yield lineOf(entry)
    newest = recent[0]?.at ?? newest
    known = recent.length > 0 ? recent : known
  }
}
