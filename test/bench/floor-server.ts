import { randomUUID } from 'node:crypto'
import { fastify } from 'fastify'
import pg from 'pg'

// The minimum server with the same answers: Fastify, a pool, named queries. A process of its own, like the service.

const pool = new pg.Pool({ connectionString: process.argv[2], max: 10 }).on('error', () => undefined)
const app = fastify()

app.get('/one/:id', async (request) => {
  const { id } = request.params as { id: string }
  return (await pool.query({ name: 'one', text: 'select * from bench.rows where id = $1', values: [id] })).rows[0]
})

const columns = Array.from({ length: 12 }, (_, index) => `c${index + 1}`)
const item = { type: 'object', properties: Object.fromEntries(columns.map((name) => [name, { type: 'string' }])) }
const schema = { response: { 200: { type: 'object', properties: { data: { type: 'array', items: item } } } } }
app.get('/page/:name', { schema }, async (request) => {
  const { name } = request.params as { name: string }
  const text = `select ${columns.join(', ')} from bench.rows where page = $1 order by id desc limit 100`
  return { data: (await pool.query({ name: 'page', text, values: [name] })).rows }
})

/** The sums of 30 payments by day and status. */
app.get('/sum/:owner', async (request) => {
  const { owner } = request.params as { owner: string }
  const text = `select at::date::text as day, status, count(*)::int, sum(amount)::text as amount from bench.sums
    where owner = $1 and at > now() - interval '90 days' group by 1, 2 order by 1, 2`
  return (await pool.query({ name: 'sum', text, values: [owner] })).rows
})

/** A record, its event and its audit row, in one transaction. */
app.post('/write', async (request, reply) => {
  const client = await pool.connect()
  await client.query('begin')
  for (const table of ['records', 'events', 'audit']) {
    const text = `insert into bench.${table} (owner, text, at) values ($1, $2, now())`
    await client.query({ name: table, text, values: [randomUUID(), JSON.stringify(request.body)] })
  }
  await client.query('commit')
  client.release()
  return reply.code(201).send(request.body)
})

const number = 'bigint generated always as identity primary key'
await pool.query(`
  create schema bench;
  create table bench.rows (id uuid primary key, page text not null, ${columns.map((name) => `${name} text`).join(', ')});
  create index on bench.rows (page, id);
  create table bench.sums as select n % 1000 as owner, now() - n / 1000 * interval '1 day' as at, 'status ' || n % 3 as status, n as amount
    from generate_series(0, 29999) n;
  create index on bench.sums (owner, at);
  create table bench.records (id ${number}, owner uuid not null, text text not null, at timestamptz not null);
  create index on bench.records (owner, at);
  create table bench.events (like bench.records including all);
  create table bench.audit (like bench.records including all);
  create table bench.accounts (id int primary key, available bigint not null check (available >= 0)) with (fillfactor = 50);
  insert into bench.accounts select n, 1000000000000 from generate_series(0, 999) n;
  create table bench.keys (key text primary key);
  create table bench.payments (id ${number}, account int not null, amount bigint not null);
  create table bench.entries (like bench.payments including all);
  create table bench.counters (account int, day date, used bigint not null, primary key (account, day)) with (fillfactor = 50);
  create table bench.told (id ${number}, account int not null, data jsonb not null);
  create function bench.pay(k text, who int, amt bigint) returns bigint language plpgsql as $$
  declare made bigint;
  begin
    insert into bench.keys values (k);
    update bench.accounts set available = available - amt where id = who and available >= amt;
    insert into bench.entries (account, amount) values (who, -amt), (-1, amt);
    insert into bench.counters values (who, current_date, amt) on conflict (account, day) do update set used = bench.counters.used + amt;
    insert into bench.payments (account, amount) values (who, amt) returning id into made;
    insert into bench.told (account, data) values (who, jsonb_build_object('type', 'payment.created', 'payment', made));
    return made;
  end $$`)
app.get('/readyz', async () => ({ status: 'ready' }))
await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT) })
