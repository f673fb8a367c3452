import type pg from 'pg'
import { DatabaseClient } from './database-client.ts'

/** Work on a connection of its own before there is a pool, closed whatever happens. */
export const withStartClient = async <T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> => {
  const client = new DatabaseClient({
    connectionString: url,
    application_name: 'payments-service-start',
    connectionTimeoutMillis: 5_000,
  })
  // A connection that breaks also fails the query that waits on it; without a listener it would end the process.
  client.on('error', () => undefined)
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
