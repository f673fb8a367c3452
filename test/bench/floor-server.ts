import { fastify } from 'fastify'
import pg from 'pg'

// A plain Fastify service: a pool and one named prepared query a request. A separate process, as the service is.

const [databaseUrl] = process.argv.slice(2)
const pool = new pg.Pool({ connectionString: databaseUrl, max: 10 })
pool.on('error', () => undefined)
const app = fastify()
app.get('/read/:lookup', async (request) => {
  const { lookup } = request.params as { lookup: string }
  const { rows } = await pool.query({
    name: 'floor.read',
    text: 'select id, name, created_at from api_keys where lookup = $1',
    values: [lookup],
  })
  return rows[0]
})
const url = await app.listen({ host: '127.0.0.1', port: 0 })
process.stdout.write(`${url}\n`)
process.once('SIGTERM', () => process.exit(0))
