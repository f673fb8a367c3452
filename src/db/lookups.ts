import type pg from 'pg'
import { DatabaseClient } from './database-client.ts'
import { translateDatabaseError } from './errors.ts'
import { isUnanswered, leaveConnection } from './silent-server.ts'
import type { Query, Statement } from './statement.ts'
import { corkUntilTick, type SendRows, sendObjects, sendRaw, traced } from './wire.ts'

export type Lookups = {
  query: Query
  rows: SendRows
  /** The server may have been replaced: the next read opens another connection. */
  leave: () => void
  close: () => Promise<void>
}

export type LookupOptions = {
  connection: pg.ClientConfig
  named: boolean
  /** Called once for each connection that ended before it was closed. */
  lost: (error: Error) => void
  /** Called when a lookup got no answer in time. */
  silent?: () => void
}

/** Lookups are fast: when one is not answered within this time, the database does not respond. The connection is closed. */
const longestAnswerMs = 5_000

/**
 * One connection that many requests share for reads: statements are sent as they come and answered in order, without one waiting for the
 * answer to another. It is opened when first needed, and again after it was lost; reads under way then fail as 503 and can be repeated. A
 * second such connection was not faster: one Postgres process keeps up with one of ours.
 */
export const createLookups = ({ connection, named, lost, silent }: LookupOptions): Lookups => {
  let current: Promise<pg.Client> | undefined
  let connected: pg.Client | undefined
  let closed = false

  const forget = (opened: Promise<pg.Client>) => {
    if (current !== opened) return
    current = undefined
    connected = undefined
  }
  const failed = (error: unknown): never => {
    if (isUnanswered(error)) silent?.()
    throw translateDatabaseError(error)
  }
  const open = (): Promise<pg.Client> => {
    const answerTimeoutMs = Math.min(longestAnswerMs, connection.query_timeout ?? longestAnswerMs)
    const client = new DatabaseClient({
      ...connection,
      pipeline: true,
      query_timeout: answerTimeoutMs,
      connectionTimeoutMillis: answerTimeoutMs,
    })
    const opened = client.connect().then(() => {
      if (current === opened) connected = client
      return client
    })
    current = opened
    client.on('error', (error) => {
      forget(opened)
      lost(error)
      // A socket that only reports an error may still be open: the service reads nothing from it again.
      client.end().catch(() => undefined)
    })
    client.once('end', () => forget(opened))
    opened.catch(() => forget(opened))
    return opened
  }

  const ready = async (): Promise<pg.Client> => {
    if (closed) throw new Error('Cannot use a pool after calling end on the pool')
    const client = await (current ?? open())
    corkUntilTick(client)
    return client
  }

  return {
    query: async <Row extends object>(query: Statement | string, values: readonly unknown[] = []): Promise<Row[]> => {
      try {
        return await sendObjects<Row>(await ready(), query, values, named)
      } catch (error) {
        return failed(error)
      }
    },
    rows: async (query, values) => {
      try {
        const client = await ready()
        return await traced(query, () => sendRaw(client, query, values, named))
      } catch (error) {
        return failed(error)
      }
    },
    leave: () => {
      if (connected) leaveConnection(connected)
    },
    close: async () => {
      closed = true
      const client = await current?.catch(() => undefined)
      current = undefined
      await client?.end()
    },
  }
}
