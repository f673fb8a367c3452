import pg from 'pg'
import { addressed } from './settings.ts'

/** Work on a connection of its own: before there is a pool, or beside it. Closed whatever happens. */
export const withStartClient = async <T>(
  url: string,
  work: (client: pg.Client) => Promise<T>,
  application = 'payments-service-start',
): Promise<T> => {
  const client = new pg.Client({ ...addressed(url), application_name: application, connectionTimeoutMillis: 5_000 })
  // A connection that breaks also fails the query that waits on it; without a listener it would end the process.
  client.on('error', () => undefined)
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
