import { hostname } from 'node:os'
import { and, isNull, sql } from 'drizzle-orm'
import type { Logger } from 'pino'
import type { Uuid } from '../lib/ids.ts'
import type { SendLog } from '../lib/send-log.ts'
import type { Db } from './client.ts'
import { prepareWrite } from './prepare-write.ts'
import { prepareRemoval, prune } from './prune.ts'
import { statement } from './statement.ts'
import { sendLogs } from './tables/rails.ts'

/** Registers this process's logs, and ends logs that are no longer renewed. Safe only while it trusts the database. */
const renew = statement('send_logs.renew')`
  with ended as (update send_logs set stopped_at = clock_timestamp()
     where stopped_at is null and seen_at < clock_timestamp() - interval '2 minutes' and id <> all($1::uuid[]))
   insert into send_logs (id, process, started_at, seen_at) select id, $2, clock_timestamp(), clock_timestamp() from unnest($1::uuid[]) as x(id)
   on conflict (id) do update set seen_at = excluded.seen_at, stopped_at = null`
/** Ends all or some logs, once an operator or another process has confirmed that they are no longer needed. */
export const endSendLogs = prepareWrite('send_logs.end', { ids: 'uuid[]?' }, (orm, param) =>
  orm
    .update(sendLogs)
    .set({ stoppedAt: sql`clock_timestamp()` })
    .where(and(isNull(sendLogs.stoppedAt), param.ids && sql`${sendLogs.id} = any(${param.ids})`)),
)

const removal = prepareRemoval('send_logs.prune', sendLogs.id, sendLogs.seenAt, {
  condition: sql`${sendLogs.stoppedAt} is not null and not exists (select from rail_attempts a
     where a.sender_id = ${sendLogs.id} and a.state <> 'resolved' and a.next_check_at is not null)`,
})
/** Deletes ended logs, unless an attempt in progress names the log: it would count as unregistered. */
export const pruneSendLogs = (db: Db, before: Date): Promise<void> => prune(db, { removal, before })

/** Ends a log only if all its sends have a result: otherwise only the log shows what was sent. `<> 'resolved'`: for the index. */
const endInOrder = statement('send_logs.end_in_order')`
  update send_logs l set stopped_at = clock_timestamp() where l.id = any($1) and not exists (select from rail_attempts a
     where a.sender_id = l.id and a.state = 'sending' and a.state <> 'resolved' and a.next_check_at is not null)`

/**
 * `unknown`: logs with attempts in progress, neither ended nor in $1. `unregistered`: an attempt names an unregistered log.
 * `newest`: when another process last renewed its log, if that was within a minute.
 */
const findSenders = statement('send_logs.look')`
  with live as materialized (select distinct sender_id as id from rail_attempts where state <> 'resolved' and next_check_at is not null and state <> 'recorded')
   select array(select id from live join send_logs l using (id) where l.stopped_at is null and id <> all($1::uuid[])) as unknown,
     exists (select from live left join send_logs l using (id) where l.id is null) as unregistered,
     (select max(seen_at) from send_logs where stopped_at is null and id <> all($1::uuid[]) and seen_at > clock_timestamp() - interval '1 minute') as newest`
type Senders = { unknown: Uuid[]; unregistered: boolean; newest: Date | null }

const renewEveryMs = 2_000
/** Every live process renews its log within this time. */
const patienceMs = 3 * renewEveryMs

export type SendLogRegistry = ReturnType<typeof createSendLogRegistry>

/**
 * Tracks which processes send from this database. A process renews its logs while it trusts the database. If an attempt's log is
 * not on this disk, and its process is neither alive nor shut down, this may be a copy whose original sends the same payments.
 */
export const createSendLogRegistry = ({ db, logger }: { db: Db; logger: Logger }, sendLog?: SendLog) => {
  const name = `${hostname()}:${process.pid}`
  let firstSeen: { newest: Date; atMs: number } | undefined
  let renewedMs: number | undefined
  const ownLogs = () => [...(sendLog?.found ?? []), ...(sendLog?.open() ?? [])]

  return {
    /** Logs of processes that are neither alive nor shut down. Undefined while a process may still report that it is alive. */
    findUnknown: async (): Promise<Uuid[] | undefined> => {
      const [found] = await db.query<Senders>(findSenders, [ownLogs()])
      if (found?.unregistered && firstSeen === undefined)
        logger.warn(
          'payments are in progress whose process registered no send log: if this is a copy of the database, stop and run after-restore first',
        )
      if (!found || found.unknown.length === 0) return []
      if (found.newest === null) return found.unknown
      firstSeen ??= { newest: found.newest, atMs: performance.now() }
      if (found.newest > firstSeen.newest) return []
      return performance.now() - firstSeen.atMs < patienceMs ? undefined : found.unknown
    },
    /** Only for a process that trusts the database, because other processes rely on the renewal. */
    renew: async (atOnce = false): Promise<void> => {
      const nowMs = performance.now()
      if (!sendLog || (!atOnce && renewedMs !== undefined && nowMs - renewedMs < renewEveryMs)) return
      await db.query(renew, [sendLog.open(), name])
      sendLog.confirm()
      if (renewedMs === undefined && sendLog.found.length > 0) await db.run(endSendLogs, { ids: sendLog.found })
      renewedMs = nowMs
    },
    end: (ids: readonly Uuid[]) => db.run(endSendLogs, { ids }),
    stop: async (): Promise<void> => {
      if (renewedMs !== undefined) await db.query(endInOrder, [sendLog?.open() ?? []])
    },
  }
}
