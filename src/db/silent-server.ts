import type pg from 'pg'

/** pg's own words: it has no code for this. */
const isUnanswered = (error: unknown): boolean => error instanceof Error && error.message === 'Query read timeout'

/**
 * Closes the idle connections of a pool when one of its connections got no answer in time. The server is frozen, or no longer the one that
 * standbys confirm: its other connections are no better, and each would be found out by a caller that waits for its time-out. The callers of
 * one account wait in turn, so with twenty connections an account would be without payments for minutes after another server took over.
 */
export const leaveSilentServer = (pool: pg.Pool): void => {
  const idle = new Set<pg.PoolClient>()
  pool.on('acquire', (client) => idle.delete(client))
  pool.on('remove', (client) => idle.delete(client))
  pool.on('release', (error: unknown, client: pg.PoolClient) => {
    if (!error) idle.add(client)
    if (!isUnanswered(error)) return
    for (const other of [...idle]) {
      // The pool hears this at once, and gives the connection to nobody; the end of the socket it would hear a moment later.
      other.emit('error', new Error('another connection to this server got no answer'))
      other.connection.stream.destroy()
    }
  })
}
