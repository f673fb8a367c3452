import type { Logger } from 'pino'
import { type Db, statement } from '../../db/client.ts'
import { describeError } from '../../db/errors.ts'
import { plainList, textList, timeList } from '../../db/lists.ts'
import type { requestLog } from '../../db/tables/request-log.ts'
import type { AnsweredRequest } from '../../http/record-requests.ts'
import type { Clock } from '../../lib/clock.ts'
import { newId } from '../../lib/ids.ts'

type Row = typeof requestLog.$inferInsert

const insert = statement(
  'request_log.insert',
  `insert into request_log (id, account_id, grant_id, operation, method, path, status, error, message, request_id, ms, at)
   select * from rows from (unnest($1::uuid[]), unnest($2::uuid[]), unnest($3::uuid[]), unnest($4::text[]), unnest($5::text[]), unnest($6::text[]),
     unnest($7::int[]), unnest($8::text[]), unnest($9::text[]), unnest($10::text[]), unnest($11::int[]), unnest($12::timestamptz[]))`,
)

const valuesOf = (rows: readonly Row[]): unknown[] => [
  plainList(rows.map(({ id }) => id)),
  plainList(rows.map(({ accountId }) => accountId)),
  plainList(rows.map(({ grantId }) => grantId ?? null)),
  plainList(rows.map(({ operation }) => operation)),
  plainList(rows.map(({ method }) => method)),
  textList(rows.map(({ path }) => path)),
  plainList(rows.map(({ status }) => status)),
  plainList(rows.map(({ error }) => error ?? null)),
  textList(rows.map(({ message }) => message ?? null)),
  textList(rows.map(({ requestId }) => requestId)),
  plainList(rows.map(({ ms }) => ms)),
  timeList(rows.map(({ at }) => at)),
]

const writeAfterMs = 500
const mostInStatement = 1_000
/** While the database does not take them: more than these are not kept. */
const mostWaiting = 10_000

/** Notes requests in memory and writes them together a moment later. What a process had not written when it was killed is lost. */
export type RequestLog = {
  note: (answered: AnsweredRequest) => void
  /** Writes what was noted so far: before it is listed, and at the end. */
  flush: () => Promise<void>
}

export const createRequestLog = (deps: { db: Db; clock: Clock; logger: Logger }): RequestLog => {
  let waiting: Row[] = []
  let dropped = 0
  let timer: NodeJS.Timeout | undefined
  let writing = Promise.resolve()

  const write = async (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    const rows = waiting
    waiting = []
    if (dropped > 0) deps.logger.warn({ requests: dropped }, 'requests are missing in the request log')
    dropped = 0
    for (let at = 0; at < rows.length; at += mostInStatement) {
      const part = rows.slice(at, at + mostInStatement)
      await deps.db
        .query(insert, valuesOf(part))
        .catch((error: unknown) =>
          deps.logger.warn({ requests: part.length, ...describeError(error) }, 'requests are missing in the request log'),
        )
    }
  }
  const flush = () => {
    writing = writing.then(write)
    return writing
  }
  return {
    note: ({ caller, ...answered }) => {
      if (waiting.length >= mostWaiting) {
        dropped += 1
        return
      }
      waiting.push({
        ...answered,
        id: newId(),
        accountId: caller.accountId,
        grantId: caller.grant?.id ?? null,
        at: deps.clock.now(),
      })
      timer ??= setTimeout(() => void flush(), writeAfterMs).unref()
    },
    flush,
  }
}
