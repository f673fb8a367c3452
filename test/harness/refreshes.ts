import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { waitingForLock } from './lock-waits.ts'
import type { TestService } from './service.ts'

const handleOf = (refreshToken: string): string => refreshToken.slice('service_ort_'.length, 'service_ort_'.length + 32)

const held = `select count(*)::int as held from ${waitingForLock}`

/** Counts these services' incoming token requests from now on. */
const countArrivals = (services: readonly TestService[]) => {
  let count = 0
  const note = ({ url }: { url?: string }) => {
    if (url === '/v1/oauth/token') count += 1
  }
  const servers = [...new Set(services.map(({ http }) => http.server))]
  for (const server of servers) server.on('request', note)
  return {
    count: () => count,
    stop: () => {
      for (const server of servers) server.off('request', note)
    },
  }
}

const until = async (isReached: () => boolean | Promise<boolean>): Promise<void> => {
  for (let tries = 0; tries < 6_000; tries += 1) {
    if (await isReached()) return
    await wait(10)
  }
  throw new Error('the requests never came to wait')
}

/** Holds a grant's row until all refreshes have arrived and one of them waits for the row. */
export const whileHeld = async <T>(
  services: readonly [TestService, ...TestService[]],
  refreshToken: string,
  work: () => Promise<T>[],
): Promise<T[]> => {
  const watcher = new pg.Pool({ connectionString: services[0].database.url, max: 2 })
  const hold = await watcher.connect()
  const arrivals = countArrivals(services)
  try {
    await hold.query('begin')
    await hold.query('select from grants where id = (select o.grant_id from oauth_grants o where o.handle = $1) for update', [
      handleOf(refreshToken),
    ])
    const running = work()
    await until(() => arrivals.count() >= running.length)
    // Answered only after all earlier arrivals.
    for (const { api } of services) await api.get('/healthz')
    await until(async () => ((await watcher.query<{ held: number }>(held)).rows[0]?.held ?? 0) > 0)
    await hold.query('rollback')
    return await Promise.all(running)
  } finally {
    arrivals.stop()
    hold.release()
    await watcher.end()
  }
}
