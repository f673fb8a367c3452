import pg from 'pg'

/** A commit that waited for its synchronous standby in vain: another server may have taken over. */
export class UnconfirmedCommitError extends Error {
  override name = 'UnconfirmedCommitError'
  constructor() {
    super('the commit was not confirmed by its standby')
  }
}

/** pg's own words: it has no code for this. */
export const isUnanswered = (error: unknown): boolean => error instanceof Error && error.message === 'Query read timeout'

/** The service hears of it at once, and uses the connection for nothing; the end of the socket it would hear a moment later. */
export const leaveConnection = (client: pg.Client | pg.PoolClient): void => {
  client.emit('error', new Error('another connection to this server got no answer'))
  client.connection.stream.destroy()
}

/**
 * Closes the idle connections of a pool when one of the pool's got no answer in time, or no confirmation of
 * its commit. The server is frozen, or no longer the one that standbys confirm, though connections to it may live on: its other connections are
 * no better. Those that are in use end with what they do now. Each would be found out by a caller that waits for its time-out, and a lane would read what another server has changed since. The
 * callers of one account wait in turn, so with twenty connections an account would be without payments for minutes after another server took over.
 */
export const leaveSilentServer = (pool: pg.Pool): void => {
  const idle = new Set<pg.PoolClient>()
  const used = new Set<pg.PoolClient>()
  const leaving = new WeakSet<pg.PoolClient>()
  pool.on('acquire', (client) => {
    idle.delete(client)
    used.add(client)
  })
  pool.on('remove', (client) => {
    idle.delete(client)
    used.delete(client)
  })
  pool.on('release', (error: unknown, client: pg.PoolClient) => {
    used.delete(client)
    // The pool removes a client that is ending.
    if (!error && leaving.has(client) && client instanceof pg.Client) client.end().catch(() => undefined)
    else if (!error) idle.add(client)
    if (!isUnanswered(error) && !(error instanceof UnconfirmedCommitError)) return
    for (const other of [...idle]) leaveConnection(other)
    for (const other of used) leaving.add(other)
  })
}
