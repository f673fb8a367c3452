import pg from 'pg'
import { translateDatabaseError } from './errors.ts'
import { corkUntilTick, type Senders, sendersBy, traced } from './wire.ts'

export type Lookups = Senders & { close: () => Promise<void> }

export type LookupOptions = {
  connection: pg.ClientConfig
  named: boolean
  /** Called once for each connection that ended before it was closed. */
  lost: (error: Error) => void
}

/** Lookups are fast: when one is not answered within this time, the database does not respond. The driver closes the connection. */
const longestAnswerMs = 5_000

/**
 * One connection that many requests share for reads: statements are sent as they come and answered in order, without one waiting for the
 * answer to another. It is opened when first needed, and again after it was lost; reads under way then fail as 503 and can be repeated. A
 * second such connection was not faster: one Postgres process keeps up with one of ours.
 */
export const createLookups = ({ connection, named, lost }: LookupOptions): Lookups => {
  let current: Promise<pg.Client> | undefined
  let closed = false

  const open = (): Promise<pg.Client> => {
    const answerTimeoutMs = Math.min(longestAnswerMs, connection.query_timeout ?? longestAnswerMs)
    const client = new pg.Client({
      ...connection,
      pipeline: true,
      query_timeout: answerTimeoutMs,
      connectionTimeoutMillis: answerTimeoutMs,
    })
    const opened = client.connect().then(() => client)
    const forget = () => {
      if (current === opened) current = undefined
    }
    current = opened
    client.on('error', (error) => {
      forget()
      lost(error)
      // A socket that only reports an error may still be open: the service reads nothing from it again.
      client.end().catch(() => undefined)
    })
    client.once('end', forget)
    opened.catch(forget)
    return opened
  }

  return {
    ...sendersBy(named, async (query, run) => {
      try {
        if (closed) throw new Error('Cannot use a pool after calling end on the pool')
        const client = await (current ?? open())
        corkUntilTick(client)
        return await traced(query, () => run(client))
      } catch (error) {
        throw translateDatabaseError(error)
      }
    }),
    close: async () => {
      closed = true
      const client = await current?.catch(() => undefined)
      current = undefined
      await client?.end()
    },
  }
}
