import pg from 'pg'

/** Work on a connection of its own, closed whatever happens. */
export const connected = async <T>(url: string | undefined, work: (client: pg.Client) => Promise<T>): Promise<T> => {
  const client = new pg.Client({ connectionString: url })
  // A connection that breaks also fails the query that waits on it; without a listener it would end the run.
  client.on('error', () => undefined)
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
