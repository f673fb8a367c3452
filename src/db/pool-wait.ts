import type pg from 'pg'

type Done = Parameters<pg.Pool['connect']>[0]

/** Reports how long each caller waited for a connection, whether it got one or not. */
export const watchPoolWait = (pool: pg.Pool, onWait: (seconds: number) => void): void => {
  const connect = pool.connect.bind(pool)
  const timed = (done?: Done): Promise<pg.PoolClient> | undefined => {
    const start = performance.now()
    const note = () => onWait((performance.now() - start) / 1000)
    if (done) {
      connect((...answer) => {
        note()
        done(...answer)
      })
      return undefined
    }
    const client = connect()
    client.then(note, note)
    return client
  }
  // The pool's own `query` takes its connections by this as well.
  pool.connect = timed as pg.Pool['connect']
}
