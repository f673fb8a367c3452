import type { Logger } from 'pino'
import type { Db } from '../../db/client.ts'
import { describeError, sqlState } from '../../db/errors.ts'
import { insertRows } from '../../db/prepare-write.ts'
import { requestLog } from '../../db/tables/request-log.ts'
import type { AnsweredRequest } from '../../http/request-log.ts'
import type { Clock } from '../../lib/clock.ts'
import { newId } from '../../lib/ids.ts'

type Row = typeof requestLog.$inferInsert

const writeAfterMs = 500
const maxInStatement = 1_000
/** Maximum number of requests that wait for the next write. Rows of a write that fails are lost. */
const maxWaiting = 10_000

/** Collects requests in memory and writes them together a moment later. A process that is killed loses unwritten requests. */
export type RequestLog = {
  note: (answered: AnsweredRequest) => void
  /** Called before requests are listed, and at shutdown. */
  flush: () => Promise<void>
}

export const createRequestLog = (deps: { db: Db; clock: Clock; logger: Logger }): RequestLog => {
  let waiting: Row[] = []
  let dropped = 0
  let timer: NodeJS.Timeout | undefined
  let writing = Promise.resolve()

  /** If the database refuses a row, the rows are written again in halves, so that no other row is lost. */
  const insert = async (rows: readonly Row[]): Promise<void> => {
    try {
      await insertRows(deps.db, requestLog, rows)
    } catch (error) {
      if (rows.length > 1 && /^2[23]/.test(sqlState(error) ?? '')) {
        const half = rows.length >> 1
        await insert(rows.slice(0, half))
        await insert(rows.slice(half))
      } else deps.logger.warn({ requests: rows.length, ...describeError(error) }, 'requests are missing from the request log')
    }
  }
  const writeWaiting = async (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    const rows = waiting
    waiting = []
    if (dropped > 0) deps.logger.warn({ requests: dropped }, 'requests are missing from the request log')
    dropped = 0
    for (let index = 0; index < rows.length; index += maxInStatement) {
      await insert(rows.slice(index, index + maxInStatement))
    }
  }
  const flush = () => {
    writing = writing.then(writeWaiting)
    return writing
  }
  return {
    note: (answered) => {
      if (waiting.length >= maxWaiting) {
        dropped += 1
        return
      }
      waiting.push({ ...answered, id: newId(), at: deps.clock.now() })
      timer ??= setTimeout(() => void flush(), writeAfterMs).unref()
    },
    flush,
  }
}
