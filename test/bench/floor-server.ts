import { randomUUID } from 'node:crypto'
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
/** A record by its id, as the least that answers the same question. */
app.get('/one/:id', async (request) => {
  const { id } = request.params as { id: string }
  const { rows } = await pool.query({ name: 'floor.one', text: 'select * from bench.rows where id = $1', values: [id] })
  return rows[0]
})

const columns = Array.from({ length: 12 }, (_, at) => `c${at + 1}`)
const item = { type: 'object', properties: Object.fromEntries(columns.map((name) => [name, { type: 'string' }])) }
const pageSchema = { response: { 200: { type: 'object', properties: { data: { type: 'array', items: item } } } } }

/** A page of as many rows and bytes as the one that it is compared with. */
app.get('/page/:name', { schema: pageSchema }, async (request) => {
  const { name } = request.params as { name: string }
  const { rows } = await pool.query({
    name: 'floor.page',
    text: `select ${columns.join(', ')} from bench.rows where page = $1 order by id desc limit 100`,
    values: [name],
  })
  return { data: rows }
})

/** A record, its event and its audit row, in one transaction. */
app.post('/write', async (request, reply) => {
  const client = await pool.connect()
  try {
    const text = JSON.stringify(request.body)
    await client.query('begin')
    for (const table of ['records', 'events', 'audit'])
      await client.query({
        name: `floor.${table}`,
        text: `insert into bench.${table} (owner, text, at) values ($1, $2, now())`,
        values: [randomUUID(), text],
      })
    await client.query('commit')
  } finally {
    client.release()
  }
  return reply.code(201).send(request.body)
})

const url = await app.listen({ host: '127.0.0.1', port: 0 })
process.stdout.write(`${url}\n`)
process.once('SIGTERM', () => process.exit(0))
