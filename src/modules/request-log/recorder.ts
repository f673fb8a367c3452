import type { Logger } from 'pino'
import type { Db } from '../../db/client.ts'
import { describeError } from '../../db/errors.ts'
import { prepareInsertAll } from '../../db/prepare-write.ts'
import { requestLog } from '../../db/tables/request-log.ts'
import type { AnsweredRequest } from '../../http/record-requests.ts'
import type { Clock } from '../../lib/clock.ts'
import { newId } from '../../lib/ids.ts'

type Row = typeof requestLog.$inferInsert

const insert = prepareInsertAll('request_log.insert', requestLog)

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
      await insert(deps.db.query, part).catch((error: unknown) =>
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
