import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import type { TestService } from './service.ts'

const handleOf = (refreshToken: string): string => refreshToken.slice('service_ort_'.length, 'service_ort_'.length + 32)

const held = "select count(*)::int as held from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"

const arrivals = async (watcher: pg.Pool, services: readonly TestService[], count: number): Promise<void> => {
  for (let tries = 0; tries < 500; tries += 1) {
    const { rows } = await watcher.query<{ held: number }>(held)
    const inLine = services.reduce((sum, service) => sum + service.deps.db.pool.waitingCount, 0)
    if ((rows[0]?.held ?? 0) + inLine >= count) return
    await wait(10)
  }
  throw new Error('the requests never came to wait')
}

/** Holds a grant's row until all the refreshes have arrived: waiting for the row, or in line for a connection to wait with. */
export const whileHeld = async <T>(
  services: readonly [TestService, ...TestService[]],
  refreshToken: string,
  work: () => Promise<T>[],
): Promise<T[]> => {
  const watcher = new pg.Pool({ connectionString: services[0].database.url, max: 2 })
  const hold = await watcher.connect()
  try {
    await hold.query('begin')
    await hold.query('select from grants where id = (select o.grant_id from oauth_grants o where o.handle = $1) for update', [
      handleOf(refreshToken),
    ])
    const running = work()
    await arrivals(watcher, services, running.length)
    await hold.query('rollback')
    return await Promise.all(running)
  } finally {
    hold.release()
    await watcher.end()
  }
}
