import type pg from 'pg'

/**
 * Simulates a demotion: until the returned function is called, new connections of the pool find a server that answers and takes
 * no writes (25006). The service overrides a database's or a role's setting. Open connections stay as they are.
 */
export const refuseWrites = (pool: pg.Pool): (() => void) => {
  const refuse = (client: pg.PoolClient) => void client.query('set default_transaction_read_only = on').catch(() => undefined)
  pool.on('connect', refuse)
  return () => void pool.off('connect', refuse)
}
