import type { Logger } from 'pino'
import { type Query, statement } from '../db/statement.ts'
import type { Uuid } from '../lib/ids.ts'

const tracked = ['sessions', 'api_keys', 'grants', 'members'] as const
type Tracked = (typeof tracked)[number]

/** Maximum age of `last_used_at`. Uses are written once a minute for all credentials together, not by each request. */
const writeIntervalMs = 60_000

/** Skips a locked row until the next use, because a timestamp must not wait for a payment or deadlock with a revocation. */
const touch = (kind: Tracked, first: number): string => `
  used_${kind} as (
    select t.id, u.at from unnest($${first}::uuid[], $${first + 1}::timestamptz[]) as u(id, at) join ${kind} t on t.id = u.id
    where t.last_used_at is null or t.last_used_at < u.at for no key update of t skip locked),
  written_${kind} as (update ${kind} t set last_used_at = u.at from used_${kind} u where t.id = u.id)`
const touchAll = statement('auth.last_used')`with ${tracked.map((kind, index) => touch(kind, 1 + 2 * index)).join(',')} select 1`

export const createLastUsed = (query: Query, logger: Logger) => {
  const waiting = Object.fromEntries(tracked.map((kind) => [kind, new Map()])) as Record<Tracked, Map<Uuid, Date>>
  let timer: NodeJS.Timeout | undefined
  let writing = Promise.resolve()

  const write = async () => {
    clearTimeout(timer)
    timer = undefined
    const values = tracked.flatMap((kind) => [[...waiting[kind].keys()], [...waiting[kind].values()]])
    if (values.every(({ length }) => length === 0)) return
    for (const kind of tracked) waiting[kind].clear()
    // A lost update costs only a minute of `last_used_at`, so it must not fail the request.
    await query(touchAll, values).catch(() => logger.debug('the last use of credentials could not be recorded'))
  }
  const flush = (): Promise<void> => {
    writing = writing.then(write)
    return writing
  }
  const flushAfter = (ms: number) => {
    timer ??= setTimeout(() => void flush(), ms).unref()
  }

  return {
    record: (kind: Tracked, id: Uuid, now: Date, storedAt: Date | null): void => {
      if (storedAt && now.getTime() - storedAt.getTime() <= writeIntervalMs) return
      waiting[kind].set(id, now)
      flushAfter(writeIntervalMs)
    },
    /** The last use of a session, even if it is not stored yet. */
    latest: (sessionId: Uuid, storedAt: Date): Date => {
      const used = waiting.sessions.get(sessionId)
      return used && used > storedAt ? used : storedAt
    },
    flush,
  }
}
export type LastUsed = ReturnType<typeof createLastUsed>
