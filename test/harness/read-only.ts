import type pg from 'pg'

/**
 * As after a demotion: every new connection of the pool finds a server that answers and takes no writes (25006), until the answer is called. The
 * service sets what a database or a role says about that, so it cannot be set there. Connections that are open stay as they are.
 */
export const refuseWrites = (pool: pg.Pool): (() => void) => {
  const refuse = (client: pg.PoolClient) => void client.query('set default_transaction_read_only = on').catch(() => undefined)
  pool.on('connect', refuse)
  return () => void pool.off('connect', refuse)
}
