import pg from 'pg'

/** Work on a connection of its own, which is closed in any case. */
export const connected = async <T>(url: string | undefined, work: (client: pg.Client) => Promise<T>): Promise<T> => {
  const client = new pg.Client({ connectionString: url })
  // A broken connection also fails the query that waits on it. Without this listener it would end the run.
  client.on('error', () => undefined)
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
